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

/// The sum of all weighted scores that can decide, for each feasible node.
pub(crate) fn totals(cycle: &Cycle<'_>, feasible: &[usize]) -> Vec<i64> {
    let mut totals = vec![0; feasible.len()];
    let mut scores = vec![0; feasible.len()];
    for score in SCORES.iter().filter(|score| (score.active)(cycle) && !(score.even)(cycle)) {
        (score.score)(cycle, feasible, &mut scores);
        for (total, value) in totals.iter_mut().zip(&scores) {
            *total += score.weight * value;
        }
    }
    totals
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
