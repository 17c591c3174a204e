//! VolumeRestrictions: a claim with the access mode `ReadWriteOncePod` is one pod's, on whatever node; and in-tree disks
//! that two pods of a node can't share.
//!
//! Source: `k8s.io/kubernetes/pkg/scheduler/framework/plugins/volumerestrictions`.

use super::{Filter, curable, one};
use crate::Rejection;
use crate::cycle::Cycle;

const PLUGIN: &str = "VolumeRestrictions";
const DISK: &str = "node(s) had no available disk";
const ONE_POD: &str = "node(s) unavailable due to PersistentVolumeClaim with ReadWriteOncePod access mode already in-use \
                       by another pod";

fn disk_is_taken(cycle: &Cycle<'_>, node: usize) -> bool {
    let held = cycle.model.nodes.disks(node);
    cycle.pod.spec.disks.iter().any(|disk| held.iter().any(|other| disk.conflicts(other)))
}

pub(super) const FILTER: Filter = Filter {
    plugin: PLUGIN,
    active: |cycle| !cycle.pod.spec.disks.is_empty() || cycle.volumes.held_by_another(cycle.model),
    passes: |cycle, node| !disk_is_taken(cycle, node) && !cycle.volumes.held_by_another(cycle.model),
    reasons: |cycle, node| one(if disk_is_taken(cycle, node) { DISK } else { ONE_POD }),
    curable,
};

/// A claim that is missing.
pub(super) fn block(cycle: &Cycle<'_>) -> Option<Rejection> {
    let missing = cycle.volumes.missing.as_ref()?;
    Some(Rejection { plugin: PLUGIN, reasons: vec![format!("persistentvolumeclaim {missing:?} not found")] })
}
