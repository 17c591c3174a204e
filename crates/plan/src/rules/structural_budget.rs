//! A budget that can never allow a disruption.
//!
//! ## What it checks
//! A pod that has to leave is under a PodDisruptionBudget which wants as many healthy pods as there are. Waiting does
//! not help: with every pod healthy it still allows none. A rollout with surge needs nothing of it; without one, only a
//! deletion moves the pod.
//!
//! ## Why it matters
//! `kubectl drain` waits for such a pod for ever. It is the commonest reason for a window that runs over.
//!
//! ## How to fix
//! Let the Deployment surge, raise its replicas, or agree to the deletion of its pods for this move.

use rehome_k8s::Kind;
use rehome_model::finding::{Code, Severity};
use rehome_model::intent::ConsentTo;

use super::{Found, Rule};
use crate::draft::Draft;
use crate::strategies::Way;

pub(super) const RULE: Rule = Rule {
    code: Code(1001),
    name: "structural-budget",
    needs: &[Kind::PodDisruptionBudget, Kind::Deployment, Kind::ReplicaSet, Kind::StatefulSet],
    check,
};

fn check(draft: &Draft<'_>) -> Vec<Found> {
    let mut found = Vec::new();
    for decision in &draft.decisions {
        let because = decision.rejected.iter().find(|bid| bid.strategy == "eviction").map(|bid| &bid.because);
        let Some(because) = because.filter(|because| because.contains("never allows an eviction")) else { continue };
        let Some(lineage) = decision.unit.lineages.first() else { continue };
        let workload = &lineage.workload;
        let (severity, end) = match decision.bid.way {
            Way::Delete if draft.facts.intent.consents_to(ConsentTo::DeletePastBudget, workload) => {
                (Severity::Warning, "its pods are deleted past it, as agreed")
            }
            Way::Delete => (Severity::Blocking, "only a deletion moves it, and nobody agreed to one"),
            Way::Restart | Way::Evict => (Severity::Note, "a rollout with surge moves it without asking"),
        };
        let consent = format!("--consent delete-past-budget={}/{}", workload.kind, workload.path());
        let raise = format!(
            "raise its replicas until the move is over: kubectl scale -n {} {}/{} --replicas=2",
            workload.namespace.as_deref().unwrap_or_default(),
            workload.kind.to_lowercase(),
            workload.name
        );
        found.push(Found {
            severity,
            subject: workload.clone(),
            message: format!("{because}; {end}"),
            remedies: if severity == Severity::Blocking { vec![consent, raise] } else { Vec::new() },
        });
    }
    found
}
