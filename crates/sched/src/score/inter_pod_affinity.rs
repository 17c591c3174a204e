//! InterPodAffinity: preferred terms of the pod, and those of pods that run and select it; required affinity of the
//! latter counts a little, too.
//!
//! Source: `k8s.io/kubernetes/pkg/scheduler/framework/plugins/interpodaffinity/scoring.go`.

use super::{MAX, Score, never};
use crate::cycle::Cycle;
use crate::model::tally::Tally;
use crate::model::topology::NOWHERE;

/// Adds to each node what its domain of a key has in all, times a weight.
fn spread_over_domains(
    cycle: &Cycle<'_>,
    topology: usize,
    (tally, weight): (&Tally, i64),
    feasible: &[usize],
    scores: &mut [i64],
) {
    let sums = tally.sums(topology, &cycle.model.nodes);
    let domains = cycle.model.nodes.domains(topology);
    for (score, node) in scores.iter_mut().zip(feasible) {
        if domains.of(*node) != NOWHERE {
            *score += weight * sums.of(domains.of(*node));
        }
    }
}

pub(super) const SCORE: Score = Score {
    plugin: "InterPodAffinity",
    weight: 2,
    active: |cycle| {
        let others = || cycle.class.selected_by.iter().any(|term| cycle.model.holders(*term).1.weighing > 0);
        !cycle.class.inclined.is_empty() || others()
    },
    even: never,
    score: |cycle, feasible, scores| {
        scores.fill(0);
        for (tally, topology, weight) in &cycle.class.inclined {
            let counts = cycle.model.counts(*tally);
            spread_over_domains(cycle, *topology, (counts, *weight), feasible, scores);
        }
        for term in &cycle.class.selected_by {
            let (term, holders) = cycle.model.holders(*term);
            if holders.weighing > 0 {
                spread_over_domains(cycle, term.topology, (&holders.weights, 1), feasible, scores);
            }
        }
        let least = scores.iter().copied().min().unwrap_or_default();
        let range = scores.iter().copied().max().unwrap_or_default() - least;
        for score in scores {
            #[allow(
                clippy::cast_precision_loss,
                clippy::cast_possible_truncation,
                reason = "the scheduler's own arithmetic"
            )]
            let share = if range > 0 { (MAX as f64 * ((*score - least) as f64 / range as f64)) as i64 } else { 0 };
            *score = share;
        }
    },
};
