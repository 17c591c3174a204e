//! A StatefulSet's successor has the old pod's name and is made only when that is free; in order, one starts after the
//! other.

use serde_json::json;

use crate::objects::{created, settled, workload};
use crate::timeline::{self, Step};
use crate::world::ContractWorld;

pub(crate) fn script(world: &mut dyn ContractWorld) {
    world.node("a", "4");
    created(world, &workload("StatefulSet", "db", 2, &json!({})));
    created(world, &workload("StatefulSet", "cache", 2, &json!({"podManagementPolicy": "Parallel"})));
    let pods = settled(world, "db", 2);
    let cache = settled(world, "cache", 2);
    let answer = world.evict("db-0", &pods[0].meta.uid.0);
    assert_eq!(answer.code, 201, "{answer:?}");
    let after = settled_anew(world, &pods[0].meta.uid.0);
    let happened = timeline::of_pods(&world.events());
    let at = |uid: &str, step| {
        timeline::place(&happened, uid, step).unwrap_or_else(|| panic!("{step:?} of {uid} in {happened:#?}"))
    };
    assert_eq!(after[0].meta.name, "db-0");
    assert!(at(&pods[0].meta.uid.0, Step::Gone) < at(&after[0].meta.uid.0, Step::Created));
    assert!(at(&pods[0].meta.uid.0, Step::Ready) < at(&pods[1].meta.uid.0, Step::Created), "OrderedReady");
    assert!(at(&cache[1].meta.uid.0, Step::Created) < at(&cache[0].meta.uid.0, Step::Ready), "Parallel");
}

fn settled_anew(world: &mut dyn ContractWorld, old: &str) -> Vec<std::sync::Arc<rehome_k8s::pod::Pod>> {
    loop {
        let pods = settled(world, "db", 2);
        if pods.iter().all(|pod| pod.meta.uid.0 != old) {
            return pods;
        }
        world.pass();
    }
}
