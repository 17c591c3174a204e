//! An outage that nobody can avoid.
//!
//! ## What it checks
//! A workload has no Ready pod for some time while it moves: it has one replica and cannot surge, or all of its pods
//! move together.
//!
//! ## Why it matters
//! Whoever depends on it sees errors for as long.
//!
//! ## How to fix
//! Announce it; or raise its replicas until the move is over.

use rehome_k8s::{Kind, readiness};
use rehome_model::finding::{Code, Severity};
use rehome_model::time::Seconds;

use super::{Found, Rule};
use crate::draft::Draft;
use crate::facts::units::UnitLineage;

pub(super) const RULE: Rule = Rule { code: Code(1014), name: "singleton-outage", needs: &[Kind::Pod], check };

fn check(draft: &Draft<'_>) -> Vec<Found> {
    let mut found = Vec::new();
    for decision in draft.decisions.iter().filter(|decision| decision.disruption.outages > 0) {
        for lineage in &decision.unit.lineages {
            if lineage.serving_elsewhere() > 0 || !lineage.leaving.iter().any(|pod| readiness::serves(pod)) {
                continue;
            }
            let how_long = match last_start(lineage) {
                Some(took) => format!("its last start took {took}"),
                None => "how long its start takes is not known".to_owned(),
            };
            found.push(Found {
                severity: Severity::Warning,
                subject: lineage.workload.clone(),
                message: format!("no pod of it is Ready while it moves; {how_long}"),
                remedies: Vec::new(),
            });
        }
    }
    found
}

/// From bound to Ready, the slowest of its pods.
fn last_start(lineage: &UnitLineage) -> Option<Seconds> {
    lineage
        .leaving
        .iter()
        .filter_map(|pod| Some(pod.timing.ready? - pod.timing.scheduled?))
        .filter(|took| took.as_millis() >= 0)
        .max()
}
