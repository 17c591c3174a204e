//! The scores of the default profile, one file for each, with their weights.
//!
//! Source: `k8s.io/kubernetes/pkg/scheduler/apis/config/v1/default_plugins.go`.

mod balanced_allocation;
mod image_locality;
mod inter_pod_affinity;
mod least_allocated;
mod logarithm;
mod node_affinity;
mod pod_topology_spread;
mod taint_toleration;
mod volume_binding;

use crate::cycle::Cycle;

/// Scores range from 0 to this. Source: `k8s.io/kube-scheduler/framework`, `MaxNodeScore`.
pub(crate) const MAX: i64 = 100;

/// A score.
pub(crate) struct Score {
    /// The plugin.
    pub(crate) plugin: &'static str,
    /// How much it counts.
    pub(crate) weight: i64,
    /// Whether it has something to say in this cycle; what it would say is zero for all nodes otherwise.
    pub(crate) active: fn(&Cycle<'_>) -> bool,
    /// Whether all nodes would get the same: it decides nothing.
    pub(crate) even: fn(&Cycle<'_>) -> bool,
    /// Scores of feasible nodes, from 0 to [`MAX`].
    pub(crate) score: fn(&Cycle<'_>, &[usize], &mut [i64]),
}

/// All scores.
pub(crate) static SCORES: [Score; 8] = [
    taint_toleration::SCORE,
    node_affinity::SCORE,
    least_allocated::SCORE,
    volume_binding::SCORE,
    pod_topology_spread::SCORE,
    inter_pod_affinity::SCORE,
    balanced_allocation::SCORE,
    image_locality::SCORE,
];

/// Scores that look at nothing but a node with what its pods have in all, and are not compared with those of other nodes:
/// their sum is kept until the node changes.
fn looks_at_one_node(score: &Score) -> bool {
    [least_allocated::SCORE.plugin, balanced_allocation::SCORE.plugin].contains(&score.plugin)
}

/// Adds the scores of nodes that look at one node alone. `scores` is as long as the totals, and is written over.
pub(crate) fn alone(cycle: &Cycle<'_>, nodes: &[usize], totals: &mut [i64], scores: &mut [i64]) {
    for score in SCORES.iter().filter(|score| looks_at_one_node(score) && (score.active)(cycle)) {
        add(score, cycle, nodes, totals, scores);
    }
}

/// The other scores that can decide in this cycle.
pub(crate) fn others(cycle: &Cycle<'_>) -> impl Iterator<Item = &'static Score> + Clone {
    let decides = |score: &&Score| !looks_at_one_node(score) && (score.active)(cycle) && !(score.even)(cycle);
    SCORES.iter().filter(decides)
}

/// Adds a score, as much as it weighs.
pub(crate) fn add(score: &Score, cycle: &Cycle<'_>, nodes: &[usize], totals: &mut [i64], scores: &mut [i64]) {
    (score.score)(cycle, nodes, scores);
    for (total, value) in totals.iter_mut().zip(&*scores) {
        *total += score.weight * value;
    }
}

/// Source: `plugins/helper/normalize_score.go`, `DefaultNormalizeScore`.
fn normalize(scores: &mut [i64], reverse: bool) {
    let highest = scores.iter().copied().max().unwrap_or_default();
    for score in scores {
        let share = if highest == 0 { 0 } else { MAX * *score / highest };
        *score = if reverse { MAX - share } else { share };
    }
}

fn always(_: &Cycle<'_>) -> bool {
    true
}

fn never(_: &Cycle<'_>) -> bool {
    false
}
