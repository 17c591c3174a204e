//! A pod that comes back.
//!
//! ## What it checks
//! A pod that has to leave tolerates every taint (`operator: Exists` without a key), and is no DaemonSet's.
//!
//! ## Why it matters
//! Neither the fence nor a cordon keeps its successor away: the scheduler may put it on the old node again, for ever.
//!
//! ## How to fix
//! Take the toleration away, or give the workload a node affinity for the new pool.

use rehome_k8s::Kind;
use rehome_model::finding::{Code, Severity};

use super::{Found, Rule};
use crate::draft::Draft;

pub(super) const RULE: Rule = Rule { code: Code(1008), name: "tolerates-everything", needs: &[Kind::Pod], check };

fn check(draft: &Draft<'_>) -> Vec<Found> {
    let facts = &draft.facts;
    let mut found = Vec::new();
    for lineage in facts.units.iter().flat_map(|unit| &unit.lineages) {
        let Some(pod) = lineage.successors(draft.facts.view).into_iter().next() else { continue };
        // What the scheduler says of the fenced nodes, and not the toleration's form, decides.
        let open = facts.fenced.possible(facts.sources.iter().chain(&facts.bystanders), &pod);
        if let Some(first) = open.first() {
            found.push(Found {
                severity: Severity::Blocking,
                subject: lineage.workload.clone(),
                message: format!(
                    "its tolerations let its successor land on {} fenced nodes again ({first} is one)",
                    open.len()
                ),
                remedies: vec![
                    "take the toleration with operator Exists and no key away, where the workload is declared"
                        .to_owned(),
                    "or give it a required node affinity for the targets".to_owned(),
                ],
            });
        }
    }
    found
}
