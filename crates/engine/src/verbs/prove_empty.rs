//! ProveEmpty: a node holds nothing but pods that stay, as two fresh lists show.
//!
//! One list is not enough: a pod can be bound just after it was taken. The scheduler's cache has caught up with the
//! fence within a second; 5 s is the pause that Karpenter found to be enough (`MinDrainTime`).

use std::sync::Arc;

use rehome_k8s::View;
use rehome_k8s::pod::Pod;
use rehome_model::journal::{EmptyList, Event};
use rehome_model::plan::Step;
use rehome_model::time::Seconds;
use rehome_model::verb::ProveEmpty;
use rehome_model::{ObjectRef, Timestamp};

use super::{Next, attached};
use crate::machine::{Action, LOOK_AGAIN, Machine};

/// How far apart the two lists must be.
const APART: Seconds = Seconds::new(5);
/// How long to wait before a node that was not empty is listed again.
const AGAIN: Seconds = Seconds::new(2);

/// A fresh list of a node's pods.
pub(crate) struct List {
    at: Timestamp,
    stays: Vec<ObjectRef>,
    /// Pods that are in the way.
    others: Vec<ObjectRef>,
}

/// Whether a pod stays on a node that is emptied: it belongs to the node, or it has ended.
fn stays(pod: &Pod) -> bool {
    let of_the_node =
        pod.mirror() || pod.meta.controller.as_ref().is_some_and(|c| c.kind == "DaemonSet" || c.kind == "Node");
    // A pod on its way out still holds its volumes and ports.
    pod.meta.deleting.is_none() && (pod.finished() || of_the_node)
}

pub(crate) fn observe(lists: &mut Vec<List>, pods: &[Arc<Pod>], asked: Timestamp) {
    let (mut staying, mut others) = (Vec::new(), Vec::new());
    for pod in pods {
        let reference = pod.meta.key().reference_as("Pod");
        if stays(pod) { staying.push(reference) } else { others.push(reference) }
    }
    // The two lists of the proof follow each other: one that is not empty, between or before them, begins it anew.
    if !others.is_empty() || lists.last().is_some_and(|last| !last.others.is_empty()) {
        lists.clear();
    }
    lists.push(List { at: asked, stays: staying, others });
}

pub(super) fn next(machine: &Machine, step: &Step, prove: &ProveEmpty, view: &View, now: Timestamp) -> Next {
    if machine.state.step(&step.name).is_some_and(|state| state.proved) {
        return Next::Done;
    }
    // An instance that is deleted with a volume attached takes the volume along on some clouds.
    if let Some(reason) = attached::to_node(view, &prove.node) {
        return Next::Wait { reason, until: now + LOOK_AGAIN };
    }
    let list = || Next::act(Action::ListPods { step: step.name.clone(), node: prove.node.clone() });
    let Some(last) = machine.moment(&step.name).lists.last() else { return list() };
    if !last.others.is_empty() {
        if now >= last.at + AGAIN {
            return list();
        }
        let names: Vec<String> = last.others.iter().take(3).map(ObjectRef::path).collect();
        let more = last.others.len().saturating_sub(names.len());
        let more = if more > 0 { format!(" and {more} more") } else { String::new() };
        let reason = format!("{} still holds {}{more}", prove.node, names.join(", "));
        return Next::Wait { reason, until: last.at + AGAIN };
    }
    let Some(first) = machine.moment(&step.name).lists.first().filter(|first| first.others.is_empty()) else {
        return list();
    };
    if last.at - first.at >= APART {
        let evidence = |list: &List| EmptyList { at: list.at, stays: list.stays.clone() };
        return Next::act(Action::Record(Event::NodeEmpty {
            step: Some(step.name.clone()),
            node: prove.node.clone(),
            lists: [evidence(first), evidence(last)],
        }));
    }
    if now >= first.at + APART {
        return list();
    }
    Next::Wait { reason: format!("{} is empty; looking again to be sure", prove.node), until: first.at + APART }
}
