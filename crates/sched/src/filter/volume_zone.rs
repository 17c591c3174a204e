//! VolumeZone: zone and region *labels* of a bound volume; its node affinity is VolumeBinding's concern.
//!
//! Source: `k8s.io/kubernetes/pkg/scheduler/framework/plugins/volumezone`.

use super::{Filter, incurable, one};
use crate::Rejection;
use crate::cycle::Cycle;

const PLUGIN: &str = "VolumeZone";

pub(super) const FILTER: Filter = Filter {
    plugin: PLUGIN,
    active: |cycle| cycle.volumes.zones.is_some(),
    passes: |cycle, node| cycle.volumes.zones.is_none_or(|question| cycle.model.nodes.answers(question).of(node) == 0),
    reasons: |_, _| one("node(s) had no available volume zone"),
    curable: incurable,
};

/// A claim that is missing, or has neither a volume nor a class that would make one.
pub(super) fn block(cycle: &Cycle<'_>) -> Option<Rejection> {
    let reason = cycle.volumes.no_zone.clone()?;
    Some(Rejection { plugin: PLUGIN, reasons: vec![reason] })
}
