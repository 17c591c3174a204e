//! A unit that nothing moves.
//!
//! ## What it checks
//! No strategy bids for a unit that has to leave: workloads that share a volume, of which one is under a budget that
//! never allows an eviction.
//!
//! ## Why it matters
//! There is no step for it in the plan.
//!
//! ## How to fix
//! Take away what keeps the strategies from bidding; the reasons are listed.

use rehome_k8s::Kind;
use rehome_model::ObjectRef;
use rehome_model::finding::{Code, Severity};

use super::{Found, Rule};
use crate::draft::Draft;

pub(super) const RULE: Rule = Rule { code: Code(1017), name: "no-strategy", needs: &[Kind::Pod], check };

fn check(draft: &Draft<'_>) -> Vec<Found> {
    draft
        .unmovable
        .iter()
        .map(|(unit, reasons)| {
            let reasons: Vec<String> = reasons.iter().map(|bid| format!("{}: {}", bid.strategy, bid.because)).collect();
            let subject = unit.lineages.first().map(|lineage| lineage.workload.clone());
            Found {
                severity: Severity::Blocking,
                subject: subject.unwrap_or_else(|| ObjectRef::cluster("Cluster", "")),
                message: format!("nothing moves {}: {}", unit.title(), reasons.join("; ")),
                remedies: vec!["change what the reasons name, and capture again".to_owned()],
            }
        })
        .collect()
}
