//! Percentages of a budget are of the owner's scale and round up.

use serde_json::json;

use crate::objects::{budget_is, created, deployment, pdb, settled};
use crate::world::ContractWorld;

pub(crate) fn script(world: &mut dyn ContractWorld) {
    world.node("a", "4");
    for (app, replicas) in [("three", 3), ("five", 5)] {
        created(world, &deployment(app, replicas, 1, 0));
    }
    created(world, &pdb("half-min", "three", &json!({"minAvailable": "50%"})));
    created(world, &pdb("quarter-max", "five", &json!({"maxUnavailable": "25%"})));
    created(world, &pdb("no-pods", "nobody", &json!({"maxUnavailable": "25%"})));
    settled(world, "three", 3);
    settled(world, "five", 5);
    let numbers = |world: &mut dyn ContractWorld, name: &str, healthy: i64| {
        let status = budget_is(world, name, "the pods to be counted", |status| status.current_healthy == healthy);
        (status.expected_pods, status.desired_healthy, status.disruptions_allowed)
    };
    assert_eq!(numbers(world, "half-min", 3), (3, 2, 1));
    assert_eq!(numbers(world, "quarter-max", 5), (5, 3, 2));
    assert_eq!(numbers(world, "no-pods", 0), (0, 0, 0));
}
