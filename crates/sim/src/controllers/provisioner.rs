//! Claims: those of ephemeral volumes are created, and those that wait for a volume get one.
//!
//! Stands for the ephemeral volume controller, the PersistentVolume controller and a CSI provisioner at once. A class that
//! waits for its consumer gets its volume when a pod with the claim is bound, in that node's zone. How long a provisioner
//! takes is part of a pod's start in the `Behaviour`.

use std::sync::Arc;

use rehome_k8s::affinity::{NodeExpression, NodeOperator, NodeTerm};
use rehome_k8s::node::ZONE_LABEL;
use rehome_k8s::pod::{Pod, Volume};
use rehome_k8s::storage::{PersistentVolume, PersistentVolumeClaim, StorageClass};
use rehome_k8s::{Key, Kind, Meta, OwnerRef, Record, View};
use rehome_model::Timestamp;

use super::{Change, Controller, Mutation, Reconciled};

/// The provisioner.
#[derive(Clone, Copy, Debug)]
pub struct Provisioner;

impl Controller for Provisioner {
    fn user(&self) -> &'static str {
        "system:serviceaccount:kube-system:persistent-volume-binder"
    }

    fn concerned(&self, view: &View, change: &Change) -> Vec<(Kind, Key)> {
        match &change.after {
            Some(Record::PersistentVolumeClaim(claim)) if claim.volume.is_none() => {
                vec![(Kind::PersistentVolumeClaim, claim.meta.key())]
            }
            Some(Record::Pod(pod)) if !pod.spec.volumes.is_empty() => {
                let unbound = pod.claims().map(|name| Key::new(pod.meta.namespace.clone(), name)).filter(|key| {
                    !matches!(view.get(Kind::PersistentVolumeClaim, key),
                        Some(Record::PersistentVolumeClaim(claim)) if claim.volume.is_some())
                });
                unbound.map(|key| (Kind::PersistentVolumeClaim, key)).chain(ephemeral_key(pod)).collect()
            }
            _ => Vec::new(),
        }
    }

    fn reconcile(&mut self, view: &View, kind: Kind, key: &Key, now: Timestamp) -> Reconciled {
        let mutations = if kind == Kind::Pod {
            view.pod(key).map(|pod| ephemeral_claims(view, pod, now)).unwrap_or_default()
        } else if let Some(Record::PersistentVolumeClaim(claim)) = view.get(Kind::PersistentVolumeClaim, key)
            && claim.volume.is_none()
        {
            bind(view, claim, now)
        } else {
            Vec::new()
        };
        Reconciled { mutations, requeue: None }
    }

    fn fork(&self) -> Box<dyn Controller> {
        Box::new(*self)
    }
}

fn ephemeral_key(pod: &Pod) -> Option<(Kind, Key)> {
    let ephemeral = pod.spec.volumes.iter().any(|volume| matches!(volume, Volume::Ephemeral { .. }));
    ephemeral.then(|| (Kind::Pod, pod.meta.key()))
}

fn ephemeral_claims(view: &View, pod: &Pod, now: Timestamp) -> Vec<Mutation> {
    let owner = OwnerRef {
        api_version: Kind::Pod.api_version().to_owned(),
        kind: Kind::Pod.name().to_owned(),
        name: pod.meta.name.clone(),
        uid: pod.meta.uid.clone(),
    };
    pod.spec
        .volumes
        .iter()
        .filter_map(|volume| if let Volume::Ephemeral { name } = volume { Some(name) } else { None })
        .map(|volume| Key::new(pod.meta.namespace.clone(), format!("{}-{volume}", pod.meta.name)))
        .filter(|key| view.get(Kind::PersistentVolumeClaim, key).is_none())
        .map(|key| {
            Mutation::Create(Record::PersistentVolumeClaim(Arc::new(PersistentVolumeClaim {
                meta: Meta {
                    namespace: key.namespace,
                    name: key.name,
                    controller: Some(owner.clone()),
                    created: Some(now),
                    ..Meta::default()
                },
                access_modes: vec!["ReadWriteOnce".to_owned()],
                phase: "Pending".to_owned(),
                ..PersistentVolumeClaim::default()
            })))
        })
        .collect()
}

fn bind(view: &View, claim: &Arc<PersistentVolumeClaim>, now: Timestamp) -> Vec<Mutation> {
    let class = claim.storage_class.as_ref().and_then(|name| class(view, name));
    let consumer = view
        .pods_in(&claim.meta.namespace)
        .filter(|pod| pod.claims().any(|name| name == claim.meta.name))
        .find_map(|pod| view.node(pod.node.as_deref()?));
    if class.is_some_and(|class| class.waits_for_consumer) && consumer.is_none() {
        return Vec::new();
    }
    let zone = consumer.and_then(|node| node.meta.labels.get(ZONE_LABEL)).filter(|_| class.is_some());
    let volume = PersistentVolume {
        meta: Meta { name: format!("pvc-{}", claim.meta.uid), created: Some(now), ..Meta::default() },
        node_affinity: zone.map(|zone| vec![NodeTerm { labels: vec![in_zone(zone)], fields: Vec::new() }]),
        claim: Some((claim.meta.namespace.clone(), claim.meta.name.clone())),
        access_modes: claim.access_modes.clone(),
        reclaim_policy: class.map_or_else(|| "Delete".to_owned(), |class| class.reclaim_policy.clone()),
        storage_class: claim.storage_class.clone().unwrap_or_default(),
        driver: class.map(|class| class.provisioner.clone()).unwrap_or_default(),
        handle: None,
        phase: "Bound".to_owned(),
        size: claim.request.unwrap_or_default(),
        block: claim.block,
        attributes_class: claim.attributes_class.clone(),
    };
    let bound = PersistentVolumeClaim {
        volume: Some(volume.meta.name.clone()),
        bound: true,
        phase: "Bound".to_owned(),
        ..(**claim).clone()
    };
    vec![
        Mutation::Create(Record::PersistentVolume(Arc::new(volume))),
        Mutation::Update(Record::PersistentVolumeClaim(Arc::new(bound))),
    ]
}

fn class<'v>(view: &'v View, name: &str) -> Option<&'v Arc<StorageClass>> {
    match view.get(Kind::StorageClass, &Key::cluster(name))? {
        Record::StorageClass(class) => Some(class),
        _ => None,
    }
}

fn in_zone(zone: &str) -> NodeExpression {
    NodeExpression { key: ZONE_LABEL.to_owned(), operator: NodeOperator::In, values: vec![zone.to_owned()] }
}
