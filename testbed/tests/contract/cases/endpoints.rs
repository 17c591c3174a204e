//! A Service's endpoints: Ready pods are ready, and one that ends is not.

use rehome_k8s::service::Endpoint;
use rehome_k8s::{Kind, Record, View};
use serde_json::json;

use crate::objects::{created, played_pod};
use crate::world::{ContractWorld, wait};

pub(crate) fn script(world: &mut dyn ContractWorld) {
    world.node("a", "4");
    created(
        world,
        &json!({"apiVersion": "v1", "kind": "Service", "metadata": {"name": "db"},
        "spec": {"selector": {"app": "db"}, "ports": [{"port": 80}]}}),
    );
    for (name, ready) in [("a", true), ("b", false)] {
        created(world, &played_pod(name, "db"));
        world.play_kubelet(name, ready);
    }
    let view = wait(world, "two endpoints", &[Kind::EndpointSlice, Kind::Pod], |view| {
        ready(view) == [("a", true), ("b", false)]
    });
    let uid = view.pod(&rehome_k8s::Key::new(world.namespace(), "a")).unwrap().meta.uid.0.clone();
    assert_eq!(world.evict("a", &uid).code, 201);
    wait(world, "the endpoint of the pod that ends to be not ready", &[Kind::EndpointSlice], |view| {
        ready(view) == [("a", false), ("b", false)]
    });
}

fn ready(view: &View) -> Vec<(&str, bool)> {
    let mut found: Vec<(&str, bool)> = view
        .of_kind(Kind::EndpointSlice)
        .filter_map(|record| if let Record::EndpointSlice(slice) = record { Some(slice) } else { None })
        .flat_map(|slice| &slice.endpoints)
        .filter_map(|Endpoint { ready, pod, .. }| Some((pod.as_ref()?.0.as_str(), *ready)))
        .collect();
    found.sort_unstable();
    found
}
