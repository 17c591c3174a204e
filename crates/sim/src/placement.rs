//! The reasons why a pod has no place, taken out of the scheduler's sentence.

use std::collections::BTreeMap;

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
