//! Other pods are in the way, or are missing.
//!
//! ## What it checks
//! A pod has required anti-affinity, and every target that is left holds a pod that it must not stand beside: N pods that
//! keep apart need N targets. Or it has required affinity, and no target holds the pod that it wants to stand beside. All
//! pods that leave are placed one after the other, in the order of the plan.
//!
//! ## Why it matters
//! Its successor would stay Pending, and what waits for it in turn: an operator that cannot start its next instance
//! lets the budget of the instances at zero, so that the next eviction is refused, too. Affinity is asked when a pod is
//! scheduled and never again: a pod that runs today beside nobody cannot come back.
//!
//! ## How to fix
//! Add as many targets as there are pods that keep apart, before anything is moved. For affinity, move or start the
//! workload that it wants first, or change the selector that selects nobody.

use rehome_k8s::Kind;
use rehome_model::finding::{Code, Severity};

use super::{Found, Rule};
use crate::draft::Draft;
use crate::facts::placement;

pub(super) const RULE: Rule =
    Rule { code: Code(1018), name: "pod-affinity-unmet", needs: &[Kind::Node, Kind::Pod, Kind::Namespace], check };

fn check(draft: &Draft<'_>) -> Vec<Found> {
    let facts = &draft.facts;
    let homeless = draft
        .placements
        .homeless
        .iter()
        .filter(|(_, rejections)| rejections.iter().any(|(_, rejection)| rejection.plugin == "InterPodAffinity"));
    homeless
        .map(|(pod, rejections)| {
            // The scheduler's words. Source: `pkg/scheduler/framework/plugins/interpodaffinity/filtering.go`.
            let wants = rejections
                .iter()
                .flat_map(|(_, rejection)| &rejection.reasons)
                .any(|reason| reason.ends_with("didn't match pod affinity rules"));
            let (why, remedies) = if wants {
                let why = "it must stand beside other pods, and no target that has room holds one of them";
                let remedies = vec![
                    "start what it wants on a target first, or move that first".to_owned(),
                    "or change its podAffinity where it is declared: its selector may select nobody".to_owned(),
                ];
                (why, remedies)
            } else {
                let why = "each target that has room holds a pod that it must not stand beside";
                let remedies = vec![
                    "add a target: pods that keep apart need one each; and capture again".to_owned(),
                    "or prefer in place of require, until the move is over".to_owned(),
                ];
                (why, remedies)
            };
            Found {
                severity: Severity::Blocking,
                subject: pod.meta.key().reference(Kind::Pod),
                message: format!(
                    "{why} ({} targets, once the pods before it are there): {}",
                    facts.targets.len(),
                    placement::sentence(rejections)
                ),
                remedies,
            }
        })
        .collect()
}
