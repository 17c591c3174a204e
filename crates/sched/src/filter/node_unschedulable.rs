//! NodeUnschedulable: a cordoned node takes only pods that tolerate the cordon's taint.

use rehome_k8s::node::{Node, UNSCHEDULABLE_TAINT};
use rehome_k8s::toleration::{Effect, Taint};

use super::{Cycle, reject};
use crate::Rejection;

pub(super) fn filter(cycle: &Cycle<'_>, node: &Node) -> Result<(), Rejection> {
    if !node.unschedulable {
        return Ok(());
    }
    let taint = Taint { key: UNSCHEDULABLE_TAINT.to_owned(), value: String::new(), effect: Effect::NoSchedule };
    if cycle.pod.spec.tolerations.iter().any(|toleration| toleration.tolerates(&taint)) {
        Ok(())
    } else {
        Err(reject("NodeUnschedulable", "node(s) were unschedulable"))
    }
}
