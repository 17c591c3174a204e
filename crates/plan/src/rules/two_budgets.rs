//! A pod under more than one budget.
//!
//! ## What it checks
//! A pod that has to leave is selected by two or more PodDisruptionBudgets.
//!
//! ## Why it matters
//! The eviction endpoint answers 500 for such a pod, whatever the budgets allow, and does so for ever
//! (kube-apiserver, `registry/core/pod/storage/eviction.go`).
//!
//! ## How to fix
//! Leave one budget over the pod, let the Deployment surge, or agree to the deletion of its pods for this move.

use rehome_k8s::Kind;
use rehome_model::finding::{Code, Severity};
use rehome_model::intent::ConsentTo;

use super::{Found, Rule};
use crate::draft::Draft;
use crate::strategies::Way;

pub(super) const RULE: Rule =
    Rule { code: Code(1002), name: "two-budgets", needs: &[Kind::PodDisruptionBudget], check };

fn check(draft: &Draft<'_>) -> Vec<Found> {
    let mut found = Vec::new();
    for decision in &draft.decisions {
        let because = decision.rejected.iter().find(|bid| bid.strategy == "eviction").map(|bid| &bid.because);
        let Some(because) = because.filter(|because| because.contains("refuses such a pod for ever")) else { continue };
        let Some(lineage) = decision.unit.lineages.first() else { continue };
        let workload = &lineage.workload;
        let (severity, end) = match decision.bid.way {
            Way::Delete if draft.facts.intent.consents_to(ConsentTo::DeletePastBudget, workload) => {
                (Severity::Warning, "its pods are deleted past them, as agreed")
            }
            Way::Delete => (Severity::Blocking, "only a deletion moves it, and nobody agreed to one"),
            Way::Restart | Way::Evict => (Severity::Warning, "a rollout with surge moves it; anything else could not"),
        };
        let namespace = workload.namespace.as_deref().unwrap_or_default();
        let mut remedies = vec![format!("delete all but one of the budgets: kubectl get pdb -n {namespace}")];
        if severity == Severity::Blocking {
            remedies.push(format!("--consent delete-past-budget={}/{}", workload.kind, workload.path()));
        }
        found.push(Found { severity, subject: workload.clone(), message: format!("{because}; {end}"), remedies });
    }
    found
}
