//! PodTopologySpread: hard constraints only; soft ones score.
//!
//! Source: `k8s.io/kubernetes/pkg/scheduler/framework/plugins/podtopologyspread/filtering.go`.

use std::collections::BTreeMap;

use rehome_k8s::View;
use rehome_k8s::node::Node;
use rehome_k8s::selector::{Operator, Requirement, Selector};
use rehome_k8s::spread::SpreadConstraint;
use rehome_k8s::toleration;

use super::{Cycle, node_affinity, reject};
use crate::{Candidate, Rejection};

/// Matching pods per domain, for each hard constraint.
pub(super) struct State {
    constraints: Vec<(SpreadConstraint, Selector, BTreeMap<String, i64>)>,
}

impl State {
    pub(super) fn new(view: &View, pod: &Candidate<'_>) -> Self {
        let hard: Vec<&SpreadConstraint> = pod.spec.spread.iter().filter(|constraint| constraint.hard).collect();
        let mut constraints: Vec<_> =
            hard.iter().map(|constraint| ((*constraint).clone(), selector(constraint, pod), BTreeMap::new())).collect();
        if constraints.is_empty() {
            return Self { constraints };
        }
        for node in view.nodes() {
            // A node that lacks the key of any constraint is in no domain of any of them.
            if !hard.iter().all(|constraint| node.meta.labels.contains_key(&constraint.topology_key)) {
                continue;
            }
            for (constraint, selector, domains) in &mut constraints {
                let excluded = constraint.honor_node_affinity && !node_affinity::matches(pod.spec, node)
                    || constraint.honor_node_taints
                        && toleration::untolerated(&node.taints, &pod.spec.tolerations).is_some();
                if excluded {
                    continue;
                }
                let Some(domain) = node.meta.labels.get(&constraint.topology_key) else { continue };
                let matching = view
                    .pods_on(node.name())
                    .filter(|other| {
                        !other.finished()
                            && other.meta.deleting.is_none()
                            && other.meta.namespace == pod.namespace
                            && other.meta.name != pod.name
                            && selector.matches(&other.meta.labels)
                    })
                    .count();
                *domains.entry(domain.clone()).or_default() += i64::try_from(matching).unwrap_or(i64::MAX);
            }
        }
        Self { constraints }
    }
}

/// The selector with the pod's own values of `matchLabelKeys` added.
fn selector(constraint: &SpreadConstraint, pod: &Candidate<'_>) -> Selector {
    let Selector::All(mut requirements) = constraint.selector.clone() else { return Selector::Nothing };
    for key in &constraint.match_label_keys {
        if let Some(value) = pod.labels.get(key) {
            requirements.push(Requirement { key: key.clone(), operator: Operator::In, values: vec![value.clone()] });
        }
    }
    Selector::All(requirements)
}

pub(super) fn filter(cycle: &Cycle<'_>, node: &Node) -> Result<(), Rejection> {
    for (constraint, selector, domains) in &cycle.spread.constraints {
        let Some(domain) = node.meta.labels.get(&constraint.topology_key) else {
            return Err(reject(
                "PodTopologySpread",
                "node(s) didn't match pod topology spread constraints (missing required label)",
            ));
        };
        let itself = i64::from(selector.matches(cycle.pod.labels));
        let enough_domains =
            constraint.min_domains.is_none_or(|min| i64::try_from(domains.len()).unwrap_or(i64::MAX) >= min);
        let emptiest = if enough_domains { domains.values().min().copied().unwrap_or(0) } else { 0 };
        let here = domains.get(domain).copied().unwrap_or(0);
        if here + itself - emptiest > constraint.max_skew {
            return Err(reject("PodTopologySpread", "node(s) didn't match pod topology spread constraints"));
        }
    }
    Ok(())
}
