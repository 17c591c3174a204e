//! VolumeBinding: where the claims' volumes are, or could be.
//!
//! Source: `k8s.io/kubernetes/pkg/scheduler/framework/plugins/volumebinding`.

use rehome_k8s::affinity::any_term_matches;
use rehome_k8s::node::Node;
use rehome_k8s::storage::{PersistentVolumeClaim, StorageClass};
use rehome_k8s::{Key, Kind, Record};

use super::{Cycle, reject};
use crate::Rejection;

const PLUGIN: &str = "VolumeBinding";

pub(super) fn filter(cycle: &Cycle<'_>, node: &Node) -> Result<(), Rejection> {
    for name in cycle.pod.spec.claims_of(cycle.pod.name) {
        let key = Key::new(cycle.pod.namespace, name.clone());
        let Some(Record::PersistentVolumeClaim(claim)) = cycle.view.get(Kind::PersistentVolumeClaim, &key) else {
            if cycle.view.gap(Kind::PersistentVolumeClaim).is_some() || is_ephemeral(cycle, &name) {
                continue;
            }
            return Err(reject(PLUGIN, format!("persistentvolumeclaim {name:?} not found")));
        };
        check(cycle, claim, node)?;
    }
    Ok(())
}

/// The claim of a generic ephemeral volume is made only once the pod exists.
fn is_ephemeral(cycle: &Cycle<'_>, claim: &str) -> bool {
    cycle.pod.spec.volumes.iter().any(|volume| {
        matches!(volume, rehome_k8s::pod::Volume::Ephemeral { name } if claim == format!("{}-{name}", cycle.pod.name))
    })
}

fn check(cycle: &Cycle<'_>, claim: &PersistentVolumeClaim, node: &Node) -> Result<(), Rejection> {
    if let Some(volume) = &claim.volume {
        let Some(Record::PersistentVolume(volume)) =
            cycle.view.get(Kind::PersistentVolume, &Key::cluster(volume.clone()))
        else {
            return Ok(());
        };
        return match &volume.node_affinity {
            Some(terms) if !any_term_matches(terms, node.name(), &node.meta.labels) => {
                // From 1.35 on the sentence says which volumes; contract-tested on 1.37.
                Err(reject(PLUGIN, "node(s) didn't match PersistentVolume's node affinity"))
            }
            _ => Ok(()),
        };
    }
    let Some(class) = class(cycle, claim) else { return Ok(()) };
    if !class.waits_for_consumer {
        return Err(reject(PLUGIN, "pod has unbound immediate PersistentVolumeClaims"));
    }
    if !class.allowed_topologies.is_empty()
        && !any_term_matches(&class.allowed_topologies, node.name(), &node.meta.labels)
    {
        return Err(reject(PLUGIN, "node(s) didn't find available persistent volumes to bind"));
    }
    Ok(())
}

fn class<'v>(cycle: &'v Cycle<'_>, claim: &PersistentVolumeClaim) -> Option<&'v StorageClass> {
    match cycle.view.get(Kind::StorageClass, &Key::cluster(claim.storage_class.clone()?))? {
        Record::StorageClass(class) => Some(class),
        _ => None,
    }
}
