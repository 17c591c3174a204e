//! NodeAffinity: `nodeSelector` and required node affinity.

use rehome_k8s::affinity::any_term_matches;
use rehome_k8s::node::Node;
use rehome_k8s::pod::PodSpec;

use super::{Cycle, reject};
use crate::Rejection;

pub(super) fn filter(cycle: &Cycle<'_>, node: &Node) -> Result<(), Rejection> {
    if matches(cycle.pod.spec, node) {
        Ok(())
    } else {
        Err(reject("NodeAffinity", "node(s) didn't match Pod's node affinity/selector"))
    }
}

/// Whether a node has what the pod's selector and affinity ask for.
pub(super) fn matches(spec: &PodSpec, node: &Node) -> bool {
    let labels = &node.meta.labels;
    spec.node_selector.iter().all(|(key, value)| labels.get(key) == Some(value))
        && spec.affinity.node.as_ref().is_none_or(|terms| any_term_matches(terms, node.name(), labels))
}
