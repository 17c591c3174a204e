//! Delete with consent: what no eviction can move. A deletion asks no budget, and a bare pod does not come back; so a
//! person has to agree, for each object.

use rehome_k8s::owner::Owner;
use rehome_model::plan::Disruption;

use super::{Bid, NoBid, Strategy, Way, budgets, eviction};
use crate::facts::Facts;
use crate::facts::units::MoveUnit;

/// The strategy.
pub const STRATEGY: Strategy = Strategy { name: "delete_with_consent", bid };

fn bid(facts: &Facts<'_>, unit: &MoveUnit) -> Result<Bid, NoBid> {
    let [lineage] = &unit.lineages[..] else {
        return Err(NoBid::because("several workloads share a volume and must move together"));
    };
    let bare = lineage.owner == Owner::None;
    if !bare && budgets::obstacle(facts.view, unit).is_none() {
        return Err(NoBid::because("an eviction is enough"));
    }
    let mut side_effects = eviction::lost_data(unit);
    side_effects.push(if bare {
        "nobody creates the pod again".to_owned()
    } else {
        "the deletion does not ask PodDisruptionBudgets".to_owned()
    });
    Ok(Bid {
        disruption: Disruption {
            forced: lineage.leaving.len(),
            outages: eviction::outages(unit),
            needless_restarts: 0,
            missing_at_worst: 1,
        },
        way: Way::Delete,
        side_effects,
    })
}
