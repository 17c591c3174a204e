//! VolumeBinding, from 1.37 on: nodes where the claims leave more storage free.
//!
//! Source: `k8s.io/kubernetes/pkg/scheduler/framework/plugins/volumebinding/{volume_binding,scorer}.go`, with the default
//! shape of `apis/config/v1/defaults.go`: the full score for nothing used, zero for all.

use super::{MAX, Score};
use crate::filter::volume_binding::fate;

fn of_class(asked: i64, there: i64) -> i64 {
    if there == 0 || asked > there { 0 } else { MAX - asked * MAX / there }
}

pub(super) const SCORE: Score = Score {
    plugin: "VolumeBinding",
    weight: 1,
    active: |cycle| cycle.model.profile.scores_storage_capacity(),
    even: |cycle| cycle.volumes.delayed.is_empty(),
    score: |cycle, feasible, scores| {
        for (score, node) in scores.iter_mut().zip(feasible) {
            let fate = fate(cycle, *node);
            let classes = if fate.waiting.is_empty() { &fate.made } else { &fate.waiting };
            let sum: i64 = classes.values().map(|(asked, there)| of_class(*asked, *there)).sum();
            #[allow(
                clippy::cast_precision_loss,
                clippy::cast_possible_truncation,
                reason = "the scheduler's own arithmetic"
            )]
            let mean = if classes.is_empty() { 0 } else { (sum as f64 / classes.len() as f64).round() as i64 };
            *score = mean;
        }
    },
};
