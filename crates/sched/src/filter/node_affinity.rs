//! NodeAffinity: `nodeSelector` and required node affinity.

use super::{Filter, incurable, one};
use crate::Rejection;
use crate::cycle::Cycle;
use crate::model::class::Named;

pub(crate) const PLUGIN: &str = "NodeAffinity";

pub(super) const FILTER: Filter = Filter {
    plugin: PLUGIN,
    active: |cycle| cycle.class.elsewhere.is_some_and(|question| !cycle.model.nodes.answers(question).trivial()),
    passes: |cycle, node| {
        cycle.class.elsewhere.is_none_or(|question| cycle.model.nodes.answers(question).of(node) == 0)
    },
    reasons: |_, _| one("node(s) didn't match Pod's node affinity/selector"),
    curable: incurable,
};

/// Terms that name nodes and contradict each other.
pub(super) fn block(cycle: &Cycle<'_>) -> Option<Rejection> {
    let conflict = cycle.class.named == Named::Conflict;
    conflict.then(|| Rejection { plugin: PLUGIN, reasons: one("pod affinity terms conflict") })
}
