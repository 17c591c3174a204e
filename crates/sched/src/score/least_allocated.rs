//! NodeResourcesFit with the strategy LeastAllocated over cpu and memory: more room left is better.
//!
//! Containers that name no request count with assumed ones here.
//! Source: `k8s.io/kubernetes/pkg/scheduler/framework/plugins/noderesources/least_allocated.go`.

use rehome_k8s::mutant::{Mutant, on};

use super::{MAX, Score, always, never};
use crate::model::nodes::{CPU, MEMORY};

pub(super) const SCORE: Score = Score {
    plugin: "NodeResourcesFit",
    weight: 1,
    active: always,
    even: never,
    score: |cycle, feasible, scores| {
        let nodes = &cycle.model.nodes;
        let rows = [(CPU, 0), (MEMORY, 1)]
            .map(|(resource, scored)| (nodes.allocatable(resource), nodes.scored(scored), cycle.class.coming[scored]));
        for (score, node) in scores.iter_mut().zip(feasible) {
            let (mut sum, mut parts) = (0, 0);
            for (allocatable, used, more) in rows {
                let more = if on(Mutant::ScoresWithoutThePod) { 0 } else { more };
                let (size, asked) = (allocatable[*node], used[*node] + more);
                if size > 0 {
                    parts += 1;
                    sum += if asked > size { 0 } else { (size - asked) * MAX / size };
                }
            }
            *score = if parts == 0 { 0 } else { sum / parts };
        }
    },
};
