//! What every node says to a pod: each filter by itself, the first that rejects, and each score.

use std::collections::BTreeMap;

use rehome_k8s::pod::Pod;

use crate::Rejection;
use crate::cycle::Cycle;
use crate::model::Model;
use crate::score::SCORES;

/// What all nodes say to a pod.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Judgement {
    /// Why the pod fits nowhere, found before any node was looked at: a claim that is missing or waits for its volume.
    pub blocked: Option<Rejection>,
    /// What each node says, by name.
    pub nodes: Vec<NodeJudgement>,
}

/// What one node says.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct NodeJudgement {
    /// The node.
    pub node: String,
    /// What kube-scheduler would report: the first filter that rejects.
    pub first: Option<Rejection>,
    /// Whether pushing out pods of lower priority could make the first filter that rejects change its mind.
    pub curable: bool,
    /// Every filter that rejects, each as if it were the only one, in order.
    pub alone: Vec<Rejection>,
    /// Plugin, and its score of 0 to 100 times its weight; of feasible nodes only.
    pub scores: Vec<(&'static str, i64)>,
    /// The sum of the scores.
    pub total: i64,
}

impl Model {
    /// What every node says to a pod. A pod that is bound does not count against itself.
    pub fn judge(&mut self, pod: &Pod) -> Judgement {
        let bound = self.lift(pod);
        let prepared = self.prepare(pod);
        let cycle = Cycle::new(self, pod, prepared);
        let judgement = judge(&cycle);
        if let Some(bound) = bound {
            self.insert_pod(&bound);
        }
        judgement
    }

    /// Takes a bound pod out, so that it does not count against itself; to be put back.
    pub(crate) fn lift(&mut self, pod: &Pod) -> Option<std::sync::Arc<Pod>> {
        let key = pod.meta.key();
        let bound = self.bound(&key).cloned()?;
        self.remove_pod(&key);
        Some(bound)
    }
}

fn judge(cycle: &Cycle<'_>) -> Judgement {
    let blocked = cycle.blocks().first().cloned();
    let mut nodes: Vec<NodeJudgement> = Vec::new();
    let mut feasible = Vec::new();
    for index in cycle.model.nodes.order() {
        let Some(node) = cycle.model.nodes.get(*index) else { continue };
        let alone = cycle.alone(*index);
        let first = cycle.first_rejection(*index);
        let curable = blocked.is_none() && cycle.curable(*index);
        if blocked.is_none() && first.is_none() {
            feasible.push((*index, nodes.len()));
        }
        let first = if blocked.is_some() { None } else { first };
        nodes.push(NodeJudgement { node: node.name().to_owned(), first, curable, alone, ..NodeJudgement::default() });
    }
    let (indices, places): (Vec<usize>, Vec<usize>) = feasible.into_iter().unzip();
    let mut scores = vec![0; indices.len()];
    for score in SCORES.iter().filter(|score| (score.active)(cycle)) {
        (score.score)(cycle, &indices, &mut scores);
        for (place, value) in places.iter().zip(&scores) {
            nodes[*place].scores.push((score.plugin, score.weight * value));
            nodes[*place].total += score.weight * value;
        }
    }
    Judgement { blocked, nodes }
}

impl Judgement {
    /// How many nodes gave each reason. A node that gives two counts for both.
    #[must_use]
    pub fn reasons(&self) -> BTreeMap<String, usize> {
        let mut reasons = BTreeMap::new();
        for reason in self.nodes.iter().filter_map(|node| node.first.as_ref()).flat_map(|first| &first.reasons) {
            *reasons.entry(reason.clone()).or_default() += 1;
        }
        reasons
    }

    /// Names of the nodes that would take the pod.
    pub fn feasible(&self) -> impl Iterator<Item = &str> {
        let blocked = self.blocked.is_some();
        self.nodes.iter().filter(move |node| !blocked && node.first.is_none()).map(|node| node.node.as_str())
    }

    /// The scheduler's sentence when no node is left, less what it adds about preemption; `None` if one is.
    #[must_use]
    pub fn message(&self) -> Option<String> {
        if self.feasible().next().is_some() {
            return None;
        }
        Some(match &self.blocked {
            // What is found before nodes are looked at comes without a number.
            Some(blocked) if !self.nodes.is_empty() => blocked_message(blocked, self.nodes.len()),
            _ => fit_error_message(&self.reasons(), self.nodes.len()),
        })
    }
}

/// The scheduler's sentence about a pod that is blocked before nodes are looked at.
pub(crate) fn blocked_message(blocked: &Rejection, nodes: usize) -> String {
    format!("0/{nodes} nodes are available: {}.", blocked.reasons.join(", "))
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
