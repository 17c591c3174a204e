//! Pods that were Pending before.
//!
//! ## What it checks
//! A pod is Pending and not bound, and the move does not change that.
//!
//! ## Why it matters
//! Mistaking what was there before for damage done by the move costs more time than the move.
//!
//! ## How to fix
//! Nothing has to be done for the move. The reasons say what the pod lacks.

use rehome_k8s::Kind;
use rehome_model::finding::{Code, Severity};

use super::{Found, Rule};
use crate::draft::Draft;

pub(super) const RULE: Rule = Rule { code: Code(1011), name: "pending-before", needs: &[Kind::Pod, Kind::Node], check };

fn check(draft: &Draft<'_>) -> Vec<Found> {
    draft
        .pending
        .iter()
        .map(|pending| {
            let reasons: Vec<String> =
                pending.reasons.iter().map(|(reason, nodes)| format!("{nodes} {reason}")).collect();
            Found {
                severity: Severity::Note,
                subject: pending.pod.clone(),
                message: format!("Pending before the move, and it stays so: {}", reasons.join(", ")),
                remedies: Vec::new(),
            }
        })
        .collect()
}
