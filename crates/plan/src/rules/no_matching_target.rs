//! No target that a pod may use.
//!
//! ## What it checks
//! A pod's node selector, node affinity, tolerations and requests exclude every target, even if it were empty: a label
//! that only the old pool carries, a taint of the new pool, a pod larger than a node.
//!
//! ## Why it matters
//! Its successor would stay Pending for good.
//!
//! ## How to fix
//! Give a target the label, or the workload the toleration; or leave out the node that it stands on.

use rehome_k8s::Kind;
use rehome_model::finding::{Code, Severity};

use super::volume_cannot_follow::by_volume;
use super::{Found, Rule};
use crate::draft::Draft;
use crate::facts::placement;

pub(super) const RULE: Rule =
    Rule { code: Code(1004), name: "no-matching-target", needs: &[Kind::Node, Kind::Pod], check };

fn check(draft: &Draft<'_>) -> Vec<Found> {
    let facts = &draft.facts;
    let mut found = Vec::new();
    for lineage in facts.units.iter().flat_map(|unit| &unit.lineages) {
        let Some(pod) = lineage.successors().into_iter().next() else { continue };
        let Some(rejections) = facts.emptied.impossible(&pod) else { continue };
        if by_volume(&rejections) {
            continue;
        }
        let mut asks: Vec<String> =
            pod.spec.node_selector.iter().map(|(key, value)| format!("{key}={value}")).collect();
        if pod.spec.affinity.node.is_some() {
            asks.push("its node affinity".to_owned());
        }
        let asks = if asks.is_empty() { String::new() } else { format!(" (it asks for {})", asks.join(", ")) };
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
