//! What if nodes were lost, or added? And which nodes can be drained now?
//!
//! The cluster is left as it was: pods are taken off, placed elsewhere, and put back.

use std::sync::Arc;

use rehome_k8s::Key;
use rehome_k8s::node::Node;
use rehome_k8s::pod::Pod;
use rehome_k8s::storage::{CsiNode, PersistentVolumeClaim};

use crate::chance::Chance;
use crate::model::{Model, Taken};
use crate::place::Unschedulable;

/// Where pods would go.
#[derive(Clone, Debug, Default)]
pub struct WhatIf {
    /// Pods that find a node, and the node.
    pub placed: Vec<(Arc<Pod>, String)>,
    /// Pods that find none.
    pub homeless: Vec<(Arc<Pod>, Unschedulable)>,
    /// Pods that go with their node: a DaemonSet's, and static ones.
    pub ended: Vec<Arc<Pod>>,
}

impl WhatIf {
    /// Whether every pod that has to leave finds a node.
    #[must_use]
    pub fn all_fit(&self) -> bool {
        self.homeless.is_empty()
    }
}

/// Whether a pod is made again on another node when its node is lost.
fn leaves(pod: &Pod) -> bool {
    let daemon = pod.meta.controller.as_ref().is_some_and(|owner| owner.kind == "DaemonSet");
    !(daemon || pod.mirror())
}

impl Model {
    /// Whether a node could be drained now: it is cordoned, and each pod that has to leave finds a place on another node,
    /// the most important first. Successors are taken to be like the pods that leave. Ties fall by the seed.
    pub fn drainable(&mut self, node: &str, seed: u64) -> WhatIf {
        let Some(record) = self.nodes.find(node).and_then(|index| self.nodes.get(index)).cloned() else {
            return WhatIf::default();
        };
        let csi = self.nodes.find(node).and_then(|index| self.nodes.csi(index)).cloned();
        self.add_node(&Arc::new(Node { unschedulable: true, ..record.as_ref().clone() }), csi.as_ref());
        let leaving: Vec<Arc<Pod>> = self.pods_on(node).filter(|pod| leaves(pod)).cloned().collect();
        let taken: Vec<Taken> = leaving.iter().filter_map(|pod| self.take_off(&pod.meta.key())).collect();
        let answer = self.placed_elsewhere(leaving, seed);
        self.add_node(&record, csi.as_ref());
        for pod in taken {
            self.put_on(pod);
        }
        answer
    }

    /// Where the pods of lost nodes would go, once other nodes were added.
    pub fn what_if(&mut self, added: &[(Arc<Node>, Option<Arc<CsiNode>>)], lost: &[String], seed: u64) -> WhatIf {
        for (node, csi) in added {
            self.add_node(node, csi.as_ref());
        }
        let mut gone = Vec::new();
        let mut pods = Vec::new();
        for name in lost {
            let Some(index) = self.nodes.find(name) else { continue };
            gone.extend(self.nodes.get(index).cloned().map(|node| (node, self.nodes.csi(index).cloned())));
            pods.extend(self.remove_node(name));
        }
        let (leaving, ended): (Vec<_>, Vec<_>) = pods.iter().cloned().partition(|pod| leaves(pod));
        let mut answer = self.placed_elsewhere(leaving, seed);
        answer.ended = ended;
        for (node, csi) in &gone {
            self.add_node(node, csi.as_ref());
        }
        for pod in &pods {
            self.insert_pod(pod);
        }
        for (node, _) in added {
            self.remove_node(node.name());
        }
        answer
    }

    /// Places pods that are on no node, the most important first, and takes them off again.
    fn placed_elsewhere(&mut self, mut pods: Vec<Arc<Pod>>, seed: u64) -> WhatIf {
        pods.sort_by_key(|pod| std::cmp::Reverse(pod.spec.priority));
        let claims = self.waiting_claims(&pods);
        let mut chance = Chance::new(seed);
        let mut answer = WhatIf::default();
        for pod in pods {
            match self.place_for_now(&pod, &mut chance) {
                Ok(node) => answer.placed.push((pod, node)),
                Err(refused) => answer.homeless.push((pod, refused)),
            }
        }
        for (pod, _) in &answer.placed {
            self.remove_pod(&pod.meta.key());
        }
        for (key, claim) in claims {
            self.storage.set_claim(&key, Some(claim));
        }
        answer
    }

    /// Claims that placing would bind to a node.
    fn waiting_claims(&self, pods: &[Arc<Pod>]) -> Vec<(Key, Arc<PersistentVolumeClaim>)> {
        let keys = pods
            .iter()
            .flat_map(|pod| pod.claims().map(|name| Key::new(pod.meta.namespace.clone(), name)).collect::<Vec<_>>());
        let waiting = keys.filter_map(|key| {
            let claim = self.storage.claim(&key).filter(|claim| claim.volume.is_none())?;
            Some((key, Arc::clone(claim)))
        });
        waiting.collect()
    }
}
