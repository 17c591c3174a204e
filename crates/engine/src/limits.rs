//! Which steps may be under way together: as many as the intent allows, no two that hold the same thing, and no more
//! workloads down at a time than the operator agreed to.

use rehome_model::plan::{Plan, Step};

/// Whether a step may begin beside those that are under way.
///
/// A unit that alone takes more workloads down than may be down at once is let through when nothing else is down: it was
/// planned, and shown with its outages, and would otherwise never move.
pub(crate) fn admit<'p>(step: &Step, plan: &Plan, under_way: impl Iterator<Item = &'p Step>) -> bool {
    let (mut moving, mut down) = (0, 0);
    for other in under_way {
        if !step.holds.is_disjoint(&other.holds) {
            return false;
        }
        // Only what moves pods counts.
        moving += usize::from(other.verb.moves_pods());
        down += other.outages;
    }
    let room = !step.verb.moves_pods() || moving < plan.intent.parallel.max(1);
    let bearable = step.outages == 0 || down == 0 || down + step.outages <= plan.intent.max_unavailable;
    room && bearable
}

#[cfg(test)]
mod tests {
    use rehome_model::ObjectRef;
    use serde_json::json;

    use super::*;

    fn step(outages: usize, holds: &[&str]) -> Step {
        let holds: Vec<ObjectRef> =
            holds.iter().map(|name| ObjectRef::namespaced("PodDisruptionBudget", "shop", *name)).collect();
        serde_json::from_value(json!({
            "name": "w1/move/shop/web", "verb": "evict", "lineages": [], "off": [], "onto": [], "after": {},
            "because": "", "requires": [], "establishes": [], "undo": {"undo": "nothing"}, "deadline": 1,
            "outages": outages, "holds": holds,
        }))
        .unwrap()
    }

    fn plan(parallel: usize, max_unavailable: usize) -> Plan {
        serde_json::from_value(json!({
            "apiVersion": "rehome.dev/v1alpha1", "kind": "Plan", "snapshot": rehome_model::Digest::zero(),
            "intent": {"apiVersion": "rehome.dev/v1alpha1", "kind": "Intent", "from": "a", "to": "b",
                "parallel": parallel, "maxUnavailable": max_unavailable},
            "cluster": {}, "sources": [], "targets": [], "bystanders": [], "moves": [], "stays": [], "pending": [],
            "waves": [], "findings": [],
        }))
        .unwrap()
    }

    #[test]
    fn moves_are_counted_and_a_nought_is_one() {
        let open = [step(0, &[]), step(0, &[])];
        assert!(admit(&step(0, &[]), &plan(3, 1), open.iter()));
        assert!(!admit(&step(0, &[]), &plan(2, 1), open.iter()));
        assert!(admit(&step(0, &[]), &plan(0, 0), [].iter()), "a wish for none would never end");
    }

    #[test]
    fn one_budget_is_held_by_one_step() {
        assert!(!admit(&step(0, &["db", "web"]), &plan(9, 9), [step(0, &["web"])].iter()));
        assert!(admit(&step(0, &["db"]), &plan(9, 9), [step(0, &["web"])].iter()));
    }

    #[test]
    fn outages_add_up_and_a_large_one_comes_alone() {
        assert!(admit(&step(1, &[]), &plan(9, 2), [step(1, &[])].iter()));
        assert!(!admit(&step(1, &[]), &plan(9, 2), [step(1, &[]), step(1, &[])].iter()));
        assert!(admit(&step(3, &[]), &plan(9, 2), [step(0, &[])].iter()), "it was planned and shown");
        assert!(!admit(&step(3, &[]), &plan(9, 2), [step(1, &[])].iter()));
        assert!(admit(&step(0, &[]), &plan(9, 1), [step(3, &[])].iter()), "what is never down may go on");
    }
}
