//! TaintToleration: fewer untolerated `PreferNoSchedule` taints are better.

use super::{Score, always, normalize};

pub(super) const SCORE: Score = Score {
    plugin: "TaintToleration",
    weight: 3,
    active: always,
    even: |cycle| cycle.model.nodes.answers(cycle.class.discouraged).trivial(),
    score: |cycle, feasible, scores| {
        let answers = cycle.model.nodes.answers(cycle.class.discouraged);
        for (score, node) in scores.iter_mut().zip(feasible) {
            *score = answers.of(*node);
        }
        normalize(scores, true);
    },
};
