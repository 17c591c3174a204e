//! How many pods on each node match a selector, and in each domain of the keys that somebody asks about.

use std::borrow::Cow;
use std::collections::BTreeMap;

use rehome_k8s::mutant::{Mutant, on};
use rehome_k8s::pod::Pod;
use rehome_k8s::selector::Selector;

use super::nodes::Nodes;
use super::sums::Sums;
use super::term::Scope;
use super::topology::NOWHERE;

/// Which pods are counted.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Counted {
    /// Those of a namespace that match and are not about to end: what spreading counts.
    Spread(String, Selector),
    /// Those that match all of these: what pod affinity counts.
    All(Vec<Scope>),
}

impl Counted {
    pub(crate) fn counts(&self, namespace: &str, labels: &BTreeMap<String, String>) -> bool {
        match self {
            // An empty selector counts nothing, although it matches everything.
            // Source: `podtopologyspread/common.go`, `countPodsMatchSelector`.
            Self::Spread(of, Selector::All(requirements)) if requirements.is_empty() => {
                on(Mutant::EmptySelectorCounts) && of == namespace
            }
            Self::Spread(of, selector) => of == namespace && selector.matches(labels),
            Self::All(scopes) if on(Mutant::OneTermIsEnough) => {
                scopes.iter().any(|scope| scope.selects(namespace, labels))
            }
            Self::All(scopes) => scopes.iter().all(|scope| scope.selects(namespace, labels)),
        }
    }

    /// Whether spreading counts a pod out that it never counted: one that is about to end, or one that only an empty
    /// selector matches. That is what kube-scheduler does when it tries whether a node could be cleared of it.
    /// Source: `podtopologyspread/filtering.go`, `updateWithPod` beside `countPodsMatchSelector`.
    pub(crate) fn counts_out_only(&self, pod: &Pod) -> bool {
        match self {
            Self::Spread(of, selector) => {
                *of == pod.meta.namespace
                    && selector.matches(&pod.meta.labels)
                    && (pod.meta.deleting.is_some() || *selector == Selector::All(Vec::new()))
            }
            Self::All(_) => false,
        }
    }

    /// Whether pods that are about to end count.
    pub(crate) fn counts_terminating(&self) -> bool {
        match self {
            Self::Spread(..) => on(Mutant::TerminatingSpread),
            Self::All(_) => !on(Mutant::TerminatingWithoutAffinity),
        }
    }

    /// The only namespace whose pods can count, if there is one.
    pub(crate) fn namespace(&self) -> Option<&str> {
        match self {
            Self::Spread(namespace, _) => Some(namespace),
            Self::All(scopes) => scopes.iter().find_map(Scope::only_namespace),
        }
    }
}

/// The numbers of pods, by node.
#[derive(Clone, Debug, Default)]
pub(crate) struct Tally {
    counts: Vec<i64>,
    /// Sums by domain, with the number of the topology key: a cycle reads them instead of looking at all nodes.
    sums: Vec<(usize, Sums)>,
}

impl Tally {
    /// Adds to a node.
    pub(crate) fn add(&mut self, node: usize, amount: i64, nodes: &Nodes) {
        if self.counts.len() <= node {
            self.counts.resize(node + 1, 0);
        }
        self.counts[node] += amount;
        for (topology, sums) in &mut self.sums {
            let domain = nodes.domains(*topology).of(node);
            if domain != NOWHERE {
                sums.add(domain, amount);
            }
        }
    }

    /// What a node has.
    pub(crate) fn of(&self, node: usize) -> i64 {
        self.counts.get(node).copied().unwrap_or_default()
    }

    /// Keeps sums by the domains of a key from now on.
    pub(crate) fn follow(&mut self, topology: usize, nodes: &Nodes) {
        if !self.sums.iter().any(|(followed, _)| *followed == topology) {
            self.sums.push((topology, self.summed(topology, nodes)));
        }
    }

    /// A node that has pods went from one domain of a key to another.
    pub(crate) fn moved(&mut self, node: usize, topology: usize, from: usize, to: usize) {
        let count = self.of(node);
        if count == 0 {
            return;
        }
        for (_, sums) in self.sums.iter_mut().filter(|(followed, _)| *followed == topology) {
            if from != NOWHERE {
                sums.add(from, -count);
            }
            if to != NOWHERE {
                sums.add(to, count);
            }
        }
    }

    /// The sums by the domains of a key; of one that is not followed they are made.
    pub(crate) fn sums(&self, topology: usize, nodes: &Nodes) -> Cow<'_, Sums> {
        match self.sums.iter().find(|(followed, _)| *followed == topology) {
            Some((_, sums)) => Cow::Borrowed(sums),
            None => Cow::Owned(self.summed(topology, nodes)),
        }
    }

    fn summed(&self, topology: usize, nodes: &Nodes) -> Sums {
        let domains = nodes.domains(topology);
        let mut sums = Sums::of_domains(domains.count());
        for (node, count) in self.counts.iter().enumerate().filter(|(_, count)| **count != 0) {
            if domains.of(node) != NOWHERE {
                sums.add(domains.of(node), *count);
            }
        }
        sums
    }
}

#[cfg(test)]
impl Tally {
    /// The keys whose sums differ from those that are made anew.
    pub(crate) fn wrong_sums(&self, nodes: &Nodes) -> Vec<usize> {
        let wrong = |(topology, sums): &&(usize, Sums)| self.summed(*topology, nodes) != *sums;
        self.sums.iter().filter(wrong).map(|(topology, _)| *topology).collect()
    }
}
