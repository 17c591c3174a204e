//! An unhealthy pod under a budget.
//!
//! ## What it checks
//! A pod that has to leave by eviction is not Ready, and its budget is short of healthy pods. Or it is Ready, and the
//! budget is short because others are not.
//!
//! ## Why it matters
//! With `unhealthyPodEvictionPolicy: IfHealthyBudget` (the default) a budget protects also pods that do not work: a
//! crash loop blocks the move until somebody mends it.
//!
//! ## How to fix
//! Mend the pod, or set `unhealthyPodEvictionPolicy: AlwaysAllow`.

use std::collections::BTreeSet;

use rehome_k8s::{Kind, budget};
use rehome_model::Known;
use rehome_model::finding::{Code, Severity};

use super::{Found, Rule};
use crate::draft::Draft;
use crate::strategies::Way;

pub(super) const RULE: Rule =
    Rule { code: Code(1010), name: "unhealthy-under-budget", needs: &[Kind::PodDisruptionBudget], check };

fn check(draft: &Draft<'_>) -> Vec<Found> {
    let view = draft.facts.view;
    let mut found = Vec::new();
    let mut seen = BTreeSet::new();
    for decision in draft.decisions.iter().filter(|decision| decision.bid.way == Way::Evict) {
        for pod in decision.unit.leaving().filter(|pod| !budget::ignored_for(pod)) {
            let Known::Known(budgets) = budget::of_pod(view, pod) else { continue };
            let [only] = budgets[..] else { continue };
            let status = budget::compute(view, only);
            let short = status.current_healthy < status.desired_healthy
                || pod.ready && status.current_healthy <= status.desired_healthy;
            let blocks = short && (pod.ready || !only.always_allow_unhealthy);
            let name = only.meta.key();
            if !blocks || !seen.insert(name.clone()) {
                continue;
            }
            let unready: Vec<String> = budget::pods(view, only)
                .filter(|pod| !pod.ready && !pod.finished())
                .map(|pod| match &pod.reason {
                    Some(reason) => format!("{} ({reason})", pod.meta.name),
                    None => pod.meta.name.clone(),
                })
                .collect();
            found.push(Found {
                severity: Severity::Blocking,
                subject: name.reference(Kind::PodDisruptionBudget),
                message: format!(
                    "{} healthy pods, {} wanted: no pod under it can be evicted; not Ready: {}",
                    status.current_healthy,
                    status.desired_healthy,
                    if unready.is_empty() { "none".to_owned() } else { unready.join(", ") }
                ),
                remedies: vec![
                    "mend the pods that are not Ready, and capture again".to_owned(),
                    format!(
                        "or let unhealthy ones go: kubectl patch -n {} pdb/{} --type=merge -p '{{\"spec\":{{\"unhealthyPodEvictionPolicy\":\"AlwaysAllow\"}}}}'",
                        name.namespace, name.name
                    ),
                ],
            });
        }
    }
    found
}
