//! StatefulSets: pods with names that come back.
//!
//! A successor has the name of its predecessor, so that it can be created only once the old object is gone.
//! Source: `k8s.io/kubernetes/pkg/controller/statefulset/stateful_set_control.go`. Not modelled: rolling updates of the
//! template, `spec.ordinals.start`, claim retention, `podManagementPolicy: Parallel` with `maxUnavailable`.

use std::collections::BTreeMap;
use std::sync::Arc;

use rehome_k8s::pod::{Phase, Pod, Volume};
use rehome_k8s::storage::PersistentVolumeClaim;
use rehome_k8s::workload::{Workload, WorkloadStatus, WorkloadStrategy};
use rehome_k8s::{Key, Kind, Meta, Record, View, template};
use rehome_model::{Timestamp, Uid};

use super::{Change, Controller, Mutation, Reconciled, available, count, itself_or_owner, sooner};

/// The controller of StatefulSets.
#[derive(Clone, Copy, Debug)]
pub struct StatefulSets;

/// Source: `k8s.io/api/apps/v1`, `PodIndexLabel`.
const INDEX_LABEL: &str = "apps.kubernetes.io/pod-index";

impl Controller for StatefulSets {
    fn user(&self) -> &'static str {
        "system:serviceaccount:kube-system:statefulset-controller"
    }

    fn concerned(&self, _view: &View, change: &Change) -> Vec<(Kind, Key)> {
        itself_or_owner(Kind::StatefulSet, change)
    }

    fn reconcile(&mut self, view: &View, kind: Kind, key: &Key, now: Timestamp) -> Reconciled {
        let Some(set) = view.workload(kind, key) else { return Reconciled::default() };
        let pods: BTreeMap<i64, &Arc<Pod>> = view
            .pods_controlled_by(&set.meta.uid)
            .filter_map(|pod| Some((ordinal(&set.meta.name, &pod.meta.name)?, pod)))
            .collect();
        let mut requeue = None;
        let mut able = 0;
        for pod in pods.values() {
            match available(pod, set.min_ready_seconds, now) {
                Ok(()) => able += 1,
                Err(at) => requeue = sooner(requeue, at),
            }
        }
        let mut mutations = changes(view, set, &pods, now);
        let status = WorkloadStatus {
            observed_generation: set.meta.generation,
            replicas: count(pods.len()),
            updated: count(pods.len()),
            ready: count(pods.values().filter(|pod| pod.ready).count()),
            available: able,
            ..set.status
        };
        if status != set.status {
            let set = Workload { status, ..(**set).clone() };
            mutations.push(Mutation::Status(Record::StatefulSet(Arc::new(set))));
        }
        Reconciled { mutations, requeue }
    }

    fn fork(&self) -> Box<dyn Controller> {
        Box::new(*self)
    }
}

fn changes(view: &View, set: &Arc<Workload>, pods: &BTreeMap<i64, &Arc<Pod>>, now: Timestamp) -> Vec<Mutation> {
    let ordered = set.strategy != WorkloadStrategy::Parallel;
    let wanted = set.replicas.unwrap_or(1);
    let healthy = |pod: &Pod| {
        pod.phase == Phase::Running && pod.meta.deleting.is_none() && available(pod, set.min_ready_seconds, now).is_ok()
    };
    let mut mutations = Vec::new();
    for ordinal in 0..wanted {
        match pods.get(&ordinal) {
            None => {
                // The name can be held by a pod that somebody else made: then the API server refuses.
                let name = format!("{}-{ordinal}", set.meta.name);
                if view.pod(&Key::new(set.meta.namespace.clone(), name.clone())).is_none() {
                    mutations.extend(create(view, set, &name, ordinal, now));
                }
                if ordered {
                    return mutations;
                }
            }
            Some(pod) if pod.finished() => {
                if pod.meta.deleting.is_none() {
                    mutations.push(Mutation::Delete(Kind::Pod, pod.meta.key()));
                }
                if ordered {
                    return mutations;
                }
            }
            Some(pod) if ordered && !healthy(pod) => return mutations,
            Some(_) => {}
        }
    }
    // Scaling down: the highest first; in order, one at a time, and only while all below are healthy.
    for (_, pod) in pods.range(wanted..).rev() {
        if pod.meta.deleting.is_some() {
            if ordered {
                return mutations;
            }
            continue;
        }
        mutations.push(Mutation::Delete(Kind::Pod, pod.meta.key()));
        if ordered {
            return mutations;
        }
    }
    mutations
}

fn create(view: &View, set: &Workload, name: &str, ordinal: i64, now: Timestamp) -> Vec<Mutation> {
    let mut pod = template::pod(Kind::StatefulSet, set, name, Uid::default(), now);
    pod.meta.labels.insert(INDEX_LABEL.to_owned(), ordinal.to_string());
    let mut mutations = Vec::new();
    for template in &set.claim_templates {
        let claim = format!("{template}-{name}");
        let key = Key::new(set.meta.namespace.clone(), claim.clone());
        if view.get(Kind::PersistentVolumeClaim, &key).is_none()
            && pod.spec.volumes.contains(&Volume::Claim { name: claim })
        {
            mutations.push(Mutation::Create(Record::PersistentVolumeClaim(Arc::new(claim_of(view, set, key, now)))));
        }
    }
    mutations.push(Mutation::Create(Record::Pod(Arc::new(pod))));
    mutations
}

/// A claim like those of its siblings: records of StatefulSets keep the names of claim templates only.
fn claim_of(view: &View, set: &Workload, key: Key, now: Timestamp) -> PersistentVolumeClaim {
    let template = key.name.split(&format!("-{}-", set.meta.name)).next().unwrap_or_default().to_owned();
    let sibling = view.of_kind(Kind::PersistentVolumeClaim).find_map(|record| match record {
        Record::PersistentVolumeClaim(claim)
            if claim.meta.namespace == key.namespace
                && claim.meta.name.starts_with(&format!("{template}-{}-", set.meta.name)) =>
        {
            Some(claim)
        }
        _ => None,
    });
    PersistentVolumeClaim {
        meta: Meta { namespace: key.namespace, name: key.name, created: Some(now), ..Meta::default() },
        access_modes: sibling.map_or_else(|| vec!["ReadWriteOnce".to_owned()], |claim| claim.access_modes.clone()),
        storage_class: sibling.and_then(|claim| claim.storage_class.clone()),
        phase: "Pending".to_owned(),
        ..PersistentVolumeClaim::default()
    }
}

/// The ordinal in a pod's name.
fn ordinal(set: &str, pod: &str) -> Option<i64> {
    pod.strip_prefix(set)?.strip_prefix('-')?.parse().ok()
}
