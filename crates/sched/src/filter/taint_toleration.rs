//! TaintToleration: taints that keep pods away must be tolerated.

use rehome_k8s::node::Node;
use rehome_k8s::toleration;

use super::{Cycle, reject};
use crate::Rejection;

pub(super) fn filter(cycle: &Cycle<'_>, node: &Node) -> Result<(), Rejection> {
    match toleration::untolerated(&node.taints, &cycle.pod.spec.tolerations) {
        None => Ok(()),
        // From 1.34 on the taint itself is no longer in the sentence; contract-tested on 1.37.
        Some(_) => Err(reject("TaintToleration", "node(s) had untolerated taint(s)")),
    }
}
