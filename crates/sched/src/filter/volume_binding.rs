//! VolumeBinding: where the claims' volumes are, or could be.
//!
//! A kind that could not be read rejects nothing. Not modelled: CSIStorageCapacity, and the sizes of volumes that exist
//! and wait for a claim. Source: `k8s.io/kubernetes/pkg/scheduler/framework/plugins/volumebinding`.

use rehome_k8s::affinity::any_term_matches;
use rehome_k8s::node::Node;
use rehome_k8s::storage::{PersistentVolumeClaim, StorageClass};
use rehome_k8s::{Key, Kind, Record, View};

use super::{Cycle, reject};
use crate::{Candidate, Rejection};

const PLUGIN: &str = "VolumeBinding";
/// No volume that waits for a claim suits, and none can be made on the node.
const NOTHING_TO_BIND: &str = "node(s) didn't find available persistent volumes to bind";
/// The provisioner of classes whose volumes are made by hand. Source: `k8s.io/component-helpers/storage/volume`.
const NO_PROVISIONER: &str = "kubernetes.io/no-provisioner";
/// Source: `k8s.io/component-helpers/storage/volume`, `IsDefaultStorageClassAnnotation`.
const DEFAULT_CLASS: &str = "storageclass.kubernetes.io/is-default-class";

/// What the claims say before any node is looked at (`PreFilter`): such a pod fits nowhere.
pub(super) fn blocked(view: &View, pod: &Candidate<'_>) -> Option<Rejection> {
    if view.gap(Kind::PersistentVolumeClaim).is_some() {
        return None;
    }
    for name in pod.spec.claims_of(pod.name) {
        let Some(claim) = claim(view, pod, &name) else {
            if is_ephemeral(pod, &name) {
                continue;
            }
            return Some(reject(PLUGIN, format!("persistentvolumeclaim {name:?} not found")));
        };
        if claim.phase == "Lost" {
            let volume = claim.volume.clone().unwrap_or_default();
            let reason = format!("persistentvolumeclaim {name:?} bound to non-existent persistentvolume {volume:?}");
            return Some(reject(PLUGIN, reason));
        }
        if claim.meta.deleting.is_some() {
            return Some(reject(PLUGIN, format!("persistentvolumeclaim {name:?} is being deleted")));
        }
        let waits = || class(view, claim).is_some_and(|class| class.waits_for_consumer);
        if claim.volume.is_none() && view.gap(Kind::StorageClass).is_none() && !waits() {
            return Some(reject(PLUGIN, "pod has unbound immediate PersistentVolumeClaims"));
        }
    }
    None
}

pub(super) fn filter(cycle: &Cycle<'_>, node: &Node) -> Result<(), Rejection> {
    let claims = cycle.pod.spec.claims_of(cycle.pod.name);
    for claim in claims.filter_map(|name| claim(cycle.view, cycle.pod, &name)) {
        check(cycle, claim, node)?;
    }
    Ok(())
}

fn claim<'v>(view: &'v View, pod: &Candidate<'_>, name: &str) -> Option<&'v PersistentVolumeClaim> {
    match view.get(Kind::PersistentVolumeClaim, &Key::new(pod.namespace, name))? {
        Record::PersistentVolumeClaim(claim) => Some(claim),
        _ => None,
    }
}

/// The claim of a generic ephemeral volume is made only once the pod exists.
fn is_ephemeral(pod: &Candidate<'_>, claim: &str) -> bool {
    pod.spec.volumes.iter().any(|volume| {
        matches!(volume, rehome_k8s::pod::Volume::Ephemeral { name } if claim == format!("{}-{name}", pod.name))
    })
}

fn check(cycle: &Cycle<'_>, claim: &PersistentVolumeClaim, node: &Node) -> Result<(), Rejection> {
    let labels = &node.meta.labels;
    if let Some(volume) = &claim.volume {
        let Some(Record::PersistentVolume(volume)) =
            cycle.view.get(Kind::PersistentVolume, &Key::cluster(volume.clone()))
        else {
            return Ok(());
        };
        return match &volume.node_affinity {
            Some(terms) if !any_term_matches(terms, node.name(), labels) => {
                // Up to 1.32 the sentence is "node(s) had volume node affinity conflict"; contract-tested on 1.37.
                Err(reject(PLUGIN, "node(s) didn't match PersistentVolume's node affinity"))
            }
            _ => Ok(()),
        };
    }
    if let Some(selected) = &claim.selected_node {
        // A volume is being made for this claim: on that node, or nowhere.
        return if selected == node.name() { Ok(()) } else { Err(reject(PLUGIN, NOTHING_TO_BIND)) };
    }
    let Some(class) = class(cycle.view, claim) else { return Ok(()) };
    if waiting_volume(cycle.view, claim, class, node) {
        return Ok(());
    }
    let topology =
        class.allowed_topologies.is_empty() || any_term_matches(&class.allowed_topologies, node.name(), labels);
    if class.provisioner == NO_PROVISIONER && cycle.view.gap(Kind::PersistentVolume).is_none() || !topology {
        return Err(reject(PLUGIN, NOTHING_TO_BIND));
    }
    Ok(())
}

/// Whether a volume of the class waits for a claim like this one, and can be reached from the node.
fn waiting_volume(view: &View, claim: &PersistentVolumeClaim, class: &StorageClass, node: &Node) -> bool {
    view.of_kind(Kind::PersistentVolume).any(|record| {
        let Record::PersistentVolume(volume) = record else { return false };
        volume.storage_class == class.meta.name
            && volume
                .claim
                .as_ref()
                .is_none_or(|(namespace, name)| *namespace == claim.meta.namespace && *name == claim.meta.name)
            && matches!(volume.phase.as_str(), "" | "Available")
            && claim.access_modes.iter().all(|mode| volume.access_modes.contains(mode))
            && volume.node_affinity.as_ref().is_none_or(|terms| any_term_matches(terms, node.name(), &node.meta.labels))
    })
}

/// The class of a claim. One that names none has the default class: the API server fills it in, a file may lack it.
fn class<'v>(view: &'v View, claim: &PersistentVolumeClaim) -> Option<&'v StorageClass> {
    let mut classes = view.of_kind(Kind::StorageClass).filter_map(|record| match record {
        Record::StorageClass(class) => Some(class.as_ref()),
        _ => None,
    });
    match &claim.storage_class {
        Some(name) => classes.find(|class| class.meta.name == *name),
        None => classes.find(|class| class.meta.annotations.get(DEFAULT_CLASS).is_some_and(|value| value == "true")),
    }
}
