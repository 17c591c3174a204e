//! `Recreate` makes no new pod before the last old one is gone.

use rehome_model::ObjectRef;
use rehome_model::verb::{Change, Field, RESTART_ANNOTATION};
use serde_json::json;

use crate::objects::{created, settled, workload};
use crate::timeline::{self, Step};
use crate::world::ContractWorld;

pub(crate) fn script(world: &mut dyn ContractWorld) {
    world.node("a", "4");
    created(world, &workload("Deployment", "db", 2, &json!({"strategy": {"type": "Recreate"}})));
    let before = settled(world, "db", 2);
    let answer = world.set_field(&Change {
        target: ObjectRef::namespaced("Deployment", world.namespace(), "db"),
        field: Field::TemplateAnnotation { key: RESTART_ANNOTATION.to_owned() },
        from: None,
        to: Some("2026-12-01T00:00:00Z".to_owned()),
    });
    assert_eq!(answer.code, 200, "{answer:?}");
    let after = loop {
        let pods = settled(world, "db", 2);
        if pods.iter().all(|pod| before.iter().all(|old| old.meta.uid != pod.meta.uid)) {
            break pods;
        }
        world.pass();
    };
    let happened = timeline::of_pods(&world.events());
    for new in &after {
        let created = timeline::place(&happened, &new.meta.uid.0, Step::Created).unwrap();
        for old in &before {
            let gone = timeline::place(&happened, &old.meta.uid.0, Step::Gone).unwrap();
            assert!(gone < created, "{happened:#?}");
        }
    }
}
