//! Six old nodes to six new ones.

use rehome_engine::drive::End;
use rehome_engine::preflight;
use rehome_model::journal::{Event, Verdict};
use rehome_model::time::Seconds;
use rehome_model::verb::Verb;
use rehome_testbed::scenario::six_to_six as scenario;

use crate::moved;

#[test]
fn everything_moves_once_within_its_budgets_and_nothing_lands_elsewhere() {
    let before = moved::cluster();
    let plan = moved::plan(&before);
    let blockers: Vec<String> = plan.blockers().map(|f| format!("{} {} {}", f.code, f.subject, f.message)).collect();
    assert!(blockers.is_empty(), "{blockers:#?}");
    assert_eq!(preflight::refusals(&plan, &before), []);
    for seed in [1, 2, 3] {
        let mut world = moved::world(&before, seed);
        let (end, journal) = moved::run(&plan, &mut world);
        assert_eq!(end, End::Finished(Verdict::Done), "seed {seed}: {:#?}", journal.last());
        let violations = moved::violations(&before, &plan, &journal, &world);
        assert!(violations.is_empty(), "seed {seed}: {violations:#?}");

        let left: Vec<String> = world
            .truth()
            .pods()
            .filter(|pod| pod.node.as_ref().is_some_and(|node| node.starts_with("old-")))
            .filter(|pod| pod.meta.controller.as_ref().is_none_or(|owner| owner.kind != "DaemonSet"))
            .map(|pod| pod.meta.name.clone())
            .collect();
        assert!(left.is_empty(), "{left:?}");
        let planned: usize = plan.moves.iter().map(|planned| planned.workloads.len()).sum();
        assert_eq!(planned, scenario::DEPLOYMENTS + 3 + 1);
        let receipts = journal.iter().filter(|record| matches!(record.event, Event::Moved { .. })).count();
        let due: usize = plan.steps().map(|step| lineage_pods(&step.verb)).sum();
        assert_eq!(receipts, due, "one receipt for each pod that had to leave");

        let without = world.without_ready();
        for planned in &plan.moves {
            if planned.disruption.outages == 0 {
                for workload in &planned.workloads {
                    assert_eq!(without.get(workload), None, "seed {seed}: {workload} always has a Ready pod");
                }
            }
        }
        // The scheduler tries again once the last node is given back.
        world.advance(Seconds::new(60));
        let mut pending: Vec<String> = world.pending().into_iter().map(|pending| pending.pod.name).collect();
        pending.sort();
        assert_eq!(pending, scenario::PENDING);
        assert_eq!(world.pending(), plan.pending, "the plan said which pods stay Pending, and why");

        let again = moved::plan(world.truth());
        let steps: Vec<&str> = again.steps().map(|step| step.name.as_str()).collect();
        assert!(steps.is_empty(), "the plan of the end state is empty: {steps:?}");
    }
}

fn lineage_pods(verb: &Verb) -> usize {
    match verb {
        Verb::Restart(restart) => restart.lineage.pods,
        Verb::Evict(evict) => evict.lineages.iter().map(|lineage| lineage.pods).sum(),
        Verb::Delete(delete) => delete.lineage.pods,
        Verb::Change(_) | Verb::Wait(_) | Verb::ProveEmpty(_) => 0,
    }
}

#[test]
fn the_same_inputs_give_the_same_plan_byte_for_byte() {
    let view = moved::cluster();
    let text = |plan| serde_json::to_string(&plan).unwrap();
    assert_eq!(text(moved::plan(&view)), text(moved::plan(&moved::cluster())));
}
