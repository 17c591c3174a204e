//! An owner that is not understood.
//!
//! ## What it checks
//! A pod that has to leave is controlled by something that the capture does not hold: a custom resource of an operator,
//! or a controller that was deleted.
//!
//! ## Why it matters
//! Its operator decides how and when a pod is replaced; rehome evicts it within its budget and waits.
//!
//! ## How to fix
//! Ask the operator's documentation how it wants to be drained, and watch this one.

use std::collections::BTreeSet;

use rehome_k8s::Kind;
use rehome_k8s::owner::Owner;
use rehome_model::finding::{Code, Severity};

use super::{Found, Rule};
use crate::draft::Draft;

pub(super) const RULE: Rule = Rule {
    code: Code(1013),
    name: "owner-unseen",
    needs: &[Kind::Deployment, Kind::ReplicaSet, Kind::StatefulSet, Kind::Job],
    check,
};

fn check(draft: &Draft<'_>) -> Vec<Found> {
    let mut seen = BTreeSet::new();
    let lineages = draft.facts.units.iter().flat_map(|unit| &unit.lineages);
    lineages
        .filter_map(|lineage| match &lineage.owner {
            Owner::Unseen(owner) if seen.insert(owner.clone()) => Some(Found {
                severity: Severity::Warning,
                subject: owner.clone(),
                message: format!(
                    "controls {} pods that have to leave, and is not in the capture: how it replaces them is not known",
                    lineage.leaving.len()
                ),
                remedies: vec![format!("read how {} wants its nodes drained", owner.kind)],
            }),
            _ => None,
        })
        .collect()
}
