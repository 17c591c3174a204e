//! Why a pod has no place, in the scheduler's words: resources, taints, cordon and affinity.

use rehome_k8s::{Key, Kind};
use rehome_model::ObjectRef;
use rehome_model::verb::{Change, Field};
use serde_json::{Value, json};

use crate::objects::{created, reasons, template, tolerate_others};
use crate::world::{ContractWorld, FENCES, alone, wait};

pub(crate) fn script(world: &mut dyn ContractWorld) {
    let _alone = alone();
    world.node("small", "1");
    world.node("cordoned", "4");
    world.node("fenced", "4");
    let node = |world: &dyn ContractWorld, suffix: &str| ObjectRef::node(format!("{}-{suffix}", world.namespace()));
    let cordon = Change {
        target: node(world, "cordoned"),
        field: Field::Unschedulable,
        from: None,
        to: Some("true".to_owned()),
    };
    let fence = Change {
        target: node(world, "fenced"),
        field: Field::NoScheduleTaint { key: FENCES[2].to_owned() },
        from: None,
        to: Some("on".to_owned()),
    };
    assert_eq!(world.set_field(&cordon).code, 200);
    assert_eq!(world.set_field(&fence).code, 200);

    let found = waits(world, "big", "3", &json!({}));
    let expected = [
        ("Insufficient cpu".to_owned(), 1),
        ("node(s) had untolerated taint(s)".to_owned(), 1),
        ("node(s) were unschedulable".to_owned(), 1),
    ];
    assert_eq!(found.1, expected.into(), "{}", found.0);

    // What the node selector excludes is not looked at further; a toleration of everything leaves the resources.
    let tolerant = json!({"tolerations": [{"operator": "Exists"}]});
    let found = waits(world, "huge", "30", &tolerant);
    assert_eq!(found.1, [("Insufficient cpu".to_owned(), 3)].into(), "{}", found.0);

    let elsewhere = json!({"affinity": {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution":
        {"nodeSelectorTerms": [{"matchExpressions": [{"key": "nowhere", "operator": "Exists"}]}]}}},
        "tolerations": [{"operator": "Exists"}]});
    let found = waits(world, "away", "100m", &elsewhere);
    assert!(found.0.contains("node(s) didn't match Pod's node affinity/selector"), "{}", found.0);
    assert_eq!(found.1, std::collections::BTreeMap::new(), "{}", found.0);
}

/// A pod that has no place: the scheduler's sentence, and the reasons for the case's own nodes.
fn waits(
    world: &mut dyn ContractWorld,
    name: &str,
    cpu: &str,
    more: &Value,
) -> (String, std::collections::BTreeMap<String, usize>) {
    let mut pod = template(name, cpu);
    pod["apiVersion"] = "v1".into();
    pod["kind"] = "Pod".into();
    pod["metadata"]["name"] = name.into();
    tolerate_others(&mut pod["spec"], FENCES[2]);
    for (field, value) in more.as_object().into_iter().flatten() {
        pod["spec"][field] = value.clone();
    }
    created(world, &pod);
    let key = Key::new(world.namespace(), name);
    let view = wait(world, "the scheduler to give up", &[Kind::Pod], |view| {
        view.pod(&key).is_some_and(|pod| pod.unschedulable.is_some())
    });
    let message = view.pod(&key).unwrap().unschedulable.clone().unwrap();
    let reasons = reasons(&message);
    (message, reasons)
}
