//! The controllers of kube-controller-manager, as pure functions from a view to changes.
//!
//! A controller is what it is in Kubernetes: something that is told which object may need work, compares what is with
//! what should be, and says what to change. It holds no clock, no client and no queue; the world has them.

use rehome_k8s::{Key, Kind, Record, View};
use rehome_model::Timestamp;

pub mod attach_detach;
pub mod daemonset;
pub mod deployment;
pub mod disruption;
pub mod endpointslice;
pub mod garbage;
pub mod job;
pub mod node_taints;
pub mod provisioner;
mod ranking;
pub mod replicaset;
mod rolling;
pub mod statefulset;

/// A controller of the cluster, the simulator's own or a stand-in for an operator.
pub trait Controller: Send {
    /// Who it is for the API server, as the audit log names it.
    fn user(&self) -> &'static str;

    /// The objects to look at after a change: what an informer's event handler puts on the work queue.
    fn concerned(&self, view: &View, change: &Change) -> Vec<(Kind, Key)>;

    /// Compares an object with what it should be.
    fn reconcile(&mut self, view: &View, kind: Kind, key: &Key, now: Timestamp) -> Reconciled;

    /// A copy with the same memory, for a fork of the world.
    fn fork(&self) -> Box<dyn Controller>;
}

/// A change of one object, as a watch brings it.
#[derive(Clone, Debug)]
pub struct Change {
    /// The object before; `None` for one that was created.
    pub before: Option<Record>,
    /// The object afterwards; `None` for one that is gone.
    pub after: Option<Record>,
}

impl Change {
    /// The newest state of the object.
    #[must_use]
    pub fn newest(&self) -> Option<&Record> {
        self.after.as_ref().or(self.before.as_ref())
    }
}

/// What a controller wants changed.
#[derive(Clone, Debug)]
pub enum Mutation {
    /// Creates an object. A name that ends in `-` is a `generateName`.
    Create(Record),
    /// Replaces the spec or the metadata of an object.
    Update(Record),
    /// Replaces the status of an object.
    Status(Record),
    /// Deletes an object, with its own grace period.
    Delete(Kind, Key),
}

/// What came of a look at an object.
#[derive(Clone, Debug, Default)]
pub struct Reconciled {
    /// What to change, in order.
    pub mutations: Vec<Mutation>,
    /// When to look again even if nothing changes.
    pub requeue: Option<Timestamp>,
}

/// The controllers that every cluster has.
#[must_use]
pub fn standard() -> Vec<Box<dyn Controller>> {
    vec![
        Box::new(deployment::Deployments),
        Box::new(replicaset::ReplicaSets { kind: Kind::ReplicaSet }),
        Box::new(replicaset::ReplicaSets { kind: Kind::ReplicationController }),
        Box::new(statefulset::StatefulSets),
        Box::new(daemonset::DaemonSets),
        Box::new(job::Jobs),
        Box::new(disruption::Disruption::default()),
        Box::new(endpointslice::EndpointSlices),
        Box::new(garbage::GarbageCollector),
        Box::new(provisioner::Provisioner),
        Box::new(node_taints::NodeTaints),
        Box::new(attach_detach::AttachDetach),
    ]
}

/// The objects to look at when an object of `kind` or a pod that one controls has changed.
fn itself_or_owner(kind: Kind, change: &Change) -> Vec<(Kind, Key)> {
    let mut keys = Vec::new();
    for record in [&change.before, &change.after].into_iter().flatten() {
        let key = if record.kind() == kind {
            record.key()
        } else if let Some(owner) = &record.meta().controller
            && owner.kind == kind.name()
        {
            Key::new(record.meta().namespace.clone(), owner.name.clone())
        } else {
            continue;
        };
        if !keys.contains(&(kind, key.clone())) {
            keys.push((kind, key));
        }
    }
    keys
}

/// Whether a pod counts for its controller: not finished, not on its way out.
/// Source: `k8s.io/kubernetes/pkg/controller/controller_utils.go`, `IsPodActive`.
fn active(pod: &rehome_k8s::pod::Pod) -> bool {
    !pod.finished() && pod.meta.deleting.is_none()
}

/// Whether a pod has been Ready for long enough, and otherwise when it will have been.
/// Source: `k8s.io/kubernetes/pkg/api/v1/pod/util.go`, `IsPodAvailable`.
fn available(pod: &rehome_k8s::pod::Pod, min_ready_seconds: i64, now: Timestamp) -> Result<(), Option<Timestamp>> {
    if !pod.ready {
        return Err(None);
    }
    let Some(since) = pod.timing.ready else { return Ok(()) };
    let at = since + rehome_model::time::Seconds::new(min_ready_seconds);
    if at <= now { Ok(()) } else { Err(Some(at)) }
}

/// A count as the API's integers are.
fn count(number: usize) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}

/// The earlier of two times to look again.
fn sooner(a: Option<Timestamp>, b: Option<Timestamp>) -> Option<Timestamp> {
    match (a, b) {
        (Some(a), Some(b)) => Some(a.min(b)),
        (a, b) => a.or(b),
    }
}
