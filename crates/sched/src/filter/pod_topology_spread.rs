//! PodTopologySpread: how uneven pods may be over domains.
//!
//! Nodes that lack one of the keys are in no domain. Those that the policies leave out do not count; taints are not
//! looked at unless asked for, so that fenced nodes stay as empty domains.
//! Source: `k8s.io/kubernetes/pkg/scheduler/framework/plugins/podtopologyspread/filtering.go`.

use std::borrow::Cow;

use rehome_k8s::mutant::{Mutant, on};

use super::{Filter, one};
use crate::cycle::Cycle;
use crate::model::Model;
use crate::model::class::{Class, Constraint};
use crate::model::sums::Sums;
use crate::model::topology::NOWHERE;

const UNEVEN: &str = "node(s) didn't match pod topology spread constraints";
const NO_LABEL: &str = "node(s) didn't match pod topology spread constraints (missing required label)";

/// Matching pods by domain, and the least of them, for each hard constraint.
pub(crate) struct State<'m> {
    constraints: Vec<(Cow<'m, Sums>, i64)>,
}

/// Whether a node takes part in a constraint's count.
pub(crate) fn takes_part(model: &Model, constraint: &Constraint, node: usize) -> bool {
    constraint.leaves_out.iter().all(|question| model.nodes.answers(*question).of(node) == 0)
}

/// Whether a node has all keys.
pub(crate) fn has_all_keys(model: &Model, constraints: &[Constraint], node: usize) -> bool {
    constraints.iter().all(|constraint| model.nodes.domains(constraint.topology).of(node) != NOWHERE)
}

/// Whether the policies leave no node out of a constraint's count.
pub(crate) fn all_take_part(model: &Model, constraint: &Constraint) -> bool {
    constraint.leaves_out.iter().all(|question| model.nodes.answers(*question).trivial())
}

/// Whether every node has all keys.
pub(crate) fn all_have_all_keys(model: &Model, constraints: &[Constraint]) -> bool {
    constraints.iter().all(|constraint| model.nodes.all_have(constraint.topology))
}

impl<'m> State<'m> {
    pub(crate) fn new(model: &'m Model, class: &Class) -> Self {
        let count = |constraint: &Constraint| {
            kept(model, class, constraint).unwrap_or_else(|| {
                let (sums, least) = counted(model, class, constraint);
                (Cow::Owned(sums), least)
            })
        };
        Self { constraints: class.hard.iter().map(count).collect() }
    }
}

/// Matching pods by domain as they are kept, and the least of them, if all nodes with the label take part.
fn kept<'m>(model: &'m Model, class: &Class, constraint: &Constraint) -> Option<(Cow<'m, Sums>, i64)> {
    // Whether a node that has the constraint's own key has all of them.
    let keys = class.hard.len() == 1 || all_have_all_keys(model, &class.hard);
    if !(keys && model.tried_without.is_empty() && all_take_part(model, constraint)) {
        return None;
    }
    let topology = model.nodes.domains(constraint.topology);
    let sums = model.counts(constraint.tally).sums(constraint.topology, &model.nodes);
    let least = least_of(constraint, topology.populated(), topology.domains().map(|domain| sums.of(domain)).min());
    #[cfg(test)]
    assert_eq!((&*sums, least), (&counted(model, class, constraint).0, counted(model, class, constraint).1));
    Some((sums, least))
}

/// What the emptiest domain counts for: nothing if there are too few of them.
fn least_of(constraint: &Constraint, domains: usize, least: Option<i64>) -> i64 {
    let few = i64::try_from(domains).unwrap_or(i64::MAX) < constraint.min_domains && !on(Mutant::MinDomainsIgnored);
    if few { 0 } else { least.unwrap_or(0) }
}

/// Matching pods by domain, counted on the nodes that take part, and the least of them.
fn counted(model: &Model, class: &Class, constraint: &Constraint) -> (Sums, i64) {
    let topology = model.nodes.domains(constraint.topology);
    let counts = model.counts(constraint.tally);
    let mut matching = Sums::of_domains(topology.count());
    let mut exists = vec![false; topology.count()];
    for node in model.nodes.order() {
        let domain = topology.of(*node);
        let all_keys = || has_all_keys(model, &class.hard, *node) || on(Mutant::NodesWithoutKeysCount);
        if domain != NOWHERE && all_keys() && takes_part(model, constraint, *node) {
            matching.add(domain, counts.of(*node));
            exists[domain] = true;
        }
    }
    for (pod, node) in model.tried_without.values() {
        let domain = topology.of(*node);
        let part = || has_all_keys(model, &class.hard, *node) && takes_part(model, constraint, *node);
        if domain != NOWHERE && model.counted(constraint.tally).counts_out_only(pod) && part() {
            matching.add(domain, -1);
        }
    }
    let domains = exists.iter().enumerate().filter(|(_, exists)| **exists).map(|(domain, _)| matching.of(domain));
    let least = least_of(constraint, domains.clone().count(), domains.min());
    (matching, least)
}

/// The first constraint that is against the node: whether for want of the label.
fn objection(cycle: &Cycle<'_>, node: usize) -> Option<bool> {
    cycle.class.hard.iter().zip(&cycle.spread.constraints).find_map(|(constraint, (matching, least))| {
        let domain = cycle.model.nodes.domains(constraint.topology).of(node);
        if domain == NOWHERE {
            return Some(true);
        }
        let skew = matching.of(domain) + i64::from(constraint.selects_itself) - least;
        (skew > constraint.max_skew).then_some(false)
    })
}

pub(super) const FILTER: Filter = Filter {
    plugin: "PodTopologySpread",
    active: |cycle| !cycle.class.hard.is_empty(),
    passes: |cycle, node| objection(cycle, node).is_none(),
    reasons: |cycle, node| one(if objection(cycle, node) == Some(true) { NO_LABEL } else { UNEVEN }),
    curable: |cycle, node| objection(cycle, node) == Some(false),
};
