//! A budget that allows nothing: 429 with its cause, and the sentence names what it needs and has.

use serde_json::json;

use crate::objects::{budget_is, created, deployment, pdb, settled};
use crate::world::ContractWorld;

pub(crate) fn script(world: &mut dyn ContractWorld) {
    world.node("a", "4");
    created(world, &deployment("web", 2, 1, 0));
    created(world, &pdb("guard", "web", &json!({"minAvailable": 2})));
    let pods = settled(world, "web", 2);
    let status = budget_is(world, "guard", "two healthy pods", |status| status.current_healthy == 2);
    assert_eq!((status.disruptions_allowed, status.desired_healthy, status.expected_pods), (0, 2, 2));
    let answer = world.evict(&pods[0].meta.name, &pods[0].meta.uid.0);
    assert_eq!((answer.code, answer.cause.as_deref()), (429, Some("DisruptionBudget")));
    assert_eq!(answer.message, "The disruption budget guard needs 2 healthy pods and has 2 currently");
    // A wrong UID does not even come to be looked at.
    let answer = world.evict(&pods[0].meta.name, "00000000-0000-4000-8000-000000000000");
    assert_eq!((answer.code, answer.cause.as_deref()), (429, Some("DisruptionBudget")));
}
