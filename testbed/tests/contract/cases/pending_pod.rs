//! A Pending pod is evicted without asking its budget, and is gone at once where no node has it.

use rehome_k8s::{Key, Kind};
use serde_json::json;

use crate::objects::{created, pdb, template};
use crate::world::{ContractWorld, wait};

pub(crate) fn script(world: &mut dyn ContractWorld) {
    world.node("a", "1");
    let mut pod = template("big", "3");
    pod["apiVersion"] = "v1".into();
    pod["kind"] = "Pod".into();
    pod["metadata"]["name"] = "big".into();
    created(world, &pod);
    created(world, &pdb("guard", "big", &json!({"minAvailable": 1})));
    let key = Key::new(world.namespace(), "big");
    let view = wait(world, "the scheduler to give up", &[Kind::Pod], |view| {
        view.pod(&key).is_some_and(|pod| pod.unschedulable.is_some())
    });
    let uid = view.pod(&key).unwrap().meta.uid.0.clone();
    let answer = world.evict("big", &uid);
    assert_eq!(answer.code, 201, "{answer:?}");
    let view = world.look(&[Kind::Pod]);
    assert!(view.pod(&key).is_none(), "a pod without a node needs no grace");
}
