//! InterPodAffinity: required affinity and anti-affinity, the latter in both directions.
//!
//! Source: `k8s.io/kubernetes/pkg/scheduler/framework/plugins/interpodaffinity/filtering.go`.

use rehome_k8s::mutant::{Mutant, on};

use super::{Filter, one};
use crate::cycle::Cycle;
use crate::model::Model;
use crate::model::class::Class;
use crate::model::topology::NOWHERE;

const AFFINITY: &str = "node(s) didn't match pod affinity rules";
const ANTI_AFFINITY: &str = "node(s) didn't match pod anti-affinity rules";
const OF_OTHERS: &str = "node(s) didn't satisfy existing pods anti-affinity rules";

/// A topology key, and which of its domains hold what is looked for.
type Domains = (usize, Vec<bool>);

/// Where pods are that draw or repel this one.
pub(crate) struct State {
    /// For each term of affinity: the domains with a pod that matches all terms.
    attracted: Vec<Domains>,
    /// No pod matches, but this one matches its own terms: the first of a group may land anywhere.
    bootstraps: bool,
    repelled: Vec<Domains>,
    repelled_by_others: Vec<Domains>,
}

/// The domains in which a count is above zero, and whether there is one.
fn domains(model: &Model, topology: usize, count: impl Fn(usize) -> i64) -> (Domains, bool) {
    let domains = model.nodes.domains(topology);
    let mut found = vec![false; domains.count()];
    let mut any = false;
    for node in model.nodes.order() {
        if count(*node) > 0 && domains.of(*node) != NOWHERE {
            found[domains.of(*node)] = true;
            any = true;
        }
    }
    ((topology, found), any)
}

impl State {
    pub(crate) fn new(model: &Model, class: &Class) -> Self {
        let mut state = Self {
            attracted: Vec::new(),
            bootstraps: class.attracts_itself && !on(Mutant::BootstrapDropped),
            repelled: Vec::new(),
            repelled_by_others: Vec::new(),
        };
        if let Some((tally, keys)) = &class.attracted {
            for topology in keys {
                let (found, any) = domains(model, *topology, |node| model.counts(*tally).of(node));
                state.attracted.push(found);
                state.bootstraps &= !any;
            }
        }
        for (tally, topology) in &class.repelled {
            let (found, any) = domains(model, *topology, |node| model.counts(*tally).of(node));
            state.repelled.extend(any.then_some(found));
        }
        for term in &class.selected_by {
            let (term, holders) = model.holders(*term);
            if holders.forbidding > 0 && !on(Mutant::SymmetryDropped) {
                let (found, any) = domains(model, term.topology, |node| holders.forbids.of(node));
                state.repelled_by_others.extend(any.then_some(found));
            }
        }
        state
    }
}

fn in_one_of(cycle: &Cycle<'_>, domains: &[Domains], node: usize) -> bool {
    domains.iter().any(|(topology, found)| {
        let domain = cycle.model.nodes.domains(*topology).of(node);
        domain != NOWHERE && found[domain]
    })
}

fn attracted(cycle: &Cycle<'_>, node: usize) -> bool {
    let state = &cycle.affinity;
    let mut everywhere = true;
    for (topology, found) in &state.attracted {
        match cycle.model.nodes.domains(*topology).of(node) {
            NOWHERE => return false,
            domain => everywhere &= found[domain],
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
