//! All nodes at once, and the scheduler's sentence when none is left.

use std::collections::BTreeMap;

use rehome_k8s::View;

use crate::{Candidate, Rejection, filter};

/// What every node says to a pod.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Feasibility {
    /// Nodes that would take it, by name.
    pub nodes: Vec<String>,
    /// Why the others would not.
    pub rejected: BTreeMap<String, Rejection>,
    /// Why no node would, found before any was looked at: a claim that is missing or waits for its volume.
    pub blocked: Option<Rejection>,
}

/// What every node says to a pod.
#[must_use]
pub fn feasible(view: &View, pod: &Candidate<'_>) -> Feasibility {
    let cycle = filter::Cycle::new(view, pod);
    let mut feasibility = Feasibility { blocked: cycle.blocked().cloned(), ..Feasibility::default() };
    for node in view.nodes() {
        match cycle.verdict(node) {
            Ok(()) => feasibility.nodes.push(node.name().to_owned()),
            Err(rejection) => {
                feasibility.rejected.insert(node.name().to_owned(), rejection);
            }
        }
    }
    feasibility
}

impl Feasibility {
    /// How many nodes gave each reason. A node that gives two counts for both.
    #[must_use]
    pub fn reasons(&self) -> BTreeMap<String, usize> {
        let mut reasons = BTreeMap::new();
        for reason in self.rejected.values().flat_map(|rejection| &rejection.reasons) {
            *reasons.entry(reason.clone()).or_default() += 1;
        }
        reasons
    }

    /// The scheduler's sentence when no node is left. What it finds before it looks at nodes comes without a number.
    #[must_use]
    pub fn message(&self) -> String {
        let nodes = self.rejected.len() + self.nodes.len();
        match &self.blocked {
            Some(blocked) if nodes > 0 => format!("0/{nodes} nodes are available: {}.", blocked.reasons.join(", ")),
            _ => fit_error_message(&self.reasons(), nodes),
        }
    }
}

/// The scheduler's sentence, less what it adds about preemption.
/// Source: `k8s.io/kubernetes/pkg/scheduler/framework/types.go`, `FitError.Error`: the parts are sorted as text.
#[must_use]
pub fn fit_error_message(reasons: &BTreeMap<String, usize>, nodes: usize) -> String {
    if nodes == 0 {
        return "no nodes available to schedule pods".to_owned();
    }
    let mut parts: Vec<String> = reasons.iter().map(|(reason, count)| format!("{count} {reason}")).collect();
    parts.sort_unstable();
    if parts.is_empty() {
        return format!("0/{nodes} nodes are available.");
    }
    format!("0/{nodes} nodes are available: {}.", parts.join(", "))
}
