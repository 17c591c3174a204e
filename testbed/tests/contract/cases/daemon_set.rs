//! A fence that a DaemonSet does not tolerate: the pod that is there stays, a lost one does not come back, and it does
//! when the fence is taken away. A cordon keeps no DaemonSet's pod away.

use rehome_k8s::{Kind, readiness};
use rehome_model::ObjectRef;
use rehome_model::verb::{Change, Field};
use serde_json::json;

use crate::objects::{created, pods, settled, workload};
use crate::world::{ContractWorld, FENCES, alone, wait};

pub(crate) fn script(world: &mut dyn ContractWorld) {
    let _alone = alone();
    world.node("a", "4");
    world.node("b", "4");
    created(world, &workload("DaemonSet", "agent", 0, &json!({})));
    settled(world, "agent", 2);
    let a = format!("{}-a", world.namespace());
    let set = |field: Field, from: Option<&str>, to: Option<&str>| Change {
        target: ObjectRef::node(a.clone()),
        field,
        from: from.map(str::to_owned),
        to: to.map(str::to_owned),
    };
    let fence = || Field::NoScheduleTaint { key: FENCES[0].to_owned() };
    assert_eq!(world.set_field(&set(fence(), None, Some("on"))).code, 200);
    // The controller does not look: its status goes on counting the node, and the pod stays.
    let desired = |number: i64| {
        move |view: &rehome_k8s::View| {
            view.of_kind(Kind::DaemonSet).filter_map(|set| set.as_workload()).any(|set| set.replicas == Some(number))
        }
    };
    let all = settled(world, "agent", 2);
    let behind = all.iter().find(|pod| pod.node.as_deref() == Some(&a)).unwrap();
    assert_eq!(world.evict(&behind.meta.name, &behind.meta.uid.0).code, 201);
    settled(world, "agent", 1);
    wait(world, "the node to count no longer", &[Kind::DaemonSet], desired(1));

    // A second thing that the controller must have done by now shows that the first was not done.
    let b = format!("{}-b", world.namespace());
    let other = all.iter().find(|pod| pod.node.as_deref() == Some(&b)).unwrap();
    assert_eq!(world.evict(&other.meta.name, &other.meta.uid.0).code, 201);
    wait(world, "the pod on the other node to come back", &[Kind::Pod], |view| {
        pods(view, "agent").iter().any(|pod| readiness::serves(pod) && pod.meta.uid != other.meta.uid)
    });
    assert_eq!(settled(world, "agent", 1)[0].node.as_deref(), Some(b.as_str()));

    assert_eq!(world.set_field(&set(Field::Unschedulable, None, Some("true"))).code, 200);
    assert_eq!(world.set_field(&set(fence(), Some("on"), None)).code, 200);
    wait(world, "the fence to be seen to be away", &[Kind::DaemonSet], desired(2));
    settled(world, "agent", 2);
    assert_eq!(world.set_field(&set(Field::Unschedulable, Some("true"), None)).code, 200);
}
