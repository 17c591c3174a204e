//! Who owns a pod: the walk from a pod to its topmost controller.

use std::collections::BTreeSet;
use std::sync::Arc;

use rehome_model::ObjectRef;

use crate::meta::{Key, Meta};
use crate::pod::Pod;
use crate::record::{Kind, Record};
use crate::view::View;

/// How many owners are followed before the walk gives up: deeper chains than Deployment → ReplicaSet → Pod are made by
/// operators only, and a cycle is hostile.
const LONGEST_CHAIN: usize = 8;

/// The topmost controller of a pod.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Owner {
    /// A controller that the view holds. A Job of a CronJob ends at the Job: a later run is another lineage.
    Workload(ObjectRef),
    /// A controller named by the chain that is not in the view: a custom resource, or deleted.
    Unseen(ObjectRef),
    /// The node: a mirror pod.
    Node,
    /// Nobody: a bare pod.
    None,
}

impl Owner {
    /// The reference that a plan uses: the workload, or the pod itself where it has none.
    #[must_use]
    pub fn reference(&self, pod: &Pod) -> ObjectRef {
        match self {
            Self::Workload(reference) | Self::Unseen(reference) => reference.clone(),
            Self::Node | Self::None => pod.meta.key().reference(Kind::Pod),
        }
    }
}

/// The topmost controller of a pod.
#[must_use]
pub fn of_pod(view: &View, pod: &Pod) -> Owner {
    if pod.mirror() {
        return Owner::Node;
    }
    let mut meta: &Meta = &pod.meta;
    let mut found = Owner::None;
    for _ in 0..LONGEST_CHAIN {
        let Some(owner) = &meta.controller else { break };
        if owner.kind == "Node" {
            return Owner::Node;
        }
        let key = Key::new(meta.namespace.clone(), owner.name.clone());
        let Some(record) = view.by_uid(&owner.uid).filter(|record| record.kind().is_workload()) else {
            // A Deployment's custom owner (an operator) is not followed: the Deployment is what makes pods.
            return match found {
                Owner::Workload(_) => found,
                _ => Owner::Unseen(key.reference_as(&owner.kind)),
            };
        };
        found = Owner::Workload(record.reference());
        if record.kind() == Kind::Job {
            break;
        }
        meta = record.meta();
    }
    found
}

/// The pods of a workload or, for a reference to a pod, that pod: not yet finished ones, by name.
#[must_use]
pub fn pods_of<'v>(view: &'v View, workload: &ObjectRef) -> Vec<&'v Arc<Pod>> {
    let key = Key::of(workload);
    let Some(kind) = Kind::by_name(&workload.kind) else { return by_controller_name(view, workload) };
    if kind == Kind::Pod {
        return view.pod(&key).into_iter().filter(|pod| !pod.finished()).collect();
    }
    let Some(record) = view.get(kind, &key) else { return by_controller_name(view, workload) };
    let mut pods = Vec::new();
    let mut seen = BTreeSet::from([record.meta().uid.clone()]);
    let mut pending = vec![record];
    for _ in 0..LONGEST_CHAIN {
        let mut next = Vec::new();
        for owner in pending {
            for owned in view.controlled_by(&owner.meta().uid) {
                match owned {
                    Record::Pod(pod) if !pod.finished() => pods.push(pod),
                    // In a cycle of owners each is asked once.
                    other if other.kind().is_workload() && seen.insert(other.meta().uid.clone()) => next.push(other),
                    _ => {}
                }
            }
        }
        if next.is_empty() {
            break;
        }
        pending = next;
    }
    pods.sort_by_key(|pod| pod.meta.key());
    pods
}

/// Pods whose direct controller has this kind and name but is not in the view.
fn by_controller_name<'v>(view: &'v View, workload: &ObjectRef) -> Vec<&'v Arc<Pod>> {
    let Some(namespace) = &workload.namespace else { return Vec::new() };
    view.pods_in(namespace)
        .filter(|pod| !pod.finished())
        .filter(|pod| pod.meta.controller.as_ref().is_some_and(|c| c.kind == workload.kind && c.name == workload.name))
        .collect()
}
