//! ImageLocality: nodes that have the pod's images already, less so if few nodes have them.
//!
//! Source: `k8s.io/kubernetes/pkg/scheduler/framework/plugins/imagelocality/image_locality.go`.

use rehome_k8s::mutant::{Mutant, on};

use super::{MAX, Score, always};
use crate::cycle::Cycle;

/// Bytes below which nothing counts, and bytes for each container above which nothing more does.
const LEAST: i64 = 23 << 20;
const MOST: i64 = 1000 << 20;

fn images<'c>(cycle: &'c Cycle<'_>) -> &'c [String] {
    let all = &cycle.pod.spec.images;
    if cycle.model.profile.counts_image_volumes() { all } else { &all[..all.len() - cycle.pod.spec.image_volumes] }
}

pub(super) const SCORE: Score = Score {
    plugin: "ImageLocality",
    weight: 1,
    active: always,
    even: |cycle| cycle.model.images.is_empty(),
    score: |cycle, feasible, scores| {
        let nodes = cycle.model.nodes.order().len();
        let images = images(cycle);
        let most = MOST * i64::try_from(images.len()).unwrap_or(i64::MAX);
        // An image that is on all nodes counts in full, on half of them by half.
        let worth = images.iter().map(|name| {
            let (size, holders) = cycle.model.images.of(&normalized(name));
            let holders = if on(Mutant::ImageSpreadIgnored) { nodes } else { holders };
            #[allow(
                clippy::cast_precision_loss,
                clippy::cast_possible_truncation,
                reason = "the scheduler's own arithmetic"
            )]
            let worth = (size as f64 * (holders as f64 / nodes as f64)) as i64;
            worth
        });
        let worth: Vec<(String, i64)> = images.iter().map(|name| normalized(name)).zip(worth).collect();
        for (score, node) in scores.iter_mut().zip(feasible) {
            let here = |name: &String| cycle.model.nodes.get(*node).is_some_and(|node| node.images.contains_key(name));
            let sum: i64 = worth.iter().filter(|(name, _)| here(name)).map(|(_, worth)| worth).sum();
            let bounded = if sum < LEAST { LEAST } else { sum.min(most) };
            *score = if most == LEAST { 0 } else { MAX * (bounded - LEAST) / (most - LEAST) };
        }
    },
};

/// An image without a tag is the latest. Source: `normalizedImageName`.
fn normalized(name: &str) -> String {
    if name.rfind(':') <= name.rfind('/') && !on(Mutant::LatestNotAssumed) {
        format!("{name}:latest")
    } else {
        name.to_owned()
    }
}
