//! VolumeRestrictions: a claim with the access mode `ReadWriteOncePod` is one pod's, on whatever node.
//!
//! The in-tree disks that the plugin also knows are not looked at: no current cluster has them.
//! Source: `k8s.io/kubernetes/pkg/scheduler/framework/plugins/volumerestrictions`.

use rehome_k8s::node::Node;
use rehome_k8s::{Key, Kind, Record, View};

use super::{Cycle, is_candidate, reject};
use crate::{Candidate, Rejection};

/// Whether another pod holds one of the pod's `ReadWriteOncePod` claims.
pub(super) fn held_by_another(view: &View, pod: &Candidate<'_>) -> bool {
    pod.spec.claims_of(pod.name).any(|name| {
        let claim = view.get(Kind::PersistentVolumeClaim, &Key::new(pod.namespace, name.clone()));
        let Some(Record::PersistentVolumeClaim(claim)) = claim else { return false };
        claim.access_modes.iter().any(|mode| mode == "ReadWriteOncePod")
            && view
                .pods_in(pod.namespace)
                .filter(|other| !other.finished() && other.node.is_some() && !is_candidate(other, pod))
                .any(|other| other.claims().any(|held| held == name))
    })
}

pub(super) fn filter(cycle: &Cycle<'_>, _: &Node) -> Result<(), Rejection> {
    if cycle.held_by_another {
        return Err(reject(
            "VolumeRestrictions",
            "node has pod using PersistentVolumeClaim with the same name and ReadWriteOncePod access mode",
        ));
    }
    Ok(())
}
