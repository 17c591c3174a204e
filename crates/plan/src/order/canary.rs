//! A canary first: a unit that nobody misses if the way does not work. No singletons, no volumes, the least disruption.

use crate::draft::Decision;

/// The index of the unit that moves first; none if there is only one unit, or only delicate ones.
pub(super) fn choose(decisions: &[Decision]) -> Option<usize> {
    if decisions.len() < 2 {
        return None;
    }
    let robust = |decision: &Decision| {
        let mut lineages = decision.unit.lineages.iter();
        decision.disruption.forced == 0
            && decision.disruption.outages == 0
            && lineages.all(|lineage| !lineage.singleton() && lineage.claims().next().is_none())
    };
    let candidates = decisions.iter().enumerate().filter(|(_, decision)| robust(decision));
    candidates
        .min_by_key(|(index, decision)| (decision.disruption.clone(), decision.unit.leaving().count(), *index))
        .map(|(index, _)| index)
}
