//! NodeName: a pod that names a node goes there. Such a pod never passes the scheduler; a template can name one.

use super::{Filter, incurable, one};

pub(super) const FILTER: Filter = Filter {
    plugin: "NodeName",
    active: |cycle| cycle.pod.spec.node_name.is_some(),
    passes: |cycle, node| {
        let name = cycle.model.nodes.get(node).map(|node| node.name());
        cycle.pod.spec.node_name.as_deref().is_none_or(|wanted| Some(wanted) == name)
    },
    reasons: |_, _| one("node(s) didn't match the requested node name"),
    curable: incurable,
};
