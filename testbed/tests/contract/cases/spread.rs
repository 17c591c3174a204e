//! Topology spread with the default taint policy: fenced nodes stay as empty domains and hold the minimum at zero, so
//! that the second replica has no place.

use rehome_k8s::{Kind, View};
use rehome_model::ObjectRef;
use rehome_model::verb::{Change, Field};
use serde_json::json;

use crate::objects::{created, deployment, pods, reasons, tolerate_others};
use crate::world::{ContractWorld, FENCES, wait};

pub(crate) fn script(world: &mut dyn ContractWorld) {
    for suffix in ["old-1", "old-2", "new"] {
        world.node(suffix, "4");
    }
    for suffix in ["old-1", "old-2"] {
        let fence = Change {
            target: ObjectRef::node(format!("{}-{suffix}", world.namespace())),
            field: Field::NoScheduleTaint { key: FENCES[1].to_owned() },
            from: None,
            to: Some("on".to_owned()),
        };
        assert_eq!(world.set_field(&fence).code, 200);
    }
    let mut spread = deployment("web", 2, 1, 0);
    spread["spec"]["template"]["spec"]["topologySpreadConstraints"] = json!([{"maxSkew": 1,
        "topologyKey": "kubernetes.io/hostname", "whenUnsatisfiable": "DoNotSchedule",
        "labelSelector": {"matchLabels": {"app": "web"}}}]);
    tolerate_others(&mut spread["spec"]["template"]["spec"], FENCES[1]);
    created(world, &spread);
    let message = |view: &View| pods(view, "web").iter().find_map(|pod| pod.unschedulable.clone());
    let view = wait(world, "one pod to have no place and the other to be Ready", &[Kind::Pod], |view| {
        message(view).is_some() && pods(view, "web").iter().any(|pod| pod.ready)
    });
    let found = reasons(&message(&view).unwrap());
    let expected = [
        ("node(s) didn't match pod topology spread constraints".to_owned(), 1),
        ("node(s) had untolerated taint(s)".to_owned(), 2),
    ];
    assert_eq!(found, expected.into(), "{:?}", message(&view));
}
