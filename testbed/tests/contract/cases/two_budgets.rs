//! Two budgets for one pod: 500 for ever, whatever they would allow, and neither is charged.

use serde_json::json;

use crate::objects::{budget_is, created, deployment, pdb, settled};
use crate::world::ContractWorld;

pub(crate) fn script(world: &mut dyn ContractWorld) {
    world.node("a", "4", true);
    created(world, &deployment("web", 2, 1, 0));
    created(world, &pdb("one", "web", &json!({"minAvailable": 1})));
    created(world, &pdb("two", "web", &json!({"minAvailable": 0})));
    let pods = settled(world, "web", 2);
    budget_is(world, "one", "one disruption allowed", |status| status.disruptions_allowed == 1);
    budget_is(world, "two", "two disruptions allowed", |status| status.disruptions_allowed == 2);
    let answer = world.evict(&pods[0].meta.name, &pods[0].meta.uid.0);
    assert_eq!((answer.code, answer.cause.as_deref()), (500, None));
    let sentence = "This pod has more than one PodDisruptionBudget, which the eviction subresource does not support.";
    assert_eq!(answer.message, sentence);
    budget_is(world, "one", "no charge", |status| status.disruptions_allowed == 1 && status.disrupted_pods.is_empty());
}
