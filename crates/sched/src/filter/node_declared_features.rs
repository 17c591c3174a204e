//! NodeDeclaredFeatures: what a pod needs of a kubelet must be declared by it.

use super::{Filter, incurable, one};

pub(super) const FILTER: Filter = Filter {
    plugin: "NodeDeclaredFeatures",
    active: |cycle| cycle.class.lacks.is_some_and(|question| !cycle.model.nodes.answers(question).trivial()),
    passes: |cycle, node| cycle.class.lacks.is_none_or(|question| cycle.model.nodes.answers(question).of(node) == 0),
    reasons: |_, _| one("node(s) didn't match Pod's required features"),
    curable: incurable,
};
