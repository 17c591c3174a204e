//! Two budgets for one pod: 500 for ever, whatever they would allow, and neither is charged.

use rehome_k8s::{Kind, Record, View};
use serde_json::json;

use crate::objects::{created, deployment, pdb, settled};
use crate::world::{ContractWorld, wait};

pub(crate) fn script(world: &mut dyn ContractWorld) {
    world.node("a", "4");
    created(world, &deployment("web", 2, 1, 0));
    created(world, &pdb("one", "web", &json!({"minAvailable": 1})));
    created(world, &pdb("two", "web", &json!({"minAvailable": 0})));
    let pods = settled(world, "web", 2);
    // The controller keeps the numbers of one of the two only, of whichever it likes.
    let view =
        wait(world, "one of the budgets to be counted", &[Kind::PodDisruptionBudget], |view| counted(view).is_some());
    assert!(counted(&view).unwrap() > 0, "it would allow a disruption");
    let answer = world.evict(&pods[0].meta.name, &pods[0].meta.uid.0);
    assert_eq!((answer.code, answer.cause.as_deref()), (500, None));
    let sentence = "This pod has more than one PodDisruptionBudget, which the eviction subresource does not support.";
    assert_eq!(answer.message, sentence);
    assert_eq!(counted(&world.look(&[Kind::PodDisruptionBudget])), counted(&view), "no charge");
}

/// What the first budget that has counted both pods allows.
fn counted(view: &View) -> Option<i64> {
    view.of_kind(Kind::PodDisruptionBudget)
        .filter_map(
            |record| if let Record::PodDisruptionBudget(budget) = record { budget.status.as_ref() } else { None },
        )
        .find(|status| status.current_healthy == 2)
        .map(|status| status.disruptions_allowed)
}
