//! The one place that asks the scheduler model where a pod goes.

use std::collections::BTreeMap;

use rehome_k8s::affinity::any_term_matches;
use rehome_k8s::node::{Node, Resources};
use rehome_k8s::pod::Pod;
use rehome_k8s::{View, requests, toleration};

/// The node that takes the pod, or the scheduler's sentence that says why none does.
pub(crate) fn choose(view: &View, pod: &Pod, seed: u64) -> Result<String, String> {
    let mut reasons: BTreeMap<String, usize> = BTreeMap::new();
    let mut fitting: Vec<&str> = Vec::new();
    let mut total = 0_usize;
    for node in view.nodes() {
        total += 1;
        match rejects(view, node, pod) {
            Some(reason) => *reasons.entry(reason).or_default() += 1,
            None => fitting.push(node.name()),
        }
    }
    if fitting.is_empty() {
        let mut list: Vec<String> = reasons.iter().map(|(reason, nodes)| format!("{nodes} {reason}")).collect();
        list.sort();
        return Err(format!("0/{total} nodes are available: {}.", list.join(", ")));
    }
    let index = usize::try_from(seed).unwrap_or(0) % fitting.len();
    Ok(fitting[index].to_owned())
}

fn rejects(view: &View, node: &Node, pod: &Pod) -> Option<String> {
    let spec = &pod.spec;
    if node.unschedulable {
        return Some("node(s) were unschedulable".to_owned());
    }
    if let Some(taint) = toleration::untolerated(&node.taints, &spec.tolerations) {
        return Some(format!("node(s) had untolerated taint(s) ({taint})"));
    }
    let labels = &node.meta.labels;
    if spec.node_selector.iter().any(|(key, value)| labels.get(key) != Some(value))
        || spec.affinity.node.as_ref().is_some_and(|terms| !any_term_matches(terms, node.name(), labels))
    {
        return Some("node(s) didn't match Pod's node affinity/selector".to_owned());
    }
    let mut used = Resources::new();
    let mut pods = 1;
    for other in view.pods_on(node.name()).filter(|other| !other.finished()) {
        requests::add(&mut used, &other.spec.requests);
        pods += 1;
    }
    if node.allocatable.get("pods").is_some_and(|most| pods > *most) {
        return Some("Too many pods".to_owned());
    }
    spec.requests
        .iter()
        .find(|(name, amount)| {
            let free = node.allocatable.get(*name).unwrap_or(&0) - used.get(*name).unwrap_or(&0);
            **amount > 0 && **amount > free
        })
        .map(|(name, _)| format!("Insufficient {name}"))
}

/// The reasons in the scheduler's sentence, counted over nodes: `0/5 nodes are available: 2 Insufficient cpu, 3 …`.
pub(crate) fn reasons(message: &str) -> BTreeMap<String, usize> {
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
