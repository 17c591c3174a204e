//! PodTopologySpread: soft constraints, and the cluster's default ones.
//!
//! Source: `k8s.io/kubernetes/pkg/scheduler/framework/plugins/podtopologyspread/scoring.go`.

use std::borrow::Cow;

use rehome_k8s::mutant::{Mutant, on};

use super::logarithm::ln;
use super::{MAX, Score, never};
use crate::cycle::Cycle;
use crate::filter::pod_topology_spread::{all_have_all_keys, all_take_part, has_all_keys, takes_part};
use crate::model::class::Constraint;
use crate::model::sums::Sums;
use crate::model::tally::Tally;
use crate::model::topology::{EMPTY, NOWHERE, Topology};

/// What is known of one constraint before nodes are scored.
struct Counted<'c> {
    constraint: &'c Constraint,
    /// Matching pods by domain; not for the hostname, which is counted node by node.
    matching: Cow<'c, Sums>,
    /// More domains make each pod weigh more.
    weight: f64,
}

/// Nodes without one of the keys are left out of the pod's own constraints, but not of the default ones.
fn scored(cycle: &Cycle<'_>, node: usize) -> bool {
    cycle.class.by_default || has_all_keys(cycle.model, &cycle.class.soft, node)
}

/// For default constraints, nodes without the label are in one more domain.
fn domain_of(topology: &Topology, node: usize) -> usize {
    match topology.of(node) {
        NOWHERE => EMPTY,
        domain => domain,
    }
}

/// Which domains have a candidate, and how many do.
fn existing(topology: &Topology, all_have: bool, candidates: impl Iterator<Item = usize>) -> (Vec<bool>, usize) {
    let mut exists = vec![false; topology.count()];
    let mut number = 0;
    // As soon as there can be no more, nobody else needs to be looked at.
    let most = topology.populated() + usize::from(!all_have && topology.members(EMPTY) == 0);
    for node in candidates {
        let exists = &mut exists[domain_of(topology, node)];
        number += usize::from(!*exists);
        *exists = true;
        if number == most {
            break;
        }
    }
    (exists, number)
}

/// Matching pods by domain, of those that have a candidate, counted on the nodes that take part.
fn counted(cycle: &Cycle<'_>, constraint: &Constraint, exists: &[bool]) -> Sums {
    let topology = cycle.model.nodes.domains(constraint.topology);
    let mut matching = Sums::of_domains(topology.count());
    for node in cycle.model.nodes.order() {
        let domain = domain_of(topology, *node);
        if exists[domain] && scored(cycle, *node) && takes_part(cycle.model, constraint, *node) {
            matching.add(domain, cycle.model.counts(constraint.tally).of(*node));
        }
    }
    matching
}

fn count<'c>(cycle: &'c Cycle<'_>, constraint: &'c Constraint, feasible: &[usize], all_scored: bool) -> Counted<'c> {
    let nodes = &cycle.model.nodes;
    let topology = nodes.domains(constraint.topology);
    let counts = cycle.model.counts(constraint.tally);
    let candidates = feasible.iter().copied().filter(|node| all_scored || scored(cycle, *node));
    let (matching, size) = if constraint.hostname {
        (Cow::Owned(Sums::default()), candidates.count())
    } else {
        let all_have = nodes.all_have(constraint.topology);
        let (exists, size) = existing(topology, all_have, candidates);
        // Nodes without the label count for the domain of the empty one, if somebody reads that.
        let alike = all_have || topology.members(EMPTY) == 0;
        let counted = || counted(cycle, constraint, &exists);
        if all_scored && alike && all_take_part(cycle.model, constraint) {
            let kept = counts.sums(constraint.topology, nodes);
            #[cfg(test)]
            assert!(topology.domains().all(|domain| !exists[domain] || kept.of(domain) == counted().of(domain)));
            (kept, size)
        } else {
            (Cow::Owned(counted()), size)
        }
    };
    #[allow(clippy::cast_precision_loss, reason = "a number of domains")]
    let weight = if on(Mutant::DomainsWeighAlike) { 1.0 } else { ln((size + 2) as f64) };
    Counted { constraint, matching, weight }
}

/// The score of a node, not compared with others: from its domains, and from what it has itself.
fn raw(constraints: &[Counted<'_>], domain: impl Fn(&Constraint) -> usize, own: impl Fn(&Constraint) -> i64) -> i64 {
    let mut score = 0.0;
    for Counted { constraint, matching, weight } in constraints {
        let domain = domain(constraint);
        if domain == NOWHERE {
            continue;
        }
        let count = if constraint.hostname { own(constraint) } else { matching.of(domain) };
        #[allow(clippy::cast_precision_loss, reason = "numbers of pods")]
        let part = count as f64 * weight + (constraint.max_skew - 1) as f64;
        score += part;
    }
    #[allow(clippy::cast_possible_truncation, reason = "the scheduler's own arithmetic")]
    let rounded = score.round() as i64;
    rounded
}

/// Most nodes have no matching pod themselves, so that their domain decides: its scores, worked out once.
struct ByDomain<'c> {
    topology: &'c Topology,
    scores: Vec<i64>,
    /// Tallies of what nodes have themselves.
    own: Vec<&'c Tally>,
}

impl<'c> ByDomain<'c> {
    /// Where there is one key besides the hostname, and every node has its hostname.
    fn new(cycle: &'c Cycle<'_>, constraints: &[Counted<'c>]) -> Option<Self> {
        let mut others = constraints.iter().map(|counted| counted.constraint).filter(|constraint| !constraint.hostname);
        let other = others.next()?;
        let hosts = constraints.iter().map(|counted| counted.constraint).filter(|constraint| constraint.hostname);
        if others.next().is_some() || !hosts.clone().all(|host| cycle.model.nodes.all_have(host.topology)) {
            return None;
        }
        let topology = cycle.model.nodes.domains(other.topology);
        let in_domain = |domain: usize| move |constraint: &Constraint| if constraint.hostname { 0 } else { domain };
        let scores = (0..topology.count()).map(|domain| raw(constraints, in_domain(domain), |_| 0)).collect();
        Some(Self { topology, scores, own: hosts.map(|host| cycle.model.counts(host.tally)).collect() })
    }

    fn of(&self, node: usize) -> Option<i64> {
        let score = self.scores.get(self.topology.of(node))?;
        self.own.iter().all(|tally| tally.of(node) == 0).then_some(*score)
    }
}

pub(super) const SCORE: Score = Score {
    plugin: "PodTopologySpread",
    weight: 2,
    active: |cycle| !cycle.class.soft.is_empty(),
    even: never,
    score: |cycle, feasible, scores| {
        let all_scored = cycle.class.by_default || all_have_all_keys(cycle.model, &cycle.class.soft);
        let constraints: Vec<_> =
            cycle.class.soft.iter().map(|constraint| count(cycle, constraint, feasible, all_scored)).collect();
        let by_domain = ByDomain::new(cycle, &constraints);
        let (mut least, mut most) = (i64::MAX, 0);
        for (score, node) in scores.iter_mut().zip(feasible) {
            if all_scored || scored(cycle, *node) {
                let raw = || {
                    let domain = |constraint: &Constraint| cycle.model.nodes.domains(constraint.topology).of(*node);
                    raw(&constraints, domain, |constraint| cycle.model.counts(constraint.tally).of(*node))
                };
                *score = by_domain.as_ref().and_then(|scores| scores.of(*node)).unwrap_or_else(raw);
                #[cfg(test)]
                assert_eq!(*score, raw());
                (least, most) = (least.min(*score), most.max(*score));
            }
        }
        for (score, node) in scores.iter_mut().zip(feasible) {
            *score = match (all_scored || scored(cycle, *node), most) {
                (false, _) => 0,
                (true, 0) => MAX,
                (true, most) => MAX * (most + least - *score) / most,
            };
        }
    },
};
