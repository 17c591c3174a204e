//! NodeUnschedulable: a cordoned node takes only pods that tolerate the taint of a cordon.

use super::{Filter, incurable, one};

pub(super) const FILTER: Filter = Filter {
    plugin: "NodeUnschedulable",
    active: |cycle| !cycle.model.nodes.answers(cycle.class.cordoned).trivial(),
    passes: |cycle, node| cycle.model.nodes.answers(cycle.class.cordoned).of(node) == 0,
    reasons: |_, _| one("node(s) were unschedulable"),
    curable: incurable,
};
