//! A running pod that is not Ready: with `IfHealthyBudget` it goes only when the others are healthy, with `AlwaysAllow`
//! always; and it never costs a place in the budget.

use rehome_k8s::{Key, Kind};
use serde_json::json;

use crate::objects::{budget_is, created, pdb, played_pod};
use crate::world::ContractWorld;

pub(crate) fn script(world: &mut dyn ContractWorld) {
    world.node("a", "4");
    for name in ["a", "b", "c"] {
        created(world, &played_pod(name, "db"));
        world.play_kubelet(name, name != "c");
    }
    let uid = |world: &mut dyn ContractWorld, name: &str| {
        let key = Key::new(world.namespace(), name);
        world.look(&[Kind::Pod]).pod(&key).unwrap().meta.uid.0.clone()
    };
    let c = uid(world, "c");
    created(world, &pdb("guard", "db", &json!({"minAvailable": 3})));
    budget_is(world, "guard", "two of three healthy", |status| {
        status.current_healthy == 2 && status.desired_healthy == 3
    });
    let answer = world.evict("c", &c);
    assert_eq!((answer.code, answer.cause.as_deref()), (429, Some("DisruptionBudget")), "{answer:?}");
    assert_eq!(answer.message, "The disruption budget guard needs 3 healthy pods and has 2 currently");

    world.delete(Kind::PodDisruptionBudget, "guard");
    created(world, &pdb("guard", "db", &json!({"minAvailable": 2})));
    budget_is(world, "guard", "two healthy of two", |status| {
        status.current_healthy == 2 && status.desired_healthy == 2
    });
    let answer = world.evict("c", &c);
    assert_eq!(answer.code, 201, "the others are healthy: {answer:?}");
    budget_is(world, "guard", "no charge", |status| status.disrupted_pods.is_empty());

    world.play_kubelet("b", false);
    world.delete(Kind::PodDisruptionBudget, "guard");
    let always = json!({"minAvailable": 2, "unhealthyPodEvictionPolicy": "AlwaysAllow"});
    created(world, &pdb("guard", "db", &always));
    budget_is(world, "guard", "one healthy", |status| status.current_healthy == 1);
    // The server takes the conflict for one over the version of the pod, which it has pinned itself.
    let answer = world.evict("b", "00000000-0000-4000-8000-000000000000");
    assert_eq!((answer.code, answer.cause.as_deref()), (429, Some("DisruptionBudget")), "{answer:?}");
    assert_eq!(answer.message, "The disruption budget guard is still being processed by the server.");
    let b = uid(world, "b");
    let answer = world.evict("b", &b);
    assert_eq!(answer.code, 201, "{answer:?}");
    let a = uid(world, "a");
    let answer = world.evict("a", &a);
    assert_eq!((answer.code, answer.cause.as_deref()), (429, Some("DisruptionBudget")), "a Ready pod is guarded");
}
