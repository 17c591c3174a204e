//! A Job replaces a pod that was evicted.

use rehome_k8s::{Kind, readiness};
use serde_json::json;

use crate::objects::{created, pods, settled, template};
use crate::world::{ContractWorld, wait};

pub(crate) fn script(world: &mut dyn ContractWorld) {
    world.node("a", "4");
    let mut template = template("batch", "100m");
    template["spec"]["restartPolicy"] = "Never".into();
    created(
        world,
        &json!({"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": "batch"},
        "spec": {"template": template}}),
    );
    let before = settled(world, "batch", 1);
    let answer = world.evict(&before[0].meta.name, &before[0].meta.uid.0);
    assert_eq!(answer.code, 201, "{answer:?}");
    wait(world, "another pod of the Job", &[Kind::Pod], |view| {
        pods(view, "batch").iter().any(|pod| pod.meta.uid != before[0].meta.uid && readiness::serves(pod))
    });
}
