//! Least-loaded node first: it proves the mechanism before anything critical moves (flavor runbook, §5.1). Within a
//! wave, what can be lost without notice goes before what cannot: stateless, then several replicas, then singletons.

use std::collections::BTreeSet;

use super::Batch;
use crate::draft::Decision;
use crate::facts::Facts;

pub(super) fn batches(facts: &Facts<'_>, decisions: &[Decision], moved: BTreeSet<usize>) -> Vec<Batch> {
    let mut nodes: Vec<(i64, &String)> = facts.sources.iter().map(|name| (facts.now.load(name), name)).collect();
    nodes.sort();
    let mut done = moved;
    let mut batches = Vec::new();
    for (share, name) in nodes {
        let on_node = |decision: &Decision| decision.unit.leaving().any(|pod| pod.node.as_ref() == Some(name));
        let mut due: Vec<usize> =
            (0..decisions.len()).filter(|index| !done.contains(index) && on_node(&decisions[*index])).collect();
        due.sort_by_key(|index| (delicacy(&decisions[*index]), *index));
        done.extend(&due);
        batches.push(Batch {
            title: format!("empty {name} ({}.{} % of it is requested)", share / 10, share % 10),
            decisions: due,
            empties: Some(name.clone()),
        });
    }
    batches
}

/// What goes last: volumes, outages, forced deletions.
fn delicacy(decision: &Decision) -> (bool, usize, usize) {
    let claims = decision.unit.lineages.iter().any(|lineage| lineage.claims().next().is_some());
    (claims, decision.disruption.forced, decision.disruption.outages)
}
