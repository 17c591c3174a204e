//! PodTopologySpread: soft constraints, and the cluster's default ones.
//!
//! Source: `k8s.io/kubernetes/pkg/scheduler/framework/plugins/podtopologyspread/scoring.go`.

use rehome_k8s::mutant::{Mutant, on};

use super::logarithm::ln;
use super::{MAX, Score, never};
use crate::cycle::Cycle;
use crate::filter::pod_topology_spread::{has_all_keys, takes_part};
use crate::model::class::Constraint;
use crate::model::topology::{EMPTY, NOWHERE};

/// What is known of one constraint before nodes are scored.
struct Counted<'c> {
    constraint: &'c Constraint,
    /// Matching pods by domain; none for the hostname, which is counted node by node.
    matching: Vec<i64>,
    /// More domains make each pod weigh more.
    weight: f64,
}

/// Nodes without one of the keys are left out of the pod's own constraints, but not of the default ones.
fn scored(cycle: &Cycle<'_>, node: usize) -> bool {
    cycle.class.by_default || has_all_keys(cycle.model, &cycle.class.soft, node)
}

fn count<'c>(cycle: &'c Cycle<'_>, constraint: &'c Constraint, feasible: &[usize]) -> Counted<'c> {
    let topology = cycle.model.nodes.domains(constraint.topology);
    // For default constraints, nodes without the label are one more domain.
    let domain = |node: usize| match topology.of(node) {
        NOWHERE => EMPTY,
        domain => domain,
    };
    let candidates = feasible.iter().copied().filter(|node| scored(cycle, *node));
    let mut exists = vec![false; topology.count()];
    let mut matching = vec![0; topology.count()];
    let size = if constraint.hostname {
        candidates.count()
    } else {
        candidates.for_each(|node| exists[domain(node)] = true);
        for node in cycle.model.nodes.order() {
            if exists[domain(*node)] && scored(cycle, *node) && takes_part(cycle.model, constraint, *node) {
                matching[domain(*node)] += cycle.model.counts(constraint.tally).of(*node);
            }
        }
        exists.iter().filter(|exists| **exists).count()
    };
    #[allow(clippy::cast_precision_loss, reason = "a number of domains")]
    let weight = if on(Mutant::DomainsWeighAlike) { 1.0 } else { ln((size + 2) as f64) };
    Counted { constraint, matching, weight }
}

fn raw(cycle: &Cycle<'_>, constraints: &[Counted<'_>], node: usize) -> i64 {
    let mut score = 0.0;
    for Counted { constraint, matching, weight } in constraints {
        let domain = cycle.model.nodes.domains(constraint.topology).of(node);
        if domain == NOWHERE {
            continue;
        }
        let count = if constraint.hostname { cycle.model.counts(constraint.tally).of(node) } else { matching[domain] };
        #[allow(clippy::cast_precision_loss, reason = "numbers of pods")]
        let part = count as f64 * weight + (constraint.max_skew - 1) as f64;
        score += part;
    }
    #[allow(clippy::cast_possible_truncation, reason = "the scheduler's own arithmetic")]
    let rounded = score.round() as i64;
    rounded
}

pub(super) const SCORE: Score = Score {
    plugin: "PodTopologySpread",
    weight: 2,
    active: |cycle| !cycle.class.soft.is_empty(),
    even: never,
    score: |cycle, feasible, scores| {
        let constraints: Vec<_> =
            cycle.class.soft.iter().map(|constraint| count(cycle, constraint, feasible)).collect();
        let (mut least, mut most) = (i64::MAX, 0);
        for (score, node) in scores.iter_mut().zip(feasible) {
            if scored(cycle, *node) {
                *score = raw(cycle, &constraints, *node);
                (least, most) = (least.min(*score), most.max(*score));
            }
        }
        for (score, node) in scores.iter_mut().zip(feasible) {
            *score = match (scored(cycle, *node), most) {
                (false, _) => 0,
                (true, 0) => MAX,
                (true, most) => MAX * (most + least - *score) / most,
            };
        }
    },
};
