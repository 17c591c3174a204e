//! What must hold before the first write: everything that a step requires and no earlier step establishes.

use std::collections::BTreeSet;

use rehome_k8s::{View, field, owner};
use rehome_model::ObjectRef;
use rehome_model::condition::Condition;
use rehome_model::plan::Plan;
use rehome_model::verb::{Change, Verb};

use crate::condition;

/// Something that is not as the plan expects.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal {
    /// The step, or `plan` for the plan as a whole.
    pub step: String,
    /// What was expected.
    pub expected: String,
    /// What was found.
    pub found: String,
}

/// All that keeps a plan from being started on this cluster.
#[must_use]
pub fn refusals(plan: &Plan, view: &View) -> Vec<Refusal> {
    let mut refusals = Vec::new();
    let mut refuse = |step: &str, expected: String, found: String| {
        refusals.push(Refusal { step: step.to_owned(), expected, found });
    };
    if plan.cluster.uid.is_some() && plan.cluster.uid != view.cluster.uid {
        let show = |uid: &Option<rehome_model::Uid>| uid.as_ref().map_or("unknown".to_owned(), ToString::to_string);
        let expected = format!("the cluster with kube-system UID {}", show(&plan.cluster.uid));
        refuse("plan", expected, format!("the cluster with kube-system UID {}", show(&view.cluster.uid)));
        // Nothing else can be compared with another cluster.
        return refusals;
    }
    for finding in plan.blockers() {
        refuse(
            "plan",
            format!("no blocking finding ({} on {})", finding.code, finding.subject),
            finding.message.clone(),
        );
    }
    let mut established: Vec<&Condition> = Vec::new();
    for step in plan.steps() {
        for required in step.requires.iter().filter(|required| !established.contains(required)) {
            if let Err(found) = condition::check(view, required) {
                refuse(&step.name, required.to_string(), found);
            }
        }
        if let Verb::Change(change) = &step.verb
            && !written_before(plan, &step.name, change)
        {
            expect_field(view, &step.name, change, &mut refuse);
        }
        established.extend(&step.establishes);
    }
    for stray in uncovered(plan, view) {
        let found = format!("{} has pods on the nodes to empty, and no step moves it", stray);
        refuse("plan", "a step for every workload on the nodes to empty".to_owned(), found);
    }
    refusals
}

/// Whether an earlier step writes the same field: then its value is that step's concern.
fn written_before(plan: &Plan, step: &str, change: &Change) -> bool {
    plan.steps()
        .take_while(|earlier| earlier.name != step)
        .any(|earlier| matches!(&earlier.verb, Verb::Change(c) if c.target == change.target && c.field == change.field))
}

fn expect_field(view: &View, step: &str, change: &Change, refuse: &mut impl FnMut(&str, String, String)) {
    let show = |value: Option<&str>| value.map_or("not set".to_owned(), |value| format!("{value:?}"));
    match field::read(view, &change.target, &change.field) {
        Some(found) if found == change.from || found == change.to => {}
        Some(found) => refuse(
            step,
            format!("{} of {} to be {}", change.field, change.target, show(change.from.as_deref())),
            show(found.as_deref()),
        ),
        None => refuse(step, format!("{} to exist", change.target), "it does not".to_owned()),
    }
}

/// Workloads with pods on the source nodes that no step moves and that do not stay.
fn uncovered(plan: &Plan, view: &View) -> BTreeSet<ObjectRef> {
    let moved: BTreeSet<&ObjectRef> = plan.moves.iter().flat_map(|planned| &planned.workloads).collect();
    let stays: BTreeSet<&ObjectRef> = plan.stays.iter().map(|stay| &stay.subject).collect();
    let mut strays = BTreeSet::new();
    for pod in plan.sources.iter().flat_map(|node| view.pods_on(node)).filter(|pod| !pod.finished() && !pod.mirror()) {
        if pod.meta.controller.as_ref().is_some_and(|controller| controller.kind == "DaemonSet") {
            continue;
        }
        let workload = owner::of_pod(view, pod).reference(pod);
        if !moved.contains(&workload) && !stays.contains(&workload) {
            strays.insert(workload);
        }
    }
    strays
}
