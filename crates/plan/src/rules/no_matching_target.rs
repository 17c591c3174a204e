//! No target that a pod may use.
//!
//! ## What it checks
//! A pod's node selector, node affinity, tolerations and requests exclude every target, even if it were empty: a label
//! that somebody set by hand or that only the old pool carries, a taint of the new pool, a pod larger than a node, a
//! feature that its kubelet does not declare. Labels that no target has are named.
//!
//! ## Why it matters
//! Its successor would stay Pending for good.
//!
//! ## How to fix
//! Give a target the label, or the workload the toleration; or leave out the node that it stands on.

use rehome_k8s::Kind;
use rehome_k8s::affinity::{NodeExpression, NodeOperator, NodeTerm};
use rehome_k8s::pod::Pod;
use rehome_model::finding::{Code, Severity};

use super::volume_cannot_follow::by_volume;
use super::{Found, Rule};
use crate::draft::Draft;
use crate::facts::{Facts, placement};

pub(super) const RULE: Rule =
    Rule { code: Code(1004), name: "no-matching-target", needs: &[Kind::Node, Kind::Pod], check };

fn check(draft: &Draft<'_>) -> Vec<Found> {
    let facts = &draft.facts;
    let mut found = Vec::new();
    for lineage in facts.units.iter().flat_map(|unit| &unit.lineages) {
        let Some(pod) = lineage.successors(facts.view).into_iter().next() else { continue };
        let Some(rejections) = facts.emptied.impossible(&pod) else { continue };
        if by_volume(&rejections) {
            continue;
        }
        let asks = asks(&pod);
        let missing: Vec<String> = asks
            .iter()
            .filter(|expression| !facts.targets.iter().any(|name| holds(facts, name, expression)))
            .map(ToString::to_string)
            .collect();
        let asks = match missing.as_slice() {
            [] => String::new(),
            missing => format!(" (no target has {})", missing.join(" nor ")),
        };
        found.push(Found {
            severity: Severity::Blocking,
            subject: lineage.workload.clone(),
            message: format!(
                "none of the {} targets may take its pods, even if empty{asks}: {}",
                facts.targets.len(),
                placement::sentence(&rejections)
            ),
            remedies: vec![
                "label or untaint a target so that it fits: kubectl label node NODE KEY=VALUE".to_owned(),
                "or change the workload's selector, affinity, tolerations or requests where they are declared"
                    .to_owned(),
            ],
        });
    }
    found
}

/// Labels that every node must have that takes the pod: its selector, and its node affinity if that has one term only.
fn asks(pod: &Pod) -> Vec<NodeExpression> {
    let equal = |(key, value): (&String, &String)| NodeExpression {
        key: key.clone(),
        operator: NodeOperator::In,
        values: vec![value.clone()],
    };
    let mut asks: Vec<NodeExpression> = pod.spec.node_selector.iter().map(equal).collect();
    if let Some([only]) = pod.spec.affinity.node.as_deref() {
        asks.extend(only.labels.iter().cloned());
    }
    asks
}

fn holds(facts: &Facts<'_>, node: &str, expression: &NodeExpression) -> bool {
    let term = NodeTerm { labels: vec![expression.clone()], fields: Vec::new() };
    facts.view.node(node).is_some_and(|node| term.matches(node.name(), &node.meta.labels))
}
