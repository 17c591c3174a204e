//! Terms of pod affinity: whom they select, and where pods are that have them.

use std::collections::{BTreeMap, BTreeSet};

use rehome_k8s::affinity::PodTerm;
use rehome_k8s::mutant::{Mutant, on};
use rehome_k8s::selector::Selector;

use super::tally::Tally;

/// The pods that a term selects, once its namespaces are known.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Scope {
    /// `None` stands for all namespaces, also those that nobody has seen.
    namespaces: Option<BTreeSet<String>>,
    selector: Selector,
}

impl Scope {
    /// The pods that a term of a pod in `own` selects. `labelled` are the labels of the namespaces there are.
    /// Source: `interpodaffinity/plugin.go`, `mergeAffinityTermNamespacesIfNotEmpty`.
    pub(crate) fn of(term: &PodTerm, own: &str, labelled: &BTreeMap<String, BTreeMap<String, String>>) -> Self {
        let selector = term.selector.clone();
        let mut namespaces: BTreeSet<String> = term.namespaces.iter().cloned().collect();
        match term.namespace_selector.as_ref().filter(|_| !on(Mutant::NamespaceSelectorIgnored)) {
            None if namespaces.is_empty() => drop(namespaces.insert(own.to_owned())),
            None => {}
            Some(Selector::All(requirements)) if requirements.is_empty() => {
                return Self { namespaces: None, selector };
            }
            Some(wanted) => {
                let matching = labelled.iter().filter(|(_, labels)| wanted.matches(labels));
                namespaces.extend(matching.map(|(name, _)| name.clone()));
            }
        }
        Self { namespaces: Some(namespaces), selector }
    }

    /// The pods that a term selects, whatever their namespace.
    pub(crate) fn everywhere(term: &PodTerm) -> Self {
        Self { namespaces: None, selector: term.selector.clone() }
    }

    /// Whether the term's namespace selector matches a namespace without labels.
    pub(crate) fn takes_unlabelled(term: &PodTerm) -> bool {
        term.namespace_selector.as_ref().is_some_and(|wanted| wanted.matches(&BTreeMap::new()))
    }

    pub(crate) fn selects(&self, namespace: &str, labels: &BTreeMap<String, String>) -> bool {
        self.namespaces.as_ref().is_none_or(|namespaces| namespaces.contains(namespace))
            && self.selector.matches(labels)
    }

    pub(crate) fn only_namespace(&self) -> Option<&str> {
        let namespaces = self.namespaces.as_ref().filter(|namespaces| namespaces.len() == 1)?;
        namespaces.first().map(String::as_str)
    }
}

/// A term that bound pods have: a pod in its scope is drawn to, or kept from, the domains that those pods are in.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Term {
    pub(crate) scope: Scope,
    /// The number of the topology key.
    pub(crate) topology: usize,
}

/// Where pods are that have a term.
#[derive(Clone, Debug, Default)]
pub(crate) struct Holders {
    /// Pods that have it as required anti-affinity, by node.
    pub(crate) forbids: Tally,
    /// How many such pods there are.
    pub(crate) forbidding: i64,
    /// The weights that it has with them in scores, by node: 1 for required affinity, less than 0 for anti-affinity.
    pub(crate) weights: Tally,
    /// How many pods have it with a weight.
    pub(crate) weighing: i64,
}

/// How a pod holds a term.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Hold {
    /// Required anti-affinity.
    Forbids,
    /// With this weight.
    Weighs(i64),
}

/// Required affinity of pods that run counts this much in the scores of pods that come.
/// Source: `apis/config/v1/defaults.go`, `DefaultHardPodAffinityWeight`.
pub(crate) const REQUIRED_WEIGHT: i64 = 1;
