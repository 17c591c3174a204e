//! Garbage collection: what an object controlled goes when the object is gone.
//!
//! Background propagation only. Objects whose owner was not in the capture (a custom resource) are left alone: the
//! collector acts on a deletion that it saw, never on an owner that it does not know.

use rehome_k8s::{Key, Kind, View};
use rehome_model::Timestamp;

use super::{Change, Controller, Mutation, Reconciled};

/// The garbage collector.
#[derive(Clone, Copy, Debug)]
pub struct GarbageCollector;

impl Controller for GarbageCollector {
    fn user(&self) -> &'static str {
        "system:serviceaccount:kube-system:generic-garbage-collector"
    }

    fn concerned(&self, view: &View, change: &Change) -> Vec<(Kind, Key)> {
        match (&change.before, &change.after) {
            (Some(gone), None) => {
                view.controlled_by(&gone.meta().uid).map(|dependent| (dependent.kind(), dependent.key())).collect()
            }
            _ => Vec::new(),
        }
    }

    fn reconcile(&mut self, view: &View, kind: Kind, key: &Key, _now: Timestamp) -> Reconciled {
        let Some(record) = view.get(kind, key) else { return Reconciled::default() };
        let orphan = record.meta().controller.as_ref().is_some_and(|owner| view.by_uid(&owner.uid).is_none());
        if orphan && record.meta().deleting.is_none() {
            Reconciled { mutations: vec![Mutation::Delete(kind, key.clone())], requeue: None }
        } else {
            Reconciled::default()
        }
    }

    fn fork(&self) -> Box<dyn Controller> {
        Box::new(*self)
    }
}
