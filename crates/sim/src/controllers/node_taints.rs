//! The node lifecycle controller, as far as a cordon is concerned: it turns `spec.unschedulable` into a taint.
//!
//! Source: `k8s.io/kubernetes/pkg/controller/nodelifecycle/node_lifecycle_controller.go`, `doNoScheduleTaintingPass`.
//! Not modelled: conditions into taints, and the eviction of pods from nodes that went away.

use std::sync::Arc;

use rehome_k8s::node::{Node, UNSCHEDULABLE_TAINT};
use rehome_k8s::toleration::{Effect, Taint};
use rehome_k8s::{Key, Kind, Record, View};
use rehome_model::Timestamp;

use super::{Change, Controller, Mutation, Reconciled};

/// The controller of the taint.
#[derive(Clone, Copy, Debug)]
pub struct NodeTaints;

impl Controller for NodeTaints {
    fn user(&self) -> &'static str {
        "system:serviceaccount:kube-system:node-controller"
    }

    fn concerned(&self, _view: &View, change: &Change) -> Vec<(Kind, Key)> {
        match &change.after {
            Some(Record::Node(node)) => vec![(Kind::Node, node.meta.key())],
            _ => Vec::new(),
        }
    }

    fn reconcile(&mut self, view: &View, _kind: Kind, key: &Key, _now: Timestamp) -> Reconciled {
        let Some(node) = view.node(&key.name) else { return Reconciled::default() };
        let is_ours = |taint: &Taint| taint.key == UNSCHEDULABLE_TAINT && taint.effect == Effect::NoSchedule;
        if node.unschedulable == node.taints.iter().any(is_ours) {
            return Reconciled::default();
        }
        let mut changed = Node::clone(node);
        if node.unschedulable {
            let key = UNSCHEDULABLE_TAINT.to_owned();
            changed.taints.push(Taint { key, value: String::new(), effect: Effect::NoSchedule });
        } else {
            changed.taints.retain(|taint| !is_ours(taint));
        }
        Reconciled { mutations: vec![Mutation::Update(Record::Node(Arc::new(changed)))], requeue: None }
    }

    fn fork(&self) -> Box<dyn Controller> {
        Box::new(*self)
    }
}
