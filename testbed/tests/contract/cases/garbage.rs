//! What a Deployment made goes with it, pods last.

use rehome_k8s::Kind;

use crate::objects::{created, deployment, settled};
use crate::world::{ContractWorld, wait};

pub(crate) fn script(world: &mut dyn ContractWorld) {
    world.node("a", "4");
    created(world, &deployment("web", 2, 1, 0));
    settled(world, "web", 2);
    assert_eq!(world.delete(Kind::Deployment, "web").code, 200);
    wait(world, "ReplicaSet and pods to be gone", &[Kind::ReplicaSet, Kind::Pod], |view| {
        view.records().all(|record| !matches!(record.kind(), Kind::ReplicaSet | Kind::Pod))
    });
}
