//! What is dangerous. One file per rule; a code is permanent and never used again for something else.
//!
//! A rule whose source is missing is not silent: it says Unknown, and names the gap. Adding a rule: a file here, a line
//! in [`ALL`], a test that fires it and a near miss that does not.

mod bare_pod;
mod csi_driver_missing;
mod daemonset_not_tolerating_fence;
mod daemonsets_fill_targets;
mod fence_present;
mod local_data;
mod memory_overcommitted;
mod model_contradicted;
mod no_matching_target;
mod no_room_on_targets;
mod no_strategy;
mod owner_unseen;
mod pending_before;
mod pod_affinity_unmet;
mod restart_cost;
mod singleton_outage;
mod spread_with_fenced_domains;
mod structural_budget;
mod successor_refused;
mod targets_not_ready;
mod tolerates_everything;
mod two_budgets;
mod unhealthy_under_budget;
mod volume_cannot_follow;

use rehome_k8s::Kind;
use rehome_model::ObjectRef;
use rehome_model::finding::{Code, Finding, Severity};

use crate::draft::Draft;

/// A rule.
pub struct Rule {
    /// The permanent code.
    pub code: Code,
    /// The short name.
    pub name: &'static str,
    /// Kinds without which it cannot say anything.
    pub needs: &'static [Kind],
    /// What it finds.
    pub check: fn(&Draft<'_>) -> Vec<Found>,
}

/// What a rule found about one object.
pub struct Found {
    severity: Severity,
    subject: ObjectRef,
    message: String,
    remedies: Vec<String>,
}

/// All rules, by code.
pub const ALL: &[Rule] = &[
    structural_budget::RULE,
    two_budgets::RULE,
    no_room_on_targets::RULE,
    no_matching_target::RULE,
    volume_cannot_follow::RULE,
    daemonset_not_tolerating_fence::RULE,
    spread_with_fenced_domains::RULE,
    tolerates_everything::RULE,
    bare_pod::RULE,
    unhealthy_under_budget::RULE,
    pending_before::RULE,
    local_data::RULE,
    owner_unseen::RULE,
    singleton_outage::RULE,
    fence_present::RULE,
    targets_not_ready::RULE,
    no_strategy::RULE,
    pod_affinity_unmet::RULE,
    csi_driver_missing::RULE,
    restart_cost::RULE,
    successor_refused::RULE,
    daemonsets_fill_targets::RULE,
    memory_overcommitted::RULE,
    model_contradicted::RULE,
];

/// What all rules find, the worst first.
#[must_use]
pub fn check(draft: &Draft<'_>) -> Vec<Finding> {
    let mut findings = Vec::new();
    for rule in ALL {
        let gaps: Vec<_> = rule.needs.iter().filter_map(|kind| draft.facts.view.gap(*kind)).collect();
        for gap in &gaps {
            findings.push(Finding {
                code: rule.code,
                rule: rule.name.to_owned(),
                severity: Severity::Unknown,
                subject: ObjectRef::cluster("Cluster", draft.facts.view.cluster.name.clone().unwrap_or_default()),
                message: format!("not known, because the capture holds no {}: {}", gap.source, gap.message),
                remedies: vec![format!(
                    "capture again with {} (deploy/rbac.yaml lists what a capture reads)",
                    gap.source
                )],
            });
        }
        if gaps.is_empty() {
            findings.extend((rule.check)(draft).into_iter().map(|found| Finding {
                code: rule.code,
                rule: rule.name.to_owned(),
                severity: found.severity,
                subject: found.subject,
                message: found.message,
                remedies: found.remedies,
            }));
        }
    }
    findings.sort_by(|a, b| b.severity.cmp(&a.severity).then_with(|| a.cmp(b)));
    findings
}
