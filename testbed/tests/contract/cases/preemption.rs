//! A pod of higher priority pushes out one of lower, although a budget forbids to take it away, and gets its place; one of
//! the same priority waits.

use rehome_k8s::{Key, Kind};
use serde_json::{Value, json};

use crate::objects::{created, pdb, template};
use crate::world::{ContractWorld, wait};

/// A priority class that every cluster has, and its value. Source: `k8s.io/api/scheduling/v1`, `SystemCriticalPriority`.
const CRITICAL: (&str, i64) = ("system-cluster-critical", 2_000_000_000);

fn pod(name: &str, more: &Value) -> Value {
    let mut pod = template(name, "800m");
    pod["apiVersion"] = "v1".into();
    pod["kind"] = "Pod".into();
    pod["metadata"]["name"] = name.into();
    for (field, value) in more.as_object().into_iter().flatten() {
        pod["spec"][field] = value.clone();
    }
    pod
}

pub(crate) fn script(world: &mut dyn ContractWorld) {
    world.node("a", "1");
    created(world, &pdb("low", "low", &json!({"minAvailable": 1})));
    created(world, &pod("low", &json!({})));
    let key = |world: &dyn ContractWorld, name: &str| Key::new(world.namespace(), name);
    let low = key(world, "low");
    wait(world, "the less important pod to be Ready", &[Kind::Pod], |view| view.pod(&low).is_some_and(|pod| pod.ready));

    created(world, &pod("equal", &json!({})));
    let equal = key(world, "equal");
    let view = wait(world, "an equal one to find no place", &[Kind::Pod], |view| {
        view.pod(&equal).is_some_and(|pod| pod.unschedulable.is_some())
    });
    assert!(view.pod(&low).unwrap().meta.deleting.is_none(), "it is not pushed out by an equal");

    created(world, &pod("high", &json!({"priorityClassName": CRITICAL.0, "priority": CRITICAL.1})));
    let high = key(world, "high");
    let view = wait(world, "the more important one to be Ready", &[Kind::Pod], |view| {
        view.pod(&high).is_some_and(|pod| pod.ready)
    });
    assert!(view.pod(&low).is_none(), "the less important one is gone");
    assert!(view.pod(&equal).is_some_and(|pod| pod.node.is_none()), "room was made for one pod only");
}
