//! A ReplicaSet makes the replacement as soon as the old pod begins to end: for a while there is one pod more.

use crate::objects::{created, deployment, settled};
use crate::timeline::{self, Step};
use crate::world::ContractWorld;

pub(crate) fn script(world: &mut dyn ContractWorld) {
    world.node("a", "4");
    created(world, &deployment("web", 2, 1, 0));
    let pods = settled(world, "web", 2);
    let answer = world.evict(&pods[0].meta.name, &pods[0].meta.uid.0);
    assert_eq!(answer.code, 201, "{answer:?}");
    let after = settled(world, "web", 2);
    let new = after.iter().find(|pod| pods.iter().all(|old| old.meta.uid != pod.meta.uid)).unwrap();
    let happened = timeline::of_pods(&world.events());
    let created = timeline::place(&happened, &new.meta.uid.0, Step::Created).unwrap();
    let ends = timeline::place(&happened, &pods[0].meta.uid.0, Step::Ends).unwrap();
    let gone = timeline::place(&happened, &pods[0].meta.uid.0, Step::Gone).unwrap();
    assert!(ends < created && created < gone, "{happened:#?}");
}
