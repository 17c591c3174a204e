//! NodeResourcesBalancedAllocation: cpu and memory should be used alike.
//!
//! From 1.36 on it scores how the pod changes the balance; before, the balance that results. Pods that ask for neither
//! are not scored. Source: `k8s.io/kubernetes/pkg/scheduler/framework/plugins/noderesources/balanced_allocation.go`.

use rehome_k8s::mutant::{Mutant, on};

use super::{MAX, Score, never};
use crate::model::nodes::{CPU, MEMORY};

/// Half of how far the two shares are apart, taken from the full score.
fn balance(cpu: (i64, i64), memory: (i64, i64)) -> i64 {
    // Amounts are far below 2^53, where every integer is a float.
    #[allow(clippy::cast_precision_loss, clippy::cast_possible_truncation, reason = "the scheduler's own arithmetic")]
    let share = |(used, size): (i64, i64)| (size != 0).then(|| (used as f64 / size as f64).min(1.0));
    let apart = match (share(cpu), share(memory)) {
        (Some(cpu), Some(memory)) => ((cpu - memory) / 2.0).abs(),
        _ => 0.0,
    };
    #[allow(clippy::cast_precision_loss, clippy::cast_possible_truncation, reason = "the scheduler's own arithmetic")]
    let score = ((1.0 - apart) * MAX as f64) as i64;
    score
}

pub(super) const SCORE: Score = Score {
    plugin: "NodeResourcesBalancedAllocation",
    weight: 1,
    active: |cycle| cycle.class.balanced != [0, 0],
    even: never,
    score: |cycle, feasible, scores| {
        let nodes = &cycle.model.nodes;
        let [cpu, memory] = [CPU, MEMORY].map(|resource| (nodes.allocatable(resource), nodes.used(resource)));
        let [more_cpu, more_memory] = cycle.class.balanced;
        let of_change = cycle.model.profile.scores_change_of_balance() && !on(Mutant::BalanceNotItsChange);
        for (score, node) in scores.iter_mut().zip(feasible) {
            let at = |row: (&[i64], &[i64]), more: i64| {
                let size = row.0[*node];
                // What a node does not have at all is not used either.
                if size == 0 { (0, 0) } else { (row.1[*node] + more, size) }
            };
            let with = balance(at(cpu, more_cpu), at(memory, more_memory));
            *score = if of_change {
                let without = balance(at(cpu, 0), at(memory, 0));
                MAX / 2 + (MAX / 2 + with - without) / 2
            } else {
                with
            };
        }
    },
};
