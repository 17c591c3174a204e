//! Where successors can go: the cluster during the move and at its end, as the scheduler would see it.

use std::collections::BTreeSet;
use std::sync::Arc;

use rehome_k8s::node::Node;
use rehome_k8s::pod::Pod;
use rehome_k8s::toleration::{Effect, Taint};
use rehome_k8s::{Kind, Record, View};
use rehome_model::verb::FENCE_TAINT;
use rehome_sched::{Candidate, Rejection, verdict, verdict_on_empty};

use super::units::MoveUnit;

/// The value of the fence on a node that is emptied.
pub const FENCE_SOURCE: &str = "source";
/// The value of the fence on a node that is only kept out of the way.
pub const FENCE_BYSTANDER: &str = "bystander";

/// Nodes that are neither source nor target, and that some moving pod could land on if they had room.
pub(super) fn bystanders(
    view: &View,
    sources: &BTreeSet<String>,
    targets: &BTreeSet<String>,
    units: &[MoveUnit],
) -> BTreeSet<String> {
    let successors: Vec<Pod> = units
        .iter()
        .flat_map(|unit| &unit.lineages)
        // Pods of one template ask the same of a node.
        .flat_map(|lineage| lineage.successors().into_iter().take(1))
        .collect();
    view.nodes()
        .filter(|node| !sources.contains(node.name()) && !targets.contains(node.name()))
        .filter(|node| successors.iter().any(|pod| verdict_on_empty(view, &Candidate::of(pod), node).is_ok()))
        .map(|node| node.name().to_owned())
        .collect()
}

fn fence(node: &Node, value: &str) -> Node {
    let mut node = node.clone();
    if !node.taints.iter().any(|taint| taint.key == FENCE_TAINT) {
        node.taints.push(Taint { key: FENCE_TAINT.to_owned(), value: value.to_owned(), effect: Effect::NoSchedule });
    }
    node
}

/// The view with fences up.
pub(super) fn fenced(view: &View, sources: &BTreeSet<String>, bystanders: &BTreeSet<String>) -> View {
    let mut fenced = view.clone();
    let nodes = sources.iter().map(|name| (name, FENCE_SOURCE));
    for (name, value) in nodes.chain(bystanders.iter().map(|name| (name, FENCE_BYSTANDER))) {
        if let Some(node) = view.node(name) {
            fenced.insert(Record::Node(Arc::new(fence(node, value))));
        }
    }
    fenced
}

/// The view at the end of the move, without successors.
pub(super) fn emptied(view: &View, sources: &BTreeSet<String>, units: &[MoveUnit]) -> View {
    let mut emptied = view.clone();
    for node in sources.iter().filter_map(|name| view.node(name)) {
        emptied.insert(Record::Node(Arc::new(Node { unschedulable: true, ..fence(node, FENCE_SOURCE) })));
    }
    for pod in units.iter().flat_map(MoveUnit::leaving) {
        emptied.remove(Kind::Pod, &pod.meta.key());
    }
    emptied
}

/// Where each successor goes, in the order given, if it goes to a target.
#[derive(Clone, Debug, Default)]
pub struct Placements {
    /// Pods that found no target: the pod, and what each target says at that moment.
    pub homeless: Vec<(Pod, Vec<(String, Rejection)>)>,
    /// The cluster with all others placed.
    pub view: View,
}

/// Places pods on targets only, one after the other, the emptiest target first.
#[must_use]
pub fn place(emptied: &View, targets: &BTreeSet<String>, pods: Vec<Pod>) -> Placements {
    let mut placements = Placements { homeless: Vec::new(), view: emptied.clone() };
    for pod in pods {
        match best(&placements.view, targets, &pod) {
            Ok(node) => {
                placements.view.insert(Record::Pod(Arc::new(Pod { node: Some(node), ..pod })));
            }
            Err(rejections) => placements.homeless.push((pod, rejections)),
        }
    }
    placements
}

/// The target that takes a pod and has the least memory in use relative to its size.
///
/// # Errors
/// What each target says.
pub fn best(view: &View, targets: &BTreeSet<String>, pod: &Pod) -> Result<String, Vec<(String, Rejection)>> {
    let (mut fits, mut rejections) = (Vec::new(), Vec::new());
    for node in targets.iter().filter_map(|name| view.node(name)) {
        match verdict(view, &Candidate::of(pod), node) {
            Ok(()) => fits.push((load(view, node), node.name().to_owned())),
            Err(rejection) => rejections.push((node.name().to_owned(), rejection)),
        }
    }
    fits.into_iter().min().map(|(_, name)| name).ok_or(rejections)
}

/// How loaded a node is: the larger of the shares of memory and cpu that are requested, in thousandths.
#[must_use]
pub fn load(view: &View, node: &Node) -> i64 {
    let used = rehome_sched::used(view, node.name(), None);
    ["memory", "cpu"]
        .into_iter()
        .filter_map(|name| {
            let size = *node.allocatable.get(name).filter(|size| **size > 0)?;
            let used = used.get(name).copied().unwrap_or_default();
            i64::try_from(i128::from(used) * 1000 / i128::from(size)).ok()
        })
        .max()
        .unwrap_or(0)
}

/// What each target says of a pod if it were empty: what no amount of room can cure.
#[must_use]
pub fn impossible(view: &View, targets: &BTreeSet<String>, pod: &Pod) -> Option<Vec<(String, Rejection)>> {
    let mut rejections = Vec::new();
    for node in targets.iter().filter_map(|name| view.node(name)) {
        match verdict_on_empty(view, &Candidate::of(pod), node) {
            Ok(()) => return None,
            Err(rejection) => rejections.push((node.name().to_owned(), rejection)),
        }
    }
    Some(rejections)
}

/// Rejections in one sentence: `2 Insufficient memory, 1 node(s) had untolerated taint(s)`.
#[must_use]
pub fn sentence(rejections: &[(String, Rejection)]) -> String {
    let mut counts = std::collections::BTreeMap::new();
    for reason in rejections.iter().flat_map(|(_, rejection)| &rejection.reasons) {
        *counts.entry(reason.as_str()).or_insert(0_usize) += 1;
    }
    let parts: Vec<String> = counts.into_iter().map(|(reason, count)| format!("{count} {reason}")).collect();
    parts.join(", ")
}
