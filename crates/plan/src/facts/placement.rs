//! Where successors can go: the cluster during the move and at its end, as the scheduler would see it.

use std::collections::BTreeSet;
use std::sync::Arc;

use rehome_k8s::node::Node;
use rehome_k8s::pod::Pod;
use rehome_k8s::toleration::{Effect, Taint};
use rehome_k8s::{Kind, Record, View};
use rehome_model::verb::FENCE_TAINT;
use rehome_sched::{Candidate, Rejection, feasible, verdict, verdict_on_empty};

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
        .flat_map(|lineage| {
            // Pods of one template ask the same of a node, unless each has its own volume.
            let own_volumes = lineage.claims().next().is_some();
            lineage.successors().into_iter().take(if own_volumes { usize::MAX } else { 1 })
        })
        .collect();
    let bare = without_pods(view);
    bare.nodes()
        .filter(|node| !sources.contains(node.name()) && !targets.contains(node.name()))
        .filter(|node| successors.iter().any(|pod| verdict_on_empty(&bare, &Candidate::of(pod), node).is_ok()))
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

impl Placements {
    /// Places pods on targets only, one after the other, the emptiest target first.
    pub fn place(&mut self, targets: &BTreeSet<String>, pods: Vec<Pod>) {
        for pod in pods {
            match best(&self.view, targets, &pod) {
                Ok(node) => bind(&mut self.view, pod, node),
                Err(rejections) => self.homeless.push((pod, rejections)),
            }
        }
    }

    /// Places pods on one target that takes all of them, the emptiest first. Where there is none, the first pod is
    /// homeless, with what each target says to the first of them that it does not take.
    pub fn place_together(&mut self, targets: &BTreeSet<String>, pods: Vec<Pod>) -> Option<String> {
        let mut nodes: Vec<_> = targets.iter().filter_map(|name| self.view.node(name).cloned()).collect();
        nodes.sort_by_cached_key(|node| (load(&self.view, node), node.name().to_owned()));
        let mut rejections = Vec::new();
        for node in nodes {
            let mut view = self.view.clone();
            let refused = pods.iter().find_map(|pod| match verdict(&view, &Candidate::of(pod), &node) {
                Ok(()) => {
                    bind(&mut view, pod.clone(), node.name().to_owned());
                    None
                }
                Err(rejection) => Some(rejection),
            });
            match refused {
                None => {
                    self.view = view;
                    return Some(node.name().to_owned());
                }
                Some(rejection) => rejections.push((node.name().to_owned(), rejection)),
            }
        }
        rejections.sort_by(|a, b| a.0.cmp(&b.0));
        self.homeless.extend(pods.into_iter().next().map(|pod| (pod, rejections)));
        None
    }
}

fn bind(view: &mut View, pod: Pod, node: String) {
    view.insert(Record::Pod(Arc::new(Pod { node: Some(node), ..pod })));
}

/// The target that takes a pod and has the least memory in use relative to its size.
///
/// # Errors
/// What each target says.
pub fn best(view: &View, targets: &BTreeSet<String>, pod: &Pod) -> Result<String, Vec<(String, Rejection)>> {
    // One cycle for all nodes: what a filter has to know of all pods is computed once.
    let mut feasibility = feasible(view, &Candidate::of(pod));
    let fits = feasibility.nodes.iter().filter(|name| targets.contains(*name)).filter_map(|name| view.node(name));
    let best = fits.map(|node| (load(view, node), node.name())).min();
    best.map(|(_, name)| name.to_owned())
        .ok_or_else(|| targets.iter().filter_map(|name| feasibility.rejected.remove_entry(name)).collect())
}

/// Whether all these pods find a target, one after the other.
#[must_use]
pub fn all_fit(view: &View, targets: &BTreeSet<String>, pods: Vec<Pod>) -> bool {
    let mut placements = Placements { homeless: Vec::new(), view: view.clone() };
    placements.place(targets, pods);
    placements.homeless.is_empty()
}

/// A view without its pods: for questions that do not depend on them, and that would read them all.
#[must_use]
pub fn without_pods(view: &View) -> View {
    let mut bare = view.clone();
    for pod in view.pods() {
        bare.remove(Kind::Pod, &pod.meta.key());
    }
    bare
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
