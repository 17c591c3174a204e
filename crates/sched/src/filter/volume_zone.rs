//! VolumeZone: zone and region *labels* of a bound volume; its node affinity is VolumeBinding's concern.
//!
//! Source: `k8s.io/kubernetes/pkg/scheduler/framework/plugins/volumezone`.

use rehome_k8s::node::Node;
use rehome_k8s::{Key, Kind, Record};

use super::{Cycle, reject};
use crate::Rejection;

/// The labels that are compared, beta ones included.
const TOPOLOGY_LABELS: [&str; 4] = [
    "topology.kubernetes.io/zone",
    "topology.kubernetes.io/region",
    "failure-domain.beta.kubernetes.io/zone",
    "failure-domain.beta.kubernetes.io/region",
];

pub(super) fn filter(cycle: &Cycle<'_>, node: &Node) -> Result<(), Rejection> {
    // A node without any topology label passes.
    if !TOPOLOGY_LABELS.iter().any(|label| node.meta.labels.contains_key(*label)) {
        return Ok(());
    }
    for name in cycle.pod.spec.claims_of(cycle.pod.name) {
        let claim = cycle.view.get(Kind::PersistentVolumeClaim, &Key::new(cycle.pod.namespace, name));
        let Some(Record::PersistentVolumeClaim(claim)) = claim else { continue };
        let Some(volume) = &claim.volume else { continue };
        let volume = cycle.view.get(Kind::PersistentVolume, &Key::cluster(volume.clone()));
        let Some(Record::PersistentVolume(volume)) = volume else { continue };
        for label in TOPOLOGY_LABELS {
            let Some(zones) = volume.meta.labels.get(label) else { continue };
            let have = node.meta.labels.get(label).or_else(|| node.meta.labels.get(stable(label)));
            // A set of zones is written with two underscores between them.
            if !have.is_some_and(|have| zones.split("__").any(|zone| zone == have)) {
                return Err(reject("VolumeZone", "node(s) had no available volume zone"));
            }
        }
    }
    Ok(())
}

/// The label that took the place of a beta one.
fn stable(label: &str) -> &str {
    match label {
        "failure-domain.beta.kubernetes.io/zone" => TOPOLOGY_LABELS[0],
        "failure-domain.beta.kubernetes.io/region" => TOPOLOGY_LABELS[1],
        other => other,
    }
}
