//! A cluster under what-if: new nodes come, nodes are lost, pods are placed. The one place of sizing that asks the model
//! of the scheduler.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use rehome_k8s::node::{Node, Resources};
use rehome_k8s::owner::{self, Owner};
use rehome_k8s::pod::Pod;
use rehome_k8s::toleration::{Effect, Taint};
use rehome_k8s::{Key, Kind, Record, View, requests};
use rehome_model::sizing::NodeBar;
use rehome_model::verb::FENCE_TAINT;
use rehome_sched::{Chance, Model, Profile, Unschedulable};

use super::unborn::Unborn;
use super::{advertised, daemon_sets};
use crate::facts::placement::FENCE_BYSTANDER;

/// A cluster under what-if. A clone is a fork.
#[derive(Clone, Debug)]
pub(super) struct Room<'v> {
    /// The cluster as it was captured: owners, defaults, DaemonSets.
    view: &'v View,
    model: Model,
    /// The new nodes.
    nodes: BTreeMap<String, Arc<Node>>,
}

impl<'v> Room<'v> {
    /// The cluster without these nodes and what is on them, and without pods that wait. Nodes that stay are fenced, as
    /// they are during a move: nothing is to land there.
    #[must_use]
    pub(super) fn without(view: &'v View, gone: &BTreeSet<String>) -> Self {
        let mut left = view.clone();
        let leaving = view.pods().filter(|pod| pod.node.as_ref().is_none_or(|node| gone.contains(node)));
        for pod in leaving {
            left.remove(Kind::Pod, &pod.meta.key());
        }
        for name in gone {
            left.remove(Kind::Node, &Key::cluster(name));
            left.remove(Kind::CSINode, &Key::cluster(name));
        }
        for record in view.of_kind(Kind::VolumeAttachment) {
            if matches!(record, Record::VolumeAttachment(attached) if gone.contains(&attached.node)) {
                left.remove(Kind::VolumeAttachment, &record.key());
            }
        }
        for node in view.nodes().filter(|node| !gone.contains(node.name())) {
            if !node.taints.iter().any(|taint| taint.key == FENCE_TAINT) {
                let mut node = Node::clone(node);
                let fence = (FENCE_TAINT.to_owned(), FENCE_BYSTANDER.to_owned());
                node.taints.push(Taint { key: fence.0, value: fence.1, effect: Effect::NoSchedule });
                left.insert(Record::Node(Arc::new(node)));
            }
        }
        Self { view, model: Model::new(&left, Profile::of_cluster(view)), nodes: BTreeMap::new() }
    }

    /// Adds the new nodes with these numbers, with the pods of their DaemonSets; returns their names.
    pub(super) fn add(&mut self, unborn: &Unborn, numbers: std::ops::RangeInclusive<usize>) -> Vec<String> {
        let mut names = Vec::new();
        for number in numbers {
            let node = Arc::new(unborn.node(number));
            self.model.add_node(&node, Some(&Arc::new(unborn.csi_node(number))));
            for pod in daemon_sets::pods(self.view, &node) {
                self.model.insert_pod(&Arc::new(pod));
            }
            names.push(node.name().to_owned());
            self.nodes.insert(node.name().to_owned(), node);
        }
        names
    }

    /// Where everything goes if these nodes are lost; the room stays as it is. Returns how many pods had to leave, and
    /// those that find no place.
    pub(super) fn lost(&mut self, names: &[String], seed: u64) -> (usize, Vec<(Arc<Pod>, Unschedulable)>) {
        let answer = self.model.what_if(&[], names, seed);
        (answer.placed.len() + answer.homeless.len(), answer.homeless)
    }

    /// Places pods one after the other; those that fit are bound. Returns the others with the scheduler's word.
    pub(super) fn place<'p>(&mut self, pods: &[&'p Pod], seed: u64) -> Vec<(&'p Pod, Unschedulable)> {
        let mut chance = Chance::new(seed);
        let pending =
            pods.iter().filter_map(|pod| Some((*pod, self.model.place_one(pod, &mut chance).err()?))).collect();
        // A claim that waits for its first pod has no volume yet in the cluster: what was chosen here must not bind it
        // to a node whose loss is tried next.
        for pod in pods {
            for claim in pod.claims() {
                let key = Key::new(pod.meta.namespace.clone(), claim);
                if let Some(record) = self.view.get(Kind::PersistentVolumeClaim, &key)
                    && matches!(record, Record::PersistentVolumeClaim(claim) if claim.volume.is_none())
                {
                    self.model.insert(record);
                }
            }
        }
        pending
    }

    /// Why no node would take the pod, were all of them empty; none if one would.
    #[must_use]
    pub(super) fn impossible(&mut self, pod: &Pod, nodes: &[String]) -> Option<Vec<String>> {
        let mut reasons = BTreeSet::new();
        for name in nodes {
            match self.model.verdict_on_empty(pod, name) {
                Ok(()) => return None,
                Err(rejection) => reasons.extend(rejection.reasons),
            }
        }
        Some(reasons.into_iter().collect())
    }

    /// Makes a node smaller by what its DaemonSets ask for.
    pub(super) fn shrink_by_daemon_sets(&mut self, name: &str) {
        let Some(node) = self.node(name) else { return };
        let mut node = Node::clone(node);
        for (resource, amount) in self.model.used(name) {
            if let Some(size) = node.allocatable.get_mut(&resource) {
                *size -= amount;
            }
        }
        self.model.insert(&Record::Node(Arc::new(node)));
    }

    /// The node as a bar.
    #[must_use]
    pub(super) fn bar(&self, name: &str) -> NodeBar {
        self.node(name).map(|node| bar(self.view, node, self.model.pods_on(name))).unwrap_or_default()
    }

    /// The pods on a node.
    pub(super) fn pods_on(&self, name: &str) -> impl Iterator<Item = &Arc<Pod>> {
        self.model.pods_on(name)
    }

    /// The new node of this name.
    #[must_use]
    pub(super) fn node(&self, name: &str) -> Option<&Arc<Node>> {
        self.nodes.get(name)
    }
}

/// Whether a pod belongs to its node and is not missed elsewhere when the node goes.
fn of_node(view: &View, pod: &Pod) -> bool {
    match owner::of_pod(view, pod) {
        Owner::Node => true,
        Owner::Workload(workload) | Owner::Unseen(workload) => workload.kind == Kind::DaemonSet.name(),
        Owner::None => false,
    }
}

/// A node as a bar: what the kubelet withholds, what DaemonSets and static pods ask for, what the others do, what is left.
#[must_use]
pub(super) fn bar<'p>(view: &View, node: &Node, pods_on: impl Iterator<Item = &'p Arc<Pod>>) -> NodeBar {
    let capacity = if node.capacity.is_empty() { &node.allocatable } else { &node.capacity };
    let shown = |resources: &Resources| -> Resources {
        ["cpu", "memory", "pods"]
            .iter()
            .map(|name| ((*name).to_owned(), resources.get(*name).copied().unwrap_or(0)))
            .collect()
    };
    let minus = |from: &Resources, less: &Resources| -> Resources {
        from.iter().map(|(name, amount)| (name.clone(), amount - less.get(name).copied().unwrap_or(0))).collect()
    };
    let (mut daemon_sets, mut workloads, mut pods) = (Resources::new(), Resources::new(), 0);
    for pod in pods_on.filter(|pod| !pod.finished()) {
        let sum = if of_node(view, pod) { &mut daemon_sets } else { &mut workloads };
        requests::add(sum, &pod.spec.requests);
        *sum.entry("pods".to_owned()).or_default() += 1;
        pods += 1;
    }
    let (capacity, allocatable) = (shown(capacity), shown(&node.allocatable));
    let (daemon_sets, workloads) = (shown(&daemon_sets), shown(&workloads));
    NodeBar {
        node: node.name().to_owned(),
        flavor: advertised::flavor_of(node).unwrap_or_default().to_owned(),
        zone: node.meta.labels.get(rehome_k8s::node::ZONE_LABEL).cloned().unwrap_or_default(),
        reserve: minus(&capacity, &allocatable),
        free: minus(&minus(&allocatable, &daemon_sets), &workloads),
        capacity,
        daemon_sets,
        workloads,
        pods,
    }
}
