//! TaintToleration: taints that keep pods away must be tolerated.

use super::{Filter, incurable, one};

pub(super) const FILTER: Filter = Filter {
    plugin: "TaintToleration",
    active: |cycle| !cycle.model.nodes.answers(cycle.class.tainted).trivial(),
    passes: |cycle, node| cycle.model.nodes.answers(cycle.class.tainted).of(node) == 0,
    reasons: |_, _| one("node(s) had untolerated taint(s)"),
    curable: incurable,
};
