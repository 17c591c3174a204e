//! Eviction: each pod is asked to go within its budget, and the next only when its successor stands.

use rehome_k8s::owner::Owner;
use rehome_k8s::readiness;
use rehome_model::plan::Disruption;

use super::{Bid, NoBid, Strategy, Way, budgets};
use crate::facts::Facts;
use crate::facts::units::{MoveUnit, UnitLineage};

/// The strategy.
pub const STRATEGY: Strategy = Strategy { name: "eviction", bid };

fn bid(facts: &Facts<'_>, unit: &MoveUnit) -> Result<Bid, NoBid> {
    if let Some(bare) = unit.lineages.iter().find(|lineage| lineage.owner == Owner::None) {
        return Err(NoBid::because(format!("nobody would create {} again", bare.workload)));
    }
    if let Some(obstacle) = budgets::obstacle(facts.view, unit) {
        return Err(NoBid::because(obstacle.because()));
    }
    Ok(Bid {
        disruption: Disruption {
            forced: 0,
            outages: outages(unit),
            needless_restarts: 0,
            missing_at_worst: missing(unit),
        },
        way: Way::Evict,
        side_effects: lost_data(unit),
    })
}

/// Lineages that have no Ready pod for some time: those of one pod, and those whose pods all go together.
pub(super) fn outages(unit: &MoveUnit) -> usize {
    let together = unit.lineages.len() > 1;
    let out = |lineage: &&UnitLineage| {
        let serve = lineage.leaving.iter().filter(|pod| readiness::serves(pod)).count();
        serve > 0 && lineage.serving_elsewhere() == 0 && (together || serve == 1)
    };
    unit.lineages.iter().filter(out).count()
}

fn missing(unit: &MoveUnit) -> usize {
    if unit.lineages.len() > 1 { unit.leaving().count() } else { 1 }
}

/// What a pod loses when it leaves its node.
pub(super) fn lost_data(unit: &MoveUnit) -> Vec<String> {
    use rehome_k8s::pod::Volume;
    let loses = |pod: &rehome_k8s::pod::Pod| {
        pod.spec.volumes.iter().any(|volume| matches!(volume, Volume::EmptyDir { memory: false }))
    };
    let pods = unit.leaving().filter(|pod| loses(pod)).count();
    if pods == 0 { Vec::new() } else { vec![format!("the emptyDir volumes of {pods} pods are lost")] }
}
