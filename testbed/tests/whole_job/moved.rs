//! From capture to verification, judged by the audit log alone.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::time::Duration;

use rehome_model::Timestamp;
use rehome_model::exit;
use rehome_model::journal::{Event, Record};
use rehome_model::plan::{Plan, PlannedMove};
use rehome_model::rehearsal::Rehearsal;
use rehome_model::verb::Verb;
use rehome_run::critical_path;
use rehome_testbed::audit::probe::probe;
use rehome_testbed::audit::{Evidence, check, read};
use rehome_testbed::clock;
use rehome_testbed::control_plane::ControlPlane;
use rehome_testbed::scenario::six_to_six as scenario;
use serde::de::DeserializeOwned;

use crate::table::Figures;
use crate::{cluster, program};

/// The seed of the behaviour that nobody knew when the forecast was written.
const SEED: u64 = 20_261_201;

/// How many units are on the move at once: kubectl drain asks all pods of a node to go at once. By default it is half of
/// that, because a person is to follow it.
const PARALLEL: &str = "8";

/// A document of a run.
pub(crate) fn document<D: DeserializeOwned>(folder: &Path, name: &str) -> D {
    serde_json::from_str(&std::fs::read_to_string(folder.join(name)).unwrap()).unwrap()
}

/// The records of a journal.
pub(crate) fn journal(folder: &Path, name: &str) -> Vec<Record> {
    rehome_engine::journal::read(&std::fs::read(folder.join(name)).unwrap()).unwrap().records
}

/// Capture, plan and approval: everything before the first write.
pub(crate) fn prepare(plane: &ControlPlane, folder: &Path) -> String {
    let kubeconfig = cluster::mover(plane).to_str().unwrap().to_owned();
    program::expect(exit::DONE, folder, &["capture", "--kubeconfig", &kubeconfig, "--out", "before.json"]);
    let mut plan =
        vec!["plan", "--snapshot", "before.json", "--from", "pool=old", "--to", "pool=new", "--out", "plan.json"];
    plan.extend(["--parallel", PARALLEL]);
    for consent in scenario::CONSENTS {
        plan.extend(["--consent", consent]);
    }
    program::expect(exit::DONE, folder, &plan);
    program::expect(
        exit::DONE,
        folder,
        &["approve", "--plan", "plan.json", "--by", "tester", "--out", "approval.json"],
    );
    kubeconfig
}

/// Everything moves once, within the budgets, and nobody with two replicas or a surge misses a pod.
pub(crate) fn run() -> Figures {
    let plane = cluster::start();
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let kubeconfig = prepare(&plane, folder);

    // Without the consents, the check names what is in the way, and how to agree to it.
    let wish = ["check", "--snapshot", "before.json", "--from", "pool=old", "--to", "pool=new"];
    let refused = program::expect(exit::BLOCKED, folder, &wish);
    for consent in scenario::CONSENTS {
        assert!(refused.stdout.contains(consent), "{consent}\n{}", refused.stdout);
    }
    program::expect(
        exit::DONE,
        folder,
        &["rehearse", "--plan", "plan.json", "--snapshot", "before.json", "--out", "rehearsal.json"],
    );

    // Only now it is decided how long pods take.
    cluster::behave(&plane, &scenario::behaviour_during(SEED));
    program::expect(
        exit::DONE,
        folder,
        &[
            "execute",
            "--kubeconfig",
            &kubeconfig,
            "--plan",
            "plan.json",
            "--approval",
            "approval.json",
            "--journal",
            "journal.jsonl",
        ],
    );
    program::expect(exit::DONE, folder, &["capture", "--kubeconfig", &kubeconfig, "--out", "after.json"]);
    program::expect(
        exit::DONE,
        folder,
        &["verify", "--plan", "plan.json", "--before", "before.json", "--after", "after.json"],
    );

    let plan: Plan = document(folder, "plan.json");
    let rehearsal: Rehearsal = document(folder, "rehearsal.json");
    let journal = journal(folder, "journal.jsonl");
    let events = read::log(&plane.audit_log()).unwrap();
    let evidence = Evidence::new(&plan, &journal, cluster::USER, &events);
    let violations = check(&evidence);
    assert!(violations.is_empty(), "{violations:#?}");

    let pods = cluster::pods(&plane);
    for (name, pod) in &pods {
        let Some(node) = &pod.node else { continue };
        let daemon = pod.owner.as_deref() == Some("DaemonSet");
        assert!(daemon || node.starts_with("new-"), "{name} is on {node}");
    }
    let figures = figures(&plan, &journal, &evidence);
    assert_eq!(figures.moves, figures.pods, "each pod that had to leave moved once, and none again");
    for planned in plan.moves.iter().filter(|planned| served_throughout(planned, &plan)) {
        for workload in &planned.workloads {
            let without = figures.without.get(&workload.to_string()).copied().unwrap_or_default();
            assert_eq!(without.as_millis(), 0, "{workload} always has a Ready endpoint");
        }
    }
    agree(&plan, &rehearsal, &journal, &plane);
    figures
}

/// How many pods have to leave.
pub(crate) fn pods(plan: &Plan) -> usize {
    let lineages = plan.steps().map(|step| match &step.verb {
        Verb::Restart(restart) => restart.lineage.pods,
        Verb::Evict(evict) => evict.lineages.iter().map(|lineage| lineage.pods).sum(),
        Verb::Delete(delete) => delete.lineage.pods,
        Verb::Change(_) | Verb::Wait(_) | Verb::ProveEmpty(_) => 0,
    });
    lineages.sum()
}

/// Several replicas, or moved by a rollout with surge.
fn served_throughout(planned: &PlannedMove, plan: &Plan) -> bool {
    let surges = matches!(plan.step(&planned.step).map(|step| &step.verb), Some(Verb::Restart(_)));
    surges || planned.disruption.outages == 0
}

/// The figures of a run, from the audit log.
pub(crate) fn figures(plan: &Plan, journal: &[Record], evidence: &Evidence<'_>) -> Figures {
    let (from, to) = window(journal);
    let workloads = plan.moves.iter().flat_map(|planned| &planned.workloads);
    let counted = Figures::count(&evidence.timeline, plan, from, to);
    let without = probe(&evidence.timeline, workloads, from, to)
        .into_iter()
        .map(|(workload, availability)| (workload.to_string(), availability.total()))
        .collect();
    Figures {
        pods: counted.pods,
        moves: counted.left + counted.moved_again,
        elsewhere_restarted: counted.restarted_elsewhere,
        restarts: plan.steps().filter(|step| matches!(step.verb, Verb::Restart(_))).count(),
        took: to - from,
        critical_path: Some(critical_path::of(plan, &critical_path::took(journal))),
        without,
        left: 0,
        elsewhere: 0,
    }
}

fn window(journal: &[Record]) -> (Timestamp, Timestamp) {
    (journal.first().unwrap().at, journal.last().unwrap().at)
}

/// The rehearsal and the run agree on what does not depend on chance.
fn agree(plan: &Plan, rehearsal: &Rehearsal, journal: &[Record], plane: &ControlPlane) {
    let pods = cluster::pods(plane);
    let rehearsed = rehearsal.runs.first().unwrap();
    let moved = |records: &[Record]| -> BTreeMap<String, usize> {
        let mut counts = BTreeMap::new();
        for record in records {
            if let Event::Moved { receipt, .. } = &record.event {
                *counts.entry(receipt.workload.to_string()).or_default() += 1;
            }
        }
        counts
    };
    assert_eq!(moved(&rehearsed.journal), moved(journal), "the same moves");

    let mut edges = 0;
    for records in [&rehearsed.journal[..], journal] {
        let times = times(records);
        for step in plan.steps() {
            for before in step.after.keys() {
                let (Some((_, done)), Some((began, _))) = (times.get(before), times.get(&step.name)) else { continue };
                assert!(done <= began, "{before} was done before {} began", step.name);
                edges += 1;
            }
        }
    }
    assert!(edges > 2 * plan.moves.len(), "{edges} edges were compared");

    // One node of the new pool has the disk that app-06 asks for.
    let one_node: BTreeSet<&str> =
        rehearsed.placements.iter().filter(|p| p.workload.name == "app-06").map(|p| p.node.as_str()).collect();
    let real: BTreeSet<&str> =
        pods.values().filter(|pod| pod.app == "app-06").filter_map(|pod| pod.node.as_deref()).collect();
    assert_eq!((one_node, real), (["new-6"].into(), ["new-6"].into()));

    let pending: BTreeMap<&str, &BTreeMap<String, usize>> =
        rehearsed.pending.iter().map(|pending| (pending.pod.name.as_str(), &pending.reasons)).collect();
    assert_eq!(pending.keys().copied().collect::<Vec<_>>(), scenario::PENDING);
    // The scheduler does not try a pod again for events that cannot help it, so that its last word may be of long ago.
    // The same pods, made anew, hear what it says of the cluster as it is now.
    for pod in scenario::objects().iter().filter(|object| object["kind"] == "Pod") {
        let name = pod["metadata"]["name"].as_str().unwrap();
        plane.kubectl(&["delete", "pod", "-n", scenario::NAMESPACE, name]).unwrap();
        plane.create(std::slice::from_ref(pod)).unwrap();
    }
    clock::wait_for("the scheduler's last word", Duration::from_secs(60), || {
        let pods = cluster::pods(plane);
        for (name, reasons) in &pending {
            let message = pods[*name].unschedulable.clone().unwrap_or_default();
            if let Some((reason, nodes)) = reasons.iter().find(|(r, n)| !message.contains(&format!("{n} {r}"))) {
                return Err(format!("{name}: expected {nodes} {reason}, found {message}"));
            }
        }
        Ok(())
    })
    .unwrap();
}

/// When each step began and was done, by the numbers of its records.
fn times(records: &[Record]) -> BTreeMap<String, (u64, u64)> {
    let mut times = BTreeMap::new();
    for record in records {
        match &record.event {
            Event::StepStarted { step, .. } => {
                times.insert(step.clone(), (record.seq, u64::MAX));
            }
            Event::StepAlreadyDone { step } => {
                times.insert(step.clone(), (record.seq, record.seq));
            }
            Event::StepDone { step } => {
                if let Some(entry) = times.get_mut(step) {
                    entry.1 = record.seq;
                }
            }
            _ => {}
        }
    }
    times
}
