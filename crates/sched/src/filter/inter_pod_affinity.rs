//! InterPodAffinity: required affinity and anti-affinity, the latter in both directions.
//!
//! Source: `k8s.io/kubernetes/pkg/scheduler/framework/plugins/interpodaffinity/filtering.go`.

use std::collections::{BTreeMap, BTreeSet};

use rehome_k8s::affinity::PodTerm;
use rehome_k8s::node::Node;
use rehome_k8s::pod::Pod;
use rehome_k8s::{Key, Kind, View};

use super::{Cycle, reject};
use crate::{Candidate, Rejection};

/// Domains, as (label, value), that terms were found in.
type Domains = BTreeSet<(String, String)>;

pub(super) struct State {
    /// For each affinity term: the domains that hold a pod which matches all terms' selectors.
    attracted: Vec<Domains>,
    /// The pod matches its own affinity terms and nothing else does: the first of a group may land anywhere.
    bootstraps: bool,
    /// Domains that the pod's anti-affinity forbids.
    repelled: Domains,
    /// Domains that running pods' anti-affinity forbids to this pod.
    repelled_by_others: Domains,
}

impl State {
    pub(super) fn new(view: &View, pod: &Candidate<'_>) -> Self {
        let affinity = &pod.spec.affinity;
        let mut attracted = vec![Domains::new(); affinity.pod.len()];
        let (mut repelled, mut repelled_by_others) = (Domains::new(), Domains::new());
        for other in view.pods() {
            if other.finished() || other.meta.name == pod.name && other.meta.namespace == pod.namespace {
                continue;
            }
            // Most clusters have few such terms: a pod that neither side has one for costs no look-up of its node.
            if affinity.pod.is_empty() && affinity.pod_anti.is_empty() && other.spec.affinity.pod_anti.is_empty() {
                continue;
            }
            let Some(node) = other.node.as_deref().and_then(|name| view.node(name)) else { continue };
            let domain = |term: &PodTerm| {
                node.meta.labels.get(&term.topology_key).map(|value| (term.topology_key.clone(), value.clone()))
            };
            let all_match = affinity.pod.iter().all(|term| selects(view, term, pod.namespace, other));
            if all_match {
                for (term, domains) in affinity.pod.iter().zip(&mut attracted) {
                    domains.extend(domain(term));
                }
            }
            for term in affinity.pod_anti.iter().filter(|term| selects(view, term, pod.namespace, other)) {
                repelled.extend(domain(term));
            }
            for term in &other.spec.affinity.pod_anti {
                if selects_candidate(view, term, &other.meta.namespace, pod) {
                    repelled_by_others.extend(domain(term));
                }
            }
        }
        let bootstraps = attracted.iter().all(BTreeSet::is_empty)
            && affinity.pod.iter().all(|term| selects_candidate(view, term, pod.namespace, pod));
        Self { attracted, bootstraps, repelled, repelled_by_others }
    }
}

fn in_scope(view: &View, term: &PodTerm, own_namespace: &str, namespace: &str) -> bool {
    if term.namespaces.is_empty() && term.namespace_selector.is_none() {
        return namespace == own_namespace;
    }
    term.namespaces.iter().any(|name| name == namespace)
        || term.namespace_selector.as_ref().is_some_and(|selector| {
            // An empty selector stands for all namespaces, also for those that the view does not hold.
            match view.get(Kind::Namespace, &Key::cluster(namespace)) {
                Some(namespace) => selector.matches(&namespace.meta().labels),
                None => selector.matches(&BTreeMap::new()),
            }
        })
}

fn selects(view: &View, term: &PodTerm, own_namespace: &str, other: &Pod) -> bool {
    in_scope(view, term, own_namespace, &other.meta.namespace) && term.selector.matches(&other.meta.labels)
}

fn selects_candidate(view: &View, term: &PodTerm, own_namespace: &str, pod: &Candidate<'_>) -> bool {
    in_scope(view, term, own_namespace, pod.namespace) && term.selector.matches(pod.labels)
}

pub(super) fn filter(cycle: &Cycle<'_>, node: &Node) -> Result<(), Rejection> {
    const PLUGIN: &str = "InterPodAffinity";
    let State { attracted, bootstraps, repelled, repelled_by_others } = &cycle.affinity;
    let domain = |key: &str| node.meta.labels.get(key).map(|value| (key.to_owned(), value.clone()));
    for (term, domains) in cycle.pod.spec.affinity.pod.iter().zip(attracted) {
        let here = domain(&term.topology_key);
        let fits = here.as_ref().is_some_and(|here| domains.contains(here) || *bootstraps);
        if !fits {
            return Err(reject(PLUGIN, "node(s) didn't match pod affinity rules"));
        }
    }
    let touches = |domains: &Domains| domains.iter().any(|(key, value)| node.meta.labels.get(key) == Some(value));
    if touches(repelled) {
        return Err(reject(PLUGIN, "node(s) didn't match pod anti-affinity rules"));
    }
    if touches(repelled_by_others) {
        return Err(reject(PLUGIN, "node(s) didn't satisfy existing pods anti-affinity rules"));
    }
    Ok(())
}
