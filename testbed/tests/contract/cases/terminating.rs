//! A pod that is being deleted is evicted again without asking its budget.

use rehome_k8s::{Key, Kind};
use serde_json::json;

use crate::objects::{budget_is, created, pdb, played_pod};
use crate::world::ContractWorld;

pub(crate) fn script(world: &mut dyn ContractWorld) {
    world.node("a", "4");
    created(world, &played_pod("a", "db"));
    world.play_kubelet("a", true);
    created(world, &pdb("guard", "db", &json!({"minAvailable": 0})));
    budget_is(world, "guard", "one disruption allowed", |status| status.disruptions_allowed == 1);
    let key = Key::new(world.namespace(), "a");
    let uid = world.look(&[Kind::Pod]).pod(&key).unwrap().meta.uid.0.clone();
    assert_eq!(world.evict("a", &uid).code, 201);
    let deleting = world.look(&[Kind::Pod]).pod(&key).unwrap().meta.deleting;
    assert!(deleting.is_some(), "no kubelet has ended it");
    world.delete(Kind::PodDisruptionBudget, "guard");
    created(world, &pdb("guard", "db", &json!({"minAvailable": 1})));
    let status = budget_is(world, "guard", "nothing healthy", |status| status.desired_healthy == 1);
    assert_eq!((status.current_healthy, status.disruptions_allowed), (0, 0));
    let answer = world.evict("a", &uid);
    assert_eq!(answer.code, 201, "{answer:?}");
    assert_eq!(world.look(&[Kind::Pod]).pod(&key).unwrap().meta.deleting, deleting, "its time is not put off");
}
