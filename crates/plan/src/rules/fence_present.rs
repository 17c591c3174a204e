//! A fence of another run.
//!
//! ## What it checks
//! A node carries rehome's fence already, with another meaning than this plan gives it; or a target is fenced or cordoned.
//!
//! ## Why it matters
//! Another run is under way or was left unfinished; a closed target takes no pod.
//!
//! ## How to fix
//! Finish or roll back the other run; or take the taint away by hand if there is none.

use rehome_k8s::Kind;
use rehome_model::ObjectRef;
use rehome_model::finding::{Code, Severity};
use rehome_model::verb::{FENCE_TAINT, HOLD_TAINT};

use super::{Found, Rule};
use crate::draft::Draft;
use crate::facts::placement::{FENCE_BYSTANDER, FENCE_SOURCE};

pub(super) const RULE: Rule = Rule { code: Code(1015), name: "fence-present", needs: &[Kind::Node], check };

fn check(draft: &Draft<'_>) -> Vec<Found> {
    let facts = &draft.facts;
    let mut found = Vec::new();
    for node in facts.view.nodes() {
        let expected = if facts.sources.contains(node.name()) {
            Some(FENCE_SOURCE)
        } else if facts.bystanders.contains(node.name()) {
            Some(FENCE_BYSTANDER)
        } else {
            None
        };
        let ours = node.taints.iter().filter(|taint| taint.key == FENCE_TAINT || taint.key == HOLD_TAINT);
        for taint in ours.filter(|taint| taint.key == HOLD_TAINT || Some(taint.value.as_str()) != expected) {
            found.push(Found {
                severity: Severity::Blocking,
                subject: ObjectRef::node(node.name()),
                message: format!("it carries the taint {taint} of another run"),
                remedies: vec![
                    "finish or roll back that run: rehome status --journal FILE".to_owned(),
                    format!("or, if there is none: kubectl taint node {} {}-", node.name(), taint.key),
                ],
            });
        }
        if node.unschedulable && facts.targets.contains(node.name()) {
            found.push(Found {
                severity: Severity::Blocking,
                subject: ObjectRef::node(node.name()),
                message: "it is a target, and it is cordoned".to_owned(),
                remedies: vec![format!("kubectl uncordon {}", node.name())],
            });
        }
    }
    found
}
