//! A cluster under what-if: new nodes come, nodes are lost, pods are placed. The one place of sizing that asks the model
//! of the scheduler.

use std::collections::BTreeSet;
use std::sync::Arc;

use rehome_k8s::node::{Node, Resources};
use rehome_k8s::owner::{self, Owner};
use rehome_k8s::pod::Pod;
use rehome_k8s::toleration::{Effect, Taint};
use rehome_k8s::{Key, Kind, Record, View, requests};
use rehome_model::sizing::NodeBar;
use rehome_model::verb::FENCE_TAINT;
use rehome_sched::{Candidate, Unschedulable};

use super::unborn::Unborn;
use super::{advertised, daemon_sets};
use crate::facts::placement::FENCE_BYSTANDER;

/// A cluster under what-if. A clone is cheap.
#[derive(Clone, Debug)]
pub(super) struct Room {
    view: View,
}

impl Room {
    /// The cluster without these nodes and what is on them, and without pods that wait. Nodes that stay are fenced, as
    /// they are during a move: nothing is to land there.
    #[must_use]
    pub(super) fn without(view: &View, gone: &BTreeSet<String>) -> Self {
        let mut view = view.clone();
        let leaving: Vec<Key> = view
            .pods()
            .filter(|pod| pod.node.as_ref().is_none_or(|node| gone.contains(node)))
            .map(|pod| pod.meta.key())
            .collect();
        for key in leaving {
            view.remove(Kind::Pod, &key);
        }
        for name in gone {
            view.remove(Kind::Node, &Key::cluster(name));
            view.remove(Kind::CSINode, &Key::cluster(name));
        }
        let attached: Vec<Key> = view
            .of_kind(Kind::VolumeAttachment)
            .filter(|record| matches!(record, Record::VolumeAttachment(at) if gone.contains(&at.node)))
            .map(Record::key)
            .collect();
        for key in attached {
            view.remove(Kind::VolumeAttachment, &key);
        }
        let stay: Vec<Arc<Node>> = view.nodes().cloned().collect();
        for node in stay {
            if !node.taints.iter().any(|taint| taint.key == FENCE_TAINT) {
                let mut node = Node::clone(&node);
                let fence = (FENCE_TAINT.to_owned(), FENCE_BYSTANDER.to_owned());
                node.taints.push(Taint { key: fence.0, value: fence.1, effect: Effect::NoSchedule });
                view.insert(Record::Node(Arc::new(node)));
            }
        }
        Self { view }
    }

    /// Adds the new nodes with these numbers, with the pods of their DaemonSets; returns their names.
    pub(super) fn add(&mut self, unborn: &Unborn, numbers: std::ops::RangeInclusive<usize>) -> Vec<String> {
        let mut names = Vec::new();
        for number in numbers {
            let node = unborn.node(number);
            for pod in daemon_sets::pods(&self.view, &node) {
                self.view.insert(Record::Pod(Arc::new(pod)));
            }
            names.push(node.name().to_owned());
            self.view.insert(Record::CSINode(Arc::new(unborn.csi_node(number))));
            self.view.insert(Record::Node(Arc::new(node)));
        }
        names
    }

    /// Takes a node out; returns the names of the pods that were on it, those of DaemonSets not.
    pub(super) fn lose(&mut self, name: &str) -> Vec<Key> {
        let pods: Vec<Arc<Pod>> = self.view.pods_on(name).cloned().collect();
        self.view.remove(Kind::Node, &Key::cluster(name));
        self.view.remove(Kind::CSINode, &Key::cluster(name));
        let mut lost = Vec::new();
        for pod in pods {
            self.view.remove(Kind::Pod, &pod.meta.key());
            if !of_node(&self.view, &pod) {
                lost.push(pod.meta.key());
            }
        }
        lost
    }

    /// Places pods one after the other; those that fit are bound. Returns the others with the scheduler's word.
    pub(super) fn place<'p>(&mut self, pods: &[&'p Pod], seed: u64) -> Vec<(&'p Pod, Unschedulable)> {
        let owned: Vec<Pod> = pods.iter().copied().cloned().collect();
        let results = rehome_sched::place_all(&self.view, &owned, seed);
        let mut pending = Vec::new();
        for ((result, pod), original) in results.into_iter().zip(owned).zip(pods) {
            match result {
                Ok(node) => {
                    self.view.insert(Record::Pod(Arc::new(Pod { node: Some(node), ..pod })));
                }
                Err(reason) => pending.push((*original, reason)),
            }
        }
        pending
    }

    /// Why no node would take the pod, were all of them empty; none if one would.
    #[must_use]
    pub(super) fn impossible(&self, pod: &Pod, nodes: &[String]) -> Option<Vec<String>> {
        let mut reasons = BTreeSet::new();
        for node in nodes.iter().filter_map(|name| self.view.node(name)) {
            match rehome_sched::verdict_on_empty(&self.view, &Candidate::of(pod), node) {
                Ok(()) => return None,
                Err(rejection) => reasons.extend(rejection.reasons),
            }
        }
        Some(reasons.into_iter().collect())
    }

    /// The node with its size made smaller by what its DaemonSets ask for.
    pub(super) fn shrink_by_daemon_sets(&mut self, name: &str) {
        let Some(node) = self.view.node(name) else { return };
        let mut node = Node::clone(node);
        let mut pods = 0;
        for pod in self.view.pods_on(name) {
            for (resource, amount) in &pod.spec.requests {
                if let Some(size) = node.allocatable.get_mut(resource) {
                    *size -= amount;
                }
            }
            pods += 1;
        }
        if let Some(size) = node.allocatable.get_mut("pods") {
            *size -= pods;
        }
        self.view.insert(Record::Node(Arc::new(node)));
    }

    /// The node as a bar.
    #[must_use]
    pub(super) fn bar(&self, name: &str) -> NodeBar {
        self.view.node(name).map(|node| bar(&self.view, node)).unwrap_or_default()
    }

    /// The pods on a node.
    pub(super) fn pods_on(&self, name: &str) -> impl Iterator<Item = &Arc<Pod>> {
        self.view.pods_on(name)
    }

    /// The node.
    #[must_use]
    pub(super) fn node(&self, name: &str) -> Option<&Arc<Node>> {
        self.view.node(name)
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
pub(super) fn bar(view: &View, node: &Node) -> NodeBar {
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
    for pod in view.pods_on(node.name()).filter(|pod| !pod.finished()) {
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
