//! The one place that asks the scheduler model where a pod goes.

use std::collections::BTreeMap;

use rehome_k8s::View;
use rehome_k8s::pod::Pod;
use rehome_sched::Candidate;

/// The node that takes the pod, or the scheduler's sentence that says why none does.
pub(crate) fn choose(view: &View, pod: &Pod, seed: u64) -> Result<String, String> {
    rehome_sched::choose(view, &Candidate::of(pod), seed).map_err(|refused| refused.message)
}

/// The reasons in the scheduler's sentence, counted over nodes: `0/5 nodes are available: 2 Insufficient cpu, 3 …`.
#[must_use]
pub fn reasons(message: &str) -> BTreeMap<String, usize> {
    let list = message.split_once("are available: ").map_or("", |(_, list)| list);
    let list = list.split(". preemption:").next().unwrap_or_default().trim_end_matches('.');
    let mut found = BTreeMap::new();
    for part in list.split(", ") {
        if let Some((nodes, reason)) = part.split_once(' ')
            && let Ok(nodes) = nodes.parse()
        {
            found.insert(reason.to_owned(), nodes);
        }
    }
    found
}
