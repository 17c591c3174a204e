//! Reading the fields that rehome changes from a view.

use rehome_model::ObjectRef;
use rehome_model::verb::Field;

use crate::meta::Key;
use crate::record::{Kind, Record};
use crate::toleration::Effect;
use crate::view::View;

/// The value of a field; the outer `None` says that there is no such object.
#[must_use]
pub fn read(view: &View, target: &ObjectRef, field: &Field) -> Option<Option<String>> {
    let record = view.get(Kind::by_name(&target.kind)?, &Key::of(target))?;
    Some(match (field, record) {
        (Field::Unschedulable, Record::Node(node)) => node.unschedulable.then(|| "true".to_owned()),
        (Field::NoScheduleTaint { key }, Record::Node(node)) => node
            .taints
            .iter()
            .find(|taint| taint.key == *key && taint.effect == Effect::NoSchedule)
            .map(|taint| taint.value.clone()),
        (Field::TemplateAnnotation { key }, Record::Deployment(deployment)) => {
            deployment.template.annotations.get(key).cloned()
        }
        _ => return None,
    })
}
