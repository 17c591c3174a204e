//! An eviction is a new object, and a namespace that is being deleted takes none.

use rehome_k8s::{Key, Kind};

use crate::objects::{created, played_pod};
use crate::world::ContractWorld;

pub(crate) fn script(world: &mut dyn ContractWorld) {
    world.node("a", "4");
    created(world, &played_pod("a", "db"));
    world.play_kubelet("a", true);
    let key = Key::new(world.namespace(), "a");
    let uid = world.look(&[Kind::Pod]).pod(&key).unwrap().meta.uid.0.clone();
    world.terminate_namespace();
    let answer = world.evict("a", &uid);
    assert_eq!((answer.code, answer.cause.as_deref()), (403, Some("NamespaceTerminating")), "{answer:?}");
}
