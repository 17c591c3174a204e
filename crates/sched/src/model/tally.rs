//! How many pods on each node match a selector.

use std::collections::BTreeMap;

use rehome_k8s::mutant::{Mutant, on};
use rehome_k8s::pod::Pod;
use rehome_k8s::selector::Selector;

use super::term::Scope;

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
}

impl Tally {
    pub(crate) fn add(&mut self, node: usize, amount: i64) {
        if self.counts.len() <= node {
            self.counts.resize(node + 1, 0);
        }
        self.counts[node] += amount;
    }

    pub(crate) fn of(&self, node: usize) -> i64 {
        self.counts.get(node).copied().unwrap_or_default()
    }
}
