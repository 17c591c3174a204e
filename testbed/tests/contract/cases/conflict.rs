//! A field is changed only if it has the value that was expected.

use rehome_k8s::{Kind, field};
use rehome_model::ObjectRef;
use rehome_model::verb::{Change, Field};

use crate::objects::{created, deployment};
use crate::world::ContractWorld;

pub(crate) fn script(world: &mut dyn ContractWorld) {
    created(world, &deployment("web", 0, 1, 0));
    let target = ObjectRef::namespaced("Deployment", world.namespace(), "web");
    let note = Field::TemplateAnnotation { key: "note".to_owned() };
    let set = |from: &str, to: &str| Change {
        target: target.clone(),
        field: note.clone(),
        from: Some(from.to_owned()),
        to: Some(to.to_owned()),
    };
    let value = |world: &mut dyn ContractWorld| field::read(&world.look(&[Kind::Deployment]), &target, &note);
    let answer = world.set_field(&set("2", "3"));
    assert_eq!(answer.code, 422, "{answer:?}");
    assert_eq!(value(world), Some(Some("1".to_owned())));
    assert_eq!(world.set_field(&set("1", "2")).code, 200);
    assert_eq!(value(world), Some(Some("2".to_owned())));
    let nobody = Change { target: ObjectRef::namespaced("Deployment", world.namespace(), "nobody"), ..set("1", "2") };
    assert_eq!(world.set_field(&nobody).code, 404);
}
