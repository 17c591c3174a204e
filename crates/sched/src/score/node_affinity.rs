//! NodeAffinity: the weights of preferred terms that match.

use super::{Score, normalize};

pub(super) const SCORE: Score = Score {
    plugin: "NodeAffinity",
    weight: 2,
    active: |cycle| cycle.class.preferred.is_some(),
    even: |cycle| cycle.class.preferred.is_none_or(|question| cycle.model.nodes.answers(question).trivial()),
    score: |cycle, feasible, scores| {
        let Some(question) = cycle.class.preferred else { return };
        let answers = cycle.model.nodes.answers(question);
        for (score, node) in scores.iter_mut().zip(feasible) {
            *score = answers.of(*node);
        }
        normalize(scores, false);
    },
};
