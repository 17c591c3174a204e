//! The scheduler's model does not explain the cluster.
//!
//! ## What it checks
//! Facts that hold for every pod that runs, because the kubelet, the volume or the cloud sees to it: requests within what
//! the node can hold, host ports used once, volumes within reach and within the number that a node takes. The model must
//! find them as they are. And what the scheduler said of a pod that waits, if nothing has changed since, must be what the
//! model says.
//!
//! ## Why it matters
//! Where pods will go is forecast by this model. If it does not explain what is there, its forecasts are worth less: a
//! successor may stay Pending on a target that the plan counts on.
//!
//! ## How to fix
//! Capture again: lists that are read one after the other can contradict each other. If it stays, the message names the
//! plugin and the field to look at; leave room on the targets, and report it.

use rehome_k8s::Kind;
use rehome_model::fidelity::Outcome;
use rehome_model::finding::{Code, Severity};

use super::{Found, Rule};
use crate::draft::Draft;

pub(super) const RULE: Rule =
    Rule { code: Code(1024), name: "model-contradicted", needs: &[Kind::Node, Kind::Pod], check };

fn check(draft: &Draft<'_>) -> Vec<Found> {
    let fidelity = draft.facts.fidelity();
    let again = || vec!["capture again; if it stays, report it with the capture".to_owned()];
    let violated = fidelity.violations.iter().map(|violation| Found {
        severity: Severity::Warning,
        subject: violation.subject.clone(),
        message: format!(
            "what must hold for running pods does not, so the model or the capture is wrong: {}, {}: expected {}, found {}",
            violation.plugin, violation.field, violation.expected, violation.found
        ),
        remedies: again(),
    });
    let said = fidelity.waiting.iter().filter_map(|waiting| match &waiting.outcome {
        Outcome::Different { model } => Some(Found {
            severity: Severity::Warning,
            subject: waiting.pod.clone(),
            message: format!(
                "the scheduler says {:?}, the model {model:?}, and nothing has changed since",
                waiting.said
            ),
            remedies: again(),
        }),
        _ => None,
    });
    violated.chain(said).collect()
}
