//! A pod that nobody creates again.
//!
//! ## What it checks
//! A pod that has to leave has no controller.
//!
//! ## Why it matters
//! Once it is gone it is gone, with its emptyDir and its name.
//!
//! ## How to fix
//! Put it under a Deployment, keep its manifest at hand, or agree to its deletion.

use rehome_k8s::Kind;
use rehome_k8s::owner::Owner;
use rehome_model::finding::{Code, Severity};
use rehome_model::intent::ConsentTo;

use super::{Found, Rule};
use crate::draft::Draft;

pub(super) const RULE: Rule = Rule { code: Code(1009), name: "bare-pod", needs: &[Kind::Pod], check };

fn check(draft: &Draft<'_>) -> Vec<Found> {
    let lineages = draft.facts.units.iter().flat_map(|unit| &unit.lineages);
    lineages
        .filter(|lineage| lineage.owner == Owner::None)
        .map(|lineage| {
            let pod = &lineage.workload;
            let agreed = draft.facts.intent.consents_to(ConsentTo::DeleteBarePod, pod);
            let consent = format!("--consent delete-bare-pod=Pod/{}", pod.path());
            let keep = format!(
                "keep it first: kubectl get pod -n {} {} -o yaml",
                pod.namespace.as_deref().unwrap_or_default(),
                pod.name
            );
            Found {
                severity: if agreed { Severity::Warning } else { Severity::Blocking },
                subject: pod.clone(),
                message: format!(
                    "it has no controller: deleted, it does not come back{}",
                    if agreed { "; it is deleted, as agreed" } else { "" }
                ),
                remedies: if agreed { vec![keep] } else { vec![keep, consent] },
            }
        })
        .collect()
}
