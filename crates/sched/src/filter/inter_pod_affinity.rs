//! InterPodAffinity: required affinity and anti-affinity, the latter in both directions.
//!
//! Source: `k8s.io/kubernetes/pkg/scheduler/framework/plugins/interpodaffinity/filtering.go`.

use std::borrow::Cow;

use rehome_k8s::mutant::{Mutant, on};

use super::{Filter, one};
use crate::cycle::Cycle;
use crate::model::Model;
use crate::model::class::Class;
use crate::model::sums::Sums;
use crate::model::topology::NOWHERE;

const AFFINITY: &str = "node(s) didn't match pod affinity rules";
const ANTI_AFFINITY: &str = "node(s) didn't match pod anti-affinity rules";
const OF_OTHERS: &str = "node(s) didn't satisfy existing pods anti-affinity rules";

/// A topology key, and how much of what is looked for each of its domains holds.
type Domains<'m> = (usize, Cow<'m, Sums>);

/// Where pods are that draw or repel this one.
pub(crate) struct State<'m> {
    /// For each term of affinity: the pods that match all terms.
    attracted: Vec<Domains<'m>>,
    /// No pod matches, but this one matches its own terms: the first of a group may land anywhere.
    bootstraps: bool,
    repelled: Vec<Domains<'m>>,
    repelled_by_others: Vec<Domains<'m>>,
}

impl<'m> State<'m> {
    pub(crate) fn new(model: &'m Model, class: &Class) -> Self {
        let sums = |tally: usize, topology: usize| model.counts(tally).sums(topology, &model.nodes);
        let mut state = Self {
            attracted: Vec::new(),
            bootstraps: class.attracts_itself && !on(Mutant::BootstrapDropped),
            repelled: Vec::new(),
            repelled_by_others: Vec::new(),
        };
        if let Some((tally, keys)) = &class.attracted {
            for topology in keys {
                let sums = sums(*tally, *topology);
                state.bootstraps &= !sums.any();
                state.attracted.push((*topology, sums));
            }
        }
        for (tally, topology) in &class.repelled {
            let sums = sums(*tally, *topology);
            state.repelled.extend(sums.any().then_some((*topology, sums)));
        }
        for term in &class.selected_by {
            let (term, holders) = model.holders(*term);
            if holders.forbidding > 0 && !on(Mutant::SymmetryDropped) {
                let sums = holders.forbids.sums(term.topology, &model.nodes);
                state.repelled_by_others.extend(sums.any().then_some((term.topology, sums)));
            }
        }
        state
    }
}

fn in_one_of(cycle: &Cycle<'_>, domains: &[Domains<'_>], node: usize) -> bool {
    domains.iter().any(|(topology, sums)| {
        let domain = cycle.model.nodes.domains(*topology).of(node);
        domain != NOWHERE && sums.of(domain) > 0
    })
}

fn attracted(cycle: &Cycle<'_>, node: usize) -> bool {
    let state = &cycle.affinity;
    let mut everywhere = true;
    for (topology, sums) in &state.attracted {
        match cycle.model.nodes.domains(*topology).of(node) {
            NOWHERE => return false,
            domain => everywhere &= sums.of(domain) > 0,
        }
    }
    everywhere || state.bootstraps
}

fn objection(cycle: &Cycle<'_>, node: usize) -> Option<&'static str> {
    if !attracted(cycle, node) {
        Some(AFFINITY)
    } else if in_one_of(cycle, &cycle.affinity.repelled, node) {
        Some(ANTI_AFFINITY)
    } else if in_one_of(cycle, &cycle.affinity.repelled_by_others, node) {
        Some(OF_OTHERS)
    } else {
        None
    }
}

pub(super) const FILTER: Filter = Filter {
    plugin: "InterPodAffinity",
    active: |cycle| {
        let State { attracted, repelled, repelled_by_others, .. } = &cycle.affinity;
        !(attracted.is_empty() && repelled.is_empty() && repelled_by_others.is_empty())
    },
    passes: |cycle, node| objection(cycle, node).is_none(),
    reasons: |cycle, node| objection(cycle, node).map(one).unwrap_or_default(),
    curable: |cycle, node| objection(cycle, node) != Some(AFFINITY),
};
