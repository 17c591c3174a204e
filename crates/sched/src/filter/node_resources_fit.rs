//! NodeResourcesFit: requests, and the number of pods, against what is allocatable.
//!
//! Source: `k8s.io/kubernetes/pkg/scheduler/framework/plugins/noderesources/fit.go`, `fitsRequest`.

use super::Filter;
use crate::cycle::Cycle;

pub(crate) const FILTER: Filter =
    Filter {
        plugin: "NodeResourcesFit",
        active: |_| true,
        passes: |cycle, node| {
            let nodes = &cycle.model.nodes;
            let (pods, most) = nodes.pods(node);
            pods < most
                && cycle.class.load.requests.iter().all(|(resource, amount)| {
                    *amount <= nodes.allocatable(*resource)[node] - nodes.used(*resource)[node]
                })
        },
        reasons: |cycle, node| {
            let nodes = &cycle.model.nodes;
            let (pods, most) = nodes.pods(node);
            let mut reasons = Vec::new();
            if pods + 1 > most {
                reasons.push("Too many pods".to_owned());
            }
            for (resource, amount) in &cycle.class.load.requests {
                if *amount > nodes.allocatable(*resource)[node] - nodes.used(*resource)[node] {
                    reasons.push(format!("Insufficient {}", nodes.resource_name(*resource)));
                }
            }
            reasons
        },
        // A request above the size of the node is not helped by an empty node.
        curable: |cycle, node| above_size(cycle, node).next().is_none(),
    };

/// Of what the node has too little, as bits: the number of pods, then the pod's requests in order; what comes after the
/// 62nd counts as one.
pub(crate) fn short_of(cycle: &Cycle<'_>, node: usize) -> u64 {
    let nodes = &cycle.model.nodes;
    let (pods, most) = nodes.pods(node);
    let mut bits = u64::from(pods + 1 > most);
    for (place, (resource, amount)) in cycle.class.load.requests.iter().enumerate() {
        if *amount > nodes.allocatable(*resource)[node] - nodes.used(*resource)[node] {
            bits |= 1 << (place + 1).min(63);
        }
    }
    bits
}

/// Resources of which the pod asks more than the node has in all.
fn above_size<'c>(cycle: &'c Cycle<'_>, node: usize) -> impl Iterator<Item = usize> + 'c {
    let above = move |(resource, amount): &&(usize, i64)| *amount > cycle.model.nodes.allocatable(*resource)[node];
    cycle.class.load.requests.iter().filter(above).map(|(resource, _)| *resource)
}

/// Why the pod does not fit on the node even if it is empty.
pub(super) fn too_large(cycle: &Cycle<'_>, node: usize) -> Vec<String> {
    let none = cycle.model.nodes.pods(node).1 < 1;
    let resources = above_size(cycle, node).map(|resource| cycle.model.nodes.resource_name(resource));
    let resources = resources.map(|name| format!("Insufficient {name}"));
    none.then(|| "Too many pods".to_owned()).into_iter().chain(resources).collect()
}
