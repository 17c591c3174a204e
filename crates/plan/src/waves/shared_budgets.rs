//! Budgets over pods of more than one unit: such units never move at the same time.
//!
//! A rollout and a deletion do not ask budgets. If one took a pod while an eviction of another unit had the budget's last
//! disruption, fewer pods would be healthy than the budget wants.

use std::collections::{BTreeMap, BTreeSet};

use rehome_k8s::{Kind, budget};
use rehome_model::{Known, ObjectRef};

use crate::draft::Decision;
use crate::facts::Facts;

/// The budgets of each decision, by its index, that another unit is under, too.
pub(super) struct SharedBudgets(Vec<BTreeSet<ObjectRef>>);

impl SharedBudgets {
    pub(super) fn new(facts: &Facts<'_>, decisions: &[Decision]) -> Self {
        let of_unit = |decision: &Decision| {
            let budgets = decision.unit.leaving().map(|pod| match budget::of_pod(facts.view, pod) {
                Known::Known(budgets) => budgets,
                // Unknown budgets are kept by the API server; a rollout that needs them makes no bid.
                Known::Unknown(_) => Vec::new(),
            });
            let names = budgets.flatten().map(|budget| budget.meta.key().reference(Kind::PodDisruptionBudget));
            names.collect::<BTreeSet<_>>()
        };
        let mut units: Vec<BTreeSet<ObjectRef>> = decisions.iter().map(of_unit).collect();
        let mut uses: BTreeMap<ObjectRef, usize> = BTreeMap::new();
        for budget in units.iter().flatten() {
            *uses.entry(budget.clone()).or_default() += 1;
        }
        for budgets in &mut units {
            budgets.retain(|budget| uses.get(budget).is_some_and(|uses| *uses > 1));
        }
        Self(units)
    }

    /// What this unit must not share while it moves.
    pub(super) fn of(&self, decision: usize) -> BTreeSet<ObjectRef> {
        self.0.get(decision).cloned().unwrap_or_default()
    }
}
