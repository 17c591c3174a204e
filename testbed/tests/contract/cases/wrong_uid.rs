//! An eviction whose UID precondition fails is a conflict, and yet the budget is charged.

use serde_json::json;

use crate::objects::{budget_is, created, deployment, pdb, settled};
use crate::world::ContractWorld;

pub(crate) fn script(world: &mut dyn ContractWorld) {
    world.node("a", "4");
    created(world, &deployment("web", 3, 1, 0));
    created(world, &pdb("web", "web", &json!({"maxUnavailable": 1})));
    let pods = settled(world, "web", 3);
    budget_is(world, "web", "one disruption allowed", |status| status.disruptions_allowed == 1);

    let (wrong, right) = ("00000000-0000-4000-8000-000000000000", pods[0].meta.uid.0.clone());
    let answer = world.evict(&pods[0].meta.name, wrong);
    assert_eq!((answer.code, answer.cause.as_deref()), (409, None), "{answer:?}");
    let sentence = format!("the UID in the precondition ({wrong}) does not match the UID in record ({right})");
    assert!(answer.message.contains(&sentence), "{answer:?}");

    // The next eviction pays for the mistake, although all three pods are Ready.
    let answer = world.evict(&pods[1].meta.name, &pods[1].meta.uid.0);
    assert_eq!((answer.code, answer.cause.as_deref()), (429, Some("DisruptionBudget")), "{answer:?}");
    let status = budget_is(world, "web", "the pod to be counted as lost", |status| {
        status.disruptions_allowed == 0 && status.current_healthy == 2
    });
    assert!(status.disrupted_pods.contains(&pods[0].meta.name), "{status:?}");
    let still: Vec<_> = settled(world, "web", 3).iter().map(|pod| pod.meta.uid.clone()).collect();
    assert!(pods.iter().all(|pod| still.contains(&pod.meta.uid)), "no pod was touched");
}
