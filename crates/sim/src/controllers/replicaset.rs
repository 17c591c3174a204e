//! ReplicaSets (and ReplicationControllers): keep a number of pods.
//!
//! A pod that is being deleted no longer counts, so its replacement is created while it still terminates.
//! Source: `k8s.io/kubernetes/pkg/controller/replicaset/replica_set.go`. Not modelled: adoption of orphans, expectations
//! (the view here is never behind the controller's own writes), slow start.

use std::sync::Arc;

use rehome_k8s::pod::Pod;
use rehome_k8s::workload::{Workload, WorkloadStatus};
use rehome_k8s::{Key, Kind, Record, View, template};
use rehome_model::{Timestamp, Uid};

use super::{Change, Controller, Mutation, Reconciled, active, available, count, itself_or_owner, ranking, sooner};

/// The controller of ReplicaSets or, as the two are alike, of ReplicationControllers.
#[derive(Clone, Copy, Debug)]
pub struct ReplicaSets {
    /// Which of the two.
    pub kind: Kind,
}

/// How many pods one sync creates or deletes. Source: `replica_set.go`, `BurstReplicas`.
const BURST: usize = 500;

impl Controller for ReplicaSets {
    fn user(&self) -> &'static str {
        match self.kind {
            Kind::ReplicationController => "system:serviceaccount:kube-system:replication-controller",
            _ => "system:serviceaccount:kube-system:replicaset-controller",
        }
    }

    fn concerned(&self, _view: &View, change: &Change) -> Vec<(Kind, Key)> {
        itself_or_owner(self.kind, change)
    }

    fn reconcile(&mut self, view: &View, kind: Kind, key: &Key, now: Timestamp) -> Reconciled {
        let Some(set) = view.workload(kind, key) else { return Reconciled::default() };
        let pods: Vec<&Arc<Pod>> = view.pods_controlled_by(&set.meta.uid).filter(|pod| active(pod)).collect();
        let mut mutations = Vec::new();
        let wanted = usize::try_from(set.replicas.unwrap_or(1)).unwrap_or(0);
        if pods.len() < wanted {
            for _ in 0..(wanted - pods.len()).min(BURST) {
                let pod = template::pod(kind, set, &format!("{}-", set.meta.name), Uid::default(), now);
                mutations.push(Mutation::Create(Record::Pod(Arc::new(pod))));
            }
        } else if pods.len() > wanted {
            let related = related(view, set);
            let chosen = ranking::to_delete(&pods, &related, (pods.len() - wanted).min(BURST), now);
            mutations.extend(chosen.into_iter().map(|key| Mutation::Delete(Kind::Pod, key)));
        }
        let (status, requeue) = status(set, &pods, now);
        if status != set.status {
            let set = Workload { status, ..(**set).clone() };
            mutations.extend(Record::workload(kind, set).map(Mutation::Status));
        }
        Reconciled { mutations, requeue }
    }

    fn fork(&self) -> Box<dyn Controller> {
        Box::new(*self)
    }
}

/// The counters, over the pods that were there before this sync's own writes, as the controller writes them.
fn status(set: &Workload, pods: &[&Arc<Pod>], now: Timestamp) -> (WorkloadStatus, Option<Timestamp>) {
    let mut requeue = None;
    let mut able = 0;
    for pod in pods {
        match available(pod, set.min_ready_seconds, now) {
            Ok(()) => able += 1,
            Err(at) => requeue = sooner(requeue, at),
        }
    }
    let status = WorkloadStatus {
        observed_generation: set.meta.generation,
        replicas: count(pods.len()),
        ready: count(pods.iter().filter(|pod| pod.ready).count()),
        available: able,
        ..set.status
    };
    (status, requeue)
}

/// Active pods of all ReplicaSets of the same Deployment: a node with several of them is thinned out first.
/// Source: `replica_set.go`, `getIndirectlyRelatedPods`.
fn related<'v>(view: &'v View, set: &Workload) -> Vec<&'v Arc<Pod>> {
    let siblings: Vec<Uid> = match &set.meta.controller {
        Some(owner) => view
            .controlled_by(&owner.uid)
            .filter(|record| record.kind() == Kind::ReplicaSet)
            .map(|record| record.meta().uid.clone())
            .collect(),
        None => vec![set.meta.uid.clone()],
    };
    siblings.iter().flat_map(|uid| view.pods_controlled_by(uid)).filter(|pod| active(pod)).collect()
}
