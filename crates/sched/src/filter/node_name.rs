//! NodeName: a template that names its node.

use rehome_k8s::node::Node;

use super::{Cycle, reject};
use crate::Rejection;

pub(super) fn filter(cycle: &Cycle<'_>, node: &Node) -> Result<(), Rejection> {
    match &cycle.pod.spec.node_name {
        Some(name) if name != node.name() => Err(reject("NodeName", "node(s) didn't match the requested node name")),
        _ => Ok(()),
    }
}
