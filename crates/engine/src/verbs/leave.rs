//! Evict and Delete: pods leave, each by its UID, and each gets a receipt only when its successor stands where it should.
//!
//! Pods of one lineage leave one after the other. Lineages that share a volume which one node can hold leave together:
//! a successor of the first could not start before the last has let go.

use std::collections::BTreeSet;
use std::sync::Arc;

use rehome_k8s::pod::Pod;
use rehome_k8s::{Kind, Record as Object, View, owner, readiness};
use rehome_model::journal::{Event, LeavingPod, Receipt, Successor};
use rehome_model::plan::Step;
use rehome_model::request::Request;
use rehome_model::time::Seconds;
use rehome_model::{Timestamp, Uid};

use super::answer::{Reaction, reaction};
use super::{Next, attached, budget, on};
use crate::machine::{Action, FreshRead, LOOK_AGAIN, Machine};
use crate::state::StepState;

/// How long to wait between two reads of a pod that the watch says is gone.
const READ_PAUSE: Seconds = Seconds::new(1);

/// How pods leave in this step.
pub(super) struct Rule<'a> {
    pub(super) off: &'a [String],
    pub(super) onto: &'a [String],
    /// By the eviction endpoint; otherwise by deletion.
    pub(super) evict: bool,
    /// Whether a successor is awaited.
    pub(super) awaited: bool,
}

/// What stands between a pod and its receipt.
enum Stage {
    /// It is still there, and something has to be done or awaited first.
    There(Next),
    /// This incarnation is no more.
    Gone,
}

pub(super) fn next(machine: &Machine, step: &Step, rule: &Rule<'_>, view: &View, now: Timestamp) -> Next {
    let Some(state) = machine.state.step(&step.name) else { return Next::Done };
    let together = state.leaving.iter().any(|pod| Some(&pod.workload) != state.leaving.first().map(|p| &p.workload));
    let due: Vec<&LeavingPod> =
        state.leaving.iter().filter(|pod| !state.receipts.iter().any(|receipt| receipt.uid == pod.uid)).collect();
    if together {
        // First all are asked to go, then the successors are awaited.
        for pod in &due {
            if let Stage::There(next @ (Next::Act(_) | Next::Stuck { .. })) = stage(machine, step, rule, view, pod, now)
            {
                return next;
            }
        }
    }
    // Pods that came to the source nodes after the step had begun are another step's, or show up when the node is proved.
    let Some(pod) = due.first() else { return Next::Done };
    match stage(machine, step, rule, view, pod, now) {
        Stage::There(next) => next,
        Stage::Gone => receipt(step, state, rule, view, pod, now),
    }
}

fn stage(machine: &Machine, step: &Step, rule: &Rule<'_>, view: &View, pod: &LeavingPod, now: Timestamp) -> Stage {
    let request = if rule.evict {
        Request::Evict { pod: pod.pod.clone(), uid: pod.uid.clone() }
    } else {
        Request::Delete { pod: pod.pod.clone(), uid: pod.uid.clone() }
    };
    let read = machine.moment(&step.name).reads.get(&pod.pod);
    let fresh = || Stage::There(Next::act(Action::Read { step: step.name.clone(), target: pod.pod.clone() }));
    let mut reaction = reaction(&machine.state, &step.name, &request, now);
    if let Reaction::Budget(refused) = reaction {
        let found = if let Some(Object::Pod(pod)) = view.by_uid(&pod.uid) { Some(&**pod) } else { None };
        reaction = budget::reaction(view, found, refused, now);
    }
    let asked = match reaction {
        Reaction::Over => true,
        Reaction::Send | Reaction::Look | Reaction::Budget(_) => false,
        Reaction::Pause { until, reason } => return Stage::There(Next::Wait { reason, until }),
        Reaction::Stuck { cause, instructions } => return Stage::There(Next::Stuck { cause, instructions }),
    };
    let in_view = view.by_uid(&pod.uid).is_some();
    // What a watch has shown, and does not show any more, is gone: it can be behind, and never ahead.
    if !in_view && view.gap(Kind::Pod).is_none() {
        return Stage::Gone;
    }
    let shown = if asked || name_comes_back(pod) { None } else { view.by_uid(&pod.uid) };
    let shown = shown.map(|object| FreshRead { at: now, object: Some(object.clone()) });
    let read = read.or(shown.as_ref());
    // A read right before the request: a wrong UID would charge the budget for two minutes (contract-tested).
    let Some(read) = read else {
        if asked && in_view {
            let reason = format!("{} is terminating", pod.pod);
            return Stage::There(Next::Wait { reason, until: now + LOOK_AGAIN });
        }
        return fresh();
    };
    match &read.object {
        Some(Object::Pod(found)) if found.meta.uid == pod.uid => {
            if found.meta.deleting.is_some() || asked {
                // Look again once the watch says that it is gone, or after a while.
                if !in_view && now >= read.at + READ_PAUSE || now >= read.at + LOOK_AGAIN {
                    return fresh();
                }
                let reason = format!("{} is terminating", pod.pod);
                let pause = if in_view { LOOK_AGAIN } else { READ_PAUSE };
                return Stage::There(Next::Wait { reason, until: read.at + pause });
            }
            if now >= read.at + LOOK_AGAIN {
                return fresh();
            }
            if let Some(reason) = last_that_serves(view, pod).or_else(|| successor_that_fell(machine, step, view)) {
                return Stage::There(Next::Wait { reason, until: read.at + LOOK_AGAIN });
            }
            Stage::There(Next::act(machine.announce(&step.name, request)))
        }
        // Another incarnation, or none.
        _ => Stage::Gone,
    }
}

/// Whether another incarnation can have the pod's name. A ReplicaSet's pods get five random letters, and none gets those of
/// another. Source: `k8s.io/apiserver/pkg/storage/names`, `SimpleNameGenerator`.
fn name_comes_back(pod: &LeavingPod) -> bool {
    !matches!(Kind::by_name(&pod.workload.kind), Some(Kind::Deployment | Kind::ReplicaSet))
}

/// The next pod leaves only while those that came for the ones before it serve.
fn successor_that_fell(machine: &Machine, step: &Step, view: &View) -> Option<String> {
    let receipts = &machine.state.step(&step.name)?.receipts;
    let mut successors = receipts.iter().filter_map(|receipt| receipt.successor.as_ref()).filter(|pod| pod.ready);
    let fallen = successors.find(|pod| match view.by_uid(&pod.uid) {
        Some(Object::Pod(found)) => !readiness::serves(found),
        _ => false,
    })?;
    Some(format!("{}, a successor, is not Ready any more on {}", fallen.pod, fallen.node))
}

/// A workload of several replicas never loses the last pod that serves to us, whatever its budget says.
fn last_that_serves(view: &View, pod: &LeavingPod) -> Option<String> {
    let several = readiness::desired(view, &pod.workload).is_some_and(|desired| desired > 1);
    if !several || !pod.ready {
        return None;
    }
    let others = owner::pods_of(view, &pod.workload);
    let others = others.iter().filter(|other| readiness::serves(other) && other.meta.uid != pod.uid).count();
    (others == 0).then(|| format!("no other pod of {} is Ready", pod.workload))
}

fn receipt(step: &Step, state: &StepState, rule: &Rule<'_>, view: &View, pod: &LeavingPod, now: Timestamp) -> Next {
    let moved = |successor: Option<&Pod>| {
        Next::act(Action::Record(Event::Moved { step: step.name.clone(), receipt: receipt_of(pod, successor) }))
    };
    if let Some(reason) = attached::to_source(view, pod) {
        return Next::Wait { reason, until: now + LOOK_AGAIN };
    }
    if !rule.awaited {
        return moved(None);
    }
    let candidates = successors(view, state, pod);
    let identity = pod.workload.kind == Kind::StatefulSet.name();
    for candidate in candidates.iter().filter(|c| !identity || c.meta.name == pod.pod.name) {
        let Some(node) = &candidate.node else { continue };
        if on(candidate, rule.off) {
            return astray(candidate, node, "a node that is being emptied; does it tolerate every taint?");
        }
        if !rule.onto.contains(node) {
            return astray(candidate, node, "no target of this step");
        }
        if readiness::serves(candidate) || !pod.ready {
            return moved(Some(candidate));
        }
    }
    if enough_elsewhere(view, pod, rule) {
        // Scaled down, or a Job that has completed: nobody has to come.
        return moved(None);
    }
    let reason = match candidates.first() {
        Some(candidate) => waiting_for(candidate),
        None => format!("{} has not created a successor of {} yet", pod.workload, pod.pod.name),
    };
    Next::Wait { reason, until: now + LOOK_AGAIN }
}

fn astray(candidate: &Pod, node: &str, what: &str) -> Next {
    Next::Stuck {
        cause: format!("Pod {} landed on {node}, which is {what}", candidate.meta.key()),
        instructions: vec![
            format!("keep it away from {node} (a taint, a cordon, its node affinity), and delete it"),
            "then run: rehome resume".to_owned(),
        ],
    }
}

/// Pods that came after the step had begun, and that no receipt names yet.
pub(super) fn successors<'v>(view: &'v View, state: &StepState, pod: &LeavingPod) -> Vec<&'v Arc<Pod>> {
    let taken: BTreeSet<&Uid> = state
        .receipts
        .iter()
        .filter_map(|receipt| receipt.successor.as_ref().map(|successor| &successor.uid))
        .chain(state.leaving.iter().map(|leaver| &leaver.uid))
        .chain(&state.known)
        .collect();
    owner::pods_of(view, &pod.workload)
        .into_iter()
        .filter(|candidate| !taken.contains(&candidate.meta.uid) && candidate.meta.deleting.is_none())
        .collect()
}

pub(super) fn receipt_of(pod: &LeavingPod, successor: Option<&Pod>) -> Receipt {
    Receipt {
        workload: pod.workload.clone(),
        pod: pod.pod.clone(),
        uid: pod.uid.clone(),
        from: pod.node.clone(),
        successor: successor.map(|successor| Successor {
            pod: successor.meta.key().reference_as("Pod"),
            uid: successor.meta.uid.clone(),
            node: successor.node.clone().unwrap_or_default(),
            ready: readiness::serves(successor),
        }),
    }
}

fn enough_elsewhere(view: &View, pod: &LeavingPod, rule: &Rule<'_>) -> bool {
    let Some(mut desired) = readiness::desired(view, &pod.workload) else { return false };
    let kind = Kind::by_name(&pod.workload.kind);
    if kind == Some(Kind::Job)
        && let Some(job) = view.workload(Kind::Job, &rehome_k8s::Key::of(&pod.workload))
    {
        desired = desired.min((job.completions.unwrap_or(1) - job.status.succeeded).max(0));
    }
    let settled = owner::pods_of(view, &pod.workload);
    let settled = settled.iter().filter(|other| readiness::serves(other) && !on(other, rule.off)).count();
    kind != Some(Kind::Pod) && i64::try_from(settled).unwrap_or(i64::MAX) >= desired
}

pub(super) fn waiting_for(candidate: &Pod) -> String {
    let name = candidate.meta.key();
    match (&candidate.node, &candidate.unschedulable) {
        (None, Some(message)) => format!("Pod {name} is Pending: {message}"),
        (None, None) => format!("Pod {name} is not scheduled yet"),
        (Some(node), _) => {
            let reason = candidate.reason.as_deref().map(|reason| format!(" ({reason})")).unwrap_or_default();
            format!("Pod {name} is not Ready yet on {node}{reason}")
        }
    }
}
