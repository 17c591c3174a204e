//! A pod that nobody could create today.
//!
//! ## What it checks
//! The pod that its owner's template makes is outside of a LimitRange of its namespace (`min`, `max`,
//! `maxLimitRequestRatio`, for each container and for the pod), or names a PriorityClass that is not there.
//!
//! ## Why it matters
//! LimitRanges and classes are looked at when a pod is created, and never again. The pod that runs today was created
//! before; its successor is refused ("forbidden"), no pod is Pending, and the workload has one pod less.
//!
//! ## How to fix
//! Change the template or the LimitRange, where they are declared; create the class.

use rehome_k8s::Kind;
use rehome_k8s::admission::Refused;
use rehome_model::finding::{Code, Severity};

use super::{Found, Rule};
use crate::draft::Draft;

pub(super) const RULE: Rule = Rule {
    code: Code(1021),
    name: "successor-refused",
    needs: &[Kind::Pod, Kind::LimitRange, Kind::PriorityClass],
    check,
};

fn check(draft: &Draft<'_>) -> Vec<Found> {
    let facts = &draft.facts;
    let refused = facts
        .units
        .iter()
        .flat_map(|unit| &unit.lineages)
        .filter_map(|lineage| Some((lineage, lineage.refused(facts.view)?)));
    refused
        .map(|(lineage, refused)| {
            let namespace = lineage.workload.namespace.clone().unwrap_or_default();
            let (by, remedy) = match &refused {
                Refused::LimitRange { name, .. } => (
                    format!("LimitRange {name}"),
                    format!("change its template, or the range: kubectl describe limitrange -n {namespace} {name}"),
                ),
                Refused::NoPriorityClass { class } => (
                    "admission".to_owned(),
                    format!("create PriorityClass {class}, or name another one in its template"),
                ),
            };
            Found {
                severity: Severity::Blocking,
                subject: lineage.workload.clone(),
                message: format!("its next pod would be refused by {by}: {refused}"),
                remedies: vec![remedy],
            }
        })
        .collect()
}
