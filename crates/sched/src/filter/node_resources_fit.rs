//! NodeResourcesFit: requests, and the number of pods, against what is allocatable.
//!
//! Source: `k8s.io/kubernetes/pkg/scheduler/framework/plugins/noderesources/fit.go`, `fitsRequest`.

use rehome_k8s::node::{Node, Resources};

use super::Cycle;
use crate::{Rejection, used};

const PLUGIN: &str = "NodeResourcesFit";

pub(super) fn filter(cycle: &Cycle<'_>, node: &Node) -> Result<(), Rejection> {
    fits(&cycle.pod.spec.requests, &used(cycle.view, node.name(), Some(cycle.pod)), &node.allocatable)
}

/// Whether the node is large enough with nothing else on it.
pub(super) fn filter_on_empty(cycle: &Cycle<'_>, node: &Node) -> Result<(), Rejection> {
    fits(&cycle.pod.spec.requests, &Resources::new(), &node.allocatable)
}

fn fits(wanted: &Resources, used: &Resources, allocatable: &Resources) -> Result<(), Rejection> {
    let amount = |resources: &Resources, name: &str| resources.get(name).copied().unwrap_or_default();
    let mut reasons = Vec::new();
    if amount(used, "pods") + 1 > amount(allocatable, "pods") {
        reasons.push("Too many pods".to_owned());
    }
    // In the scheduler's order: cpu, memory, ephemeral-storage, then the others by name.
    let first = ["cpu", "memory", "ephemeral-storage"];
    let others = wanted.keys().map(String::as_str).filter(|name| !first.contains(name));
    for name in first.into_iter().chain(others) {
        let wanted = amount(wanted, name);
        if wanted > 0 && wanted > amount(allocatable, name).saturating_sub(amount(used, name)) {
            reasons.push(format!("Insufficient {name}"));
        }
    }
    if reasons.is_empty() { Ok(()) } else { Err(Rejection { plugin: PLUGIN, reasons }) }
}
