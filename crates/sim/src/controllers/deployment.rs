//! Deployments: one ReplicaSet for each template, and the way from one to the next.
//!
//! Source: `k8s.io/kubernetes/pkg/controller/deployment` (`sync.go`, `rolling.go`, `recreate.go`, `util`). Not modelled:
//! proportional scaling in the middle of a rollout, progress deadlines, collision counts, cleaning up of old revisions.

use std::collections::BTreeMap;
use std::sync::Arc;

use rehome_k8s::selector::Selector;
use rehome_k8s::template::Template;
use rehome_k8s::workload::{Workload, WorkloadStatus, WorkloadStrategy};
use rehome_k8s::{Key, Kind, Meta, OwnerRef, Record, View};
use rehome_model::Timestamp;

use super::{Change, Controller, Mutation, Reconciled, itself_or_owner, rolling};
use crate::random::hash_word;

/// The controller of Deployments.
#[derive(Clone, Copy, Debug)]
pub struct Deployments;

/// Source: `k8s.io/api/apps/v1`, `DefaultDeploymentUniqueLabelKey`.
pub const HASH_LABEL: &str = "pod-template-hash";
/// Source: `k8s.io/kubernetes/pkg/controller/deployment/util`, `RevisionAnnotation`.
pub const REVISION: &str = "deployment.kubernetes.io/revision";

impl Controller for Deployments {
    fn user(&self) -> &'static str {
        "system:serviceaccount:kube-system:deployment-controller"
    }

    fn concerned(&self, view: &View, change: &Change) -> Vec<(Kind, Key)> {
        let mut keys = itself_or_owner(Kind::Deployment, change);
        // A pod that is gone may let a Recreate go on.
        if change.after.is_none()
            && let Some(Record::Pod(pod)) = &change.before
            && let Some(set) = pod.meta.controller.as_ref().and_then(|owner| view.by_uid(&owner.uid))
            && let Some(above) = &set.meta().controller
            && above.kind == "Deployment"
        {
            keys.push((Kind::Deployment, Key::new(pod.meta.namespace.clone(), above.name.clone())));
        }
        keys
    }

    fn reconcile(&mut self, view: &View, _kind: Kind, key: &Key, now: Timestamp) -> Reconciled {
        let Some(deployment) = view.workload(Kind::Deployment, key) else { return Reconciled::default() };
        let sets = replica_sets(view, deployment);
        let newest = newest(deployment, &sets).cloned();
        let old: Vec<Arc<Workload>> = sets
            .iter()
            .filter(|set| newest.as_ref().is_none_or(|new| new.meta.uid != set.meta.uid))
            .map(|set| Arc::clone(set))
            .collect();
        let mut mutations = Vec::new();
        let wanted = deployment.replicas.unwrap_or(1);
        if !deployment.paused {
            match (&newest, &deployment.strategy) {
                (None, strategy) => {
                    if !matches!(strategy, WorkloadStrategy::Recreate) || recreate_may_start(view, &old, &mut mutations)
                    {
                        mutations.extend(create(deployment, &sets, now));
                    }
                }
                (Some(new), WorkloadStrategy::Recreate) => {
                    if recreate_may_start(view, &old, &mut mutations) && new.replicas != Some(wanted) {
                        mutations.push(scaled(new, wanted));
                    }
                }
                (Some(new), _) => mutations.extend(rolling::step(deployment, new, &old)),
            }
        } else if let Some(new) =
            newest.as_ref().filter(|new| old.iter().all(|set| set.replicas == Some(0)) && new.replicas != Some(wanted))
        {
            mutations.push(scaled(new, wanted));
        }
        let status = status(deployment, newest.as_deref(), &sets);
        if status != deployment.status {
            let changed = Workload { status, ..(**deployment).clone() };
            mutations.push(Mutation::Status(Record::Deployment(Arc::new(changed))));
        }
        Reconciled { mutations, requeue: None }
    }

    fn fork(&self) -> Box<dyn Controller> {
        Box::new(*self)
    }
}

/// The ReplicaSets of a Deployment, oldest first.
fn replica_sets<'v>(view: &'v View, deployment: &Workload) -> Vec<&'v Arc<Workload>> {
    let mut sets: Vec<_> = view
        .controlled_by(&deployment.meta.uid)
        .filter_map(|record| if let Record::ReplicaSet(set) = record { Some(set) } else { None })
        .collect();
    sets.sort_by_key(|set| (set.meta.created, set.meta.name.clone()));
    sets
}

/// The ReplicaSet that was made from the Deployment's template.
///
/// Records do not hold images, so that several old ReplicaSets can look alike; among those, the one whose revision the
/// Deployment names is meant, and otherwise the one of the highest revision.
pub(crate) fn newest<'s>(deployment: &Workload, sets: &[&'s Arc<Workload>]) -> Option<&'s Arc<Workload>> {
    let named = deployment.meta.annotations.get(REVISION);
    sets.iter()
        .copied()
        .filter(|set| same_template(&deployment.template, &set.template))
        .max_by_key(|set| (named.is_some() && set.meta.annotations.get(REVISION) == named, revision(set)))
}

/// Source: `util.EqualIgnoreHash`.
fn same_template(deployment: &Template, set: &Template) -> bool {
    let hash = |(key, _): &(&String, &String)| *key != HASH_LABEL;
    deployment.annotations == set.annotations
        && deployment.spec == set.spec
        && deployment.labels.iter().filter(hash).eq(set.labels.iter().filter(hash))
}

/// The revision of a ReplicaSet; 0 where it has none.
pub(crate) fn revision(set: &Workload) -> i64 {
    set.meta.annotations.get(REVISION).and_then(|text| text.parse().ok()).unwrap_or(0)
}

fn create(deployment: &Arc<Workload>, sets: &[&Arc<Workload>], now: Timestamp) -> Vec<Mutation> {
    let hash = hash_word(&format!("{:?}", deployment.template));
    let next = sets.iter().map(|set| revision(set)).max().unwrap_or(0) + 1;
    let mut template = deployment.template.clone();
    template.labels.insert(HASH_LABEL.to_owned(), hash.clone());
    let revision = BTreeMap::from([(REVISION.to_owned(), next.to_string())]);
    let hash_label = BTreeMap::from([(HASH_LABEL.to_owned(), hash.clone())]);
    let selector = match (&deployment.selector, Selector::of_labels(&hash_label)) {
        (Selector::All(own), Selector::All(hash)) => Selector::All(own.iter().cloned().chain(hash).collect()),
        (_, hash) => hash,
    };
    let set = Workload {
        meta: Meta {
            namespace: deployment.meta.namespace.clone(),
            name: format!("{}-{hash}", deployment.meta.name),
            labels: template.labels.clone(),
            annotations: revision.clone(),
            controller: Some(OwnerRef {
                api_version: Kind::Deployment.api_version().to_owned(),
                kind: Kind::Deployment.name().to_owned(),
                name: deployment.meta.name.clone(),
                uid: deployment.meta.uid.clone(),
            }),
            created: Some(now),
            ..Meta::default()
        },
        replicas: Some(rolling::first_size(deployment, sets)),
        selector,
        template,
        strategy: WorkloadStrategy::NotApplicable,
        min_ready_seconds: deployment.min_ready_seconds,
        ..Workload::default()
    };
    let mut deployment = (**deployment).clone();
    deployment.meta.annotations.extend(revision);
    vec![
        Mutation::Create(Record::ReplicaSet(Arc::new(set))),
        Mutation::Update(Record::Deployment(Arc::new(deployment))),
    ]
}

/// Scales the old ReplicaSets to zero; whether none of their pods is left, not even a terminating one.
/// Source: `recreate.go`, `oldPodsRunning`.
fn recreate_may_start(view: &View, old: &[Arc<Workload>], mutations: &mut Vec<Mutation>) -> bool {
    let mut free = true;
    for set in old {
        if set.replicas != Some(0) {
            mutations.push(scaled(set, 0));
            free = false;
        }
        free &= view.pods_controlled_by(&set.meta.uid).all(|pod| pod.finished());
    }
    free
}

/// A ReplicaSet asked for another number of pods.
pub(super) fn scaled(set: &Arc<Workload>, replicas: i64) -> Mutation {
    let set = Workload { replicas: Some(replicas), ..(**set).clone() };
    Mutation::Update(Record::ReplicaSet(Arc::new(set)))
}

/// Source: `sync.go`, `calculateStatus`.
fn status(deployment: &Workload, newest: Option<&Workload>, sets: &[&Arc<Workload>]) -> WorkloadStatus {
    let sum = |counter: fn(&WorkloadStatus) -> i64| sets.iter().map(|set| counter(&set.status)).sum();
    WorkloadStatus {
        observed_generation: deployment.meta.generation,
        replicas: sum(|status| status.replicas),
        updated: newest.map_or(0, |set| set.status.replicas),
        ready: sum(|status| status.ready),
        available: sum(|status| status.available),
        ..deployment.status
    }
}
