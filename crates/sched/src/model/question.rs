//! What can be asked of a node without looking at its pods, and the answers, kept until the node changes.
//!
//! Many pods ask the same: a question is asked once for each node, whoever wants to know.

use std::collections::{BTreeMap, BTreeSet};

use rehome_k8s::affinity::{NodeTerm, any_term_matches};
use rehome_k8s::mutant::{Mutant, on};
use rehome_k8s::node::{Node, UNSCHEDULABLE_TAINT};
use rehome_k8s::selector::Selector;
use rehome_k8s::toleration::{Effect, Taint, Toleration, untolerated};

/// A question. An answer of zero means: nothing against it, and nothing for it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Question {
    /// 1 if the node is cordoned and these tolerations do not cover that.
    Cordoned(Vec<Toleration>),
    /// 1 if a taint that keeps pods away is not tolerated.
    Tainted(Vec<Toleration>),
    /// How many taints that only discourage are not tolerated.
    Discouraged(Vec<Toleration>),
    /// 1 if the node selector or the required node affinity does not match.
    Elsewhere(BTreeMap<String, String>, Option<Vec<NodeTerm>>),
    /// The weights of the preferred terms that match.
    Preferred(Vec<(i64, NodeTerm)>),
    /// 1 if the kubelet does not declare all of these features.
    Lacks(Vec<String>),
    /// 1 if the labels match none of a volume's terms.
    OutOfReach(Vec<NodeTerm>),
    /// 1 if the node has a zone or region label, and one of these labels is missing or has none of the values.
    OtherZone(Vec<(String, BTreeSet<String>)>),
    /// 1 if there are terms and the labels match none of them: where a class makes volumes.
    NotProvisioned(Vec<NodeTerm>),
    /// 1 if the labels do not match.
    NoAccess(Selector),
}

/// The labels that VolumeZone compares, and the stable ones that took the place of beta ones.
/// Source: `k8s.io/kubernetes/pkg/scheduler/framework/plugins/volumezone`.
pub(crate) const ZONE_LABELS: [(&str, &str); 4] = [
    ("failure-domain.beta.kubernetes.io/zone", "topology.kubernetes.io/zone"),
    ("failure-domain.beta.kubernetes.io/region", "topology.kubernetes.io/region"),
    ("topology.kubernetes.io/zone", "topology.kubernetes.io/zone"),
    ("topology.kubernetes.io/region", "topology.kubernetes.io/region"),
];

impl Question {
    fn answer(&self, node: &Node) -> i64 {
        let labels = &node.meta.labels;
        match self {
            Self::Cordoned(tolerations) => {
                i64::from(node.unschedulable && !tolerates_cordon(tolerations) && !on(Mutant::CordonsIgnored))
            }
            Self::Tainted(tolerations) => {
                let taint = untolerated(&node.taints, tolerations);
                let ignored = |taint: &&Taint| on(Mutant::NoExecuteIgnored) && taint.effect == Effect::NoExecute;
                i64::from(taint.filter(|taint| !ignored(taint)).is_some())
            }
            Self::Discouraged(_) if on(Mutant::PreferNoScheduleIgnored) => 0,
            Self::Discouraged(tolerations) => discouraging(node, tolerations),
            Self::Elsewhere(selector, terms) => {
                let selected = selector.iter().all(|(key, value)| labels.get(key) == Some(value));
                let matched = || terms.as_ref().is_none_or(|terms| any_term_matches(terms, node.name(), labels));
                i64::from(!(selected && matched()))
            }
            Self::Preferred(terms) => {
                let matching = terms.iter().filter(|(_, term)| term.matches(node.name(), labels));
                matching.map(|(weight, _)| if on(Mutant::NodeWeightsIgnored) { 1 } else { *weight }).sum()
            }
            Self::Lacks(features) => {
                i64::from(!features.iter().all(|feature| node.declared_features.contains(feature)))
            }
            Self::OutOfReach(terms) => {
                i64::from(!any_term_matches(terms, "", labels) && !on(Mutant::VolumeAffinityIgnored))
            }
            Self::OtherZone(wanted) => i64::from(other_zone(labels, wanted)),
            Self::NotProvisioned(terms) => i64::from(!(terms.is_empty() || any_term_matches(terms, "", labels))),
            Self::NoAccess(selector) => i64::from(!selector.matches(labels)),
        }
    }
}

fn tolerates_cordon(tolerations: &[Toleration]) -> bool {
    let cordon = Taint { key: UNSCHEDULABLE_TAINT.to_owned(), value: String::new(), effect: Effect::NoSchedule };
    tolerations.iter().any(|toleration| toleration.tolerates(&cordon))
}

fn discouraging(node: &Node, tolerations: &[Toleration]) -> i64 {
    let soft = node.taints.iter().filter(|taint| taint.effect == Effect::PreferNoSchedule);
    let count = soft.filter(|taint| !tolerations.iter().any(|toleration| toleration.tolerates(taint))).count();
    i64::try_from(count).unwrap_or(i64::MAX)
}

fn other_zone(labels: &BTreeMap<String, String>, wanted: &[(String, BTreeSet<String>)]) -> bool {
    // A node without any of the labels is in the only zone there is.
    if !ZONE_LABELS.iter().any(|(label, _)| labels.contains_key(*label)) {
        return false;
    }
    wanted.iter().any(|(label, zones)| {
        let stable = ZONE_LABELS.iter().find(|(beta, _)| beta == label).map(|(_, stable)| *stable);
        let stable = stable.filter(|_| !on(Mutant::StableZoneLabelIgnored));
        let have = labels.get(label).or_else(|| labels.get(stable?));
        !have.is_some_and(|have| zones.contains(have))
    })
}

/// The answers of all nodes to one question.
#[derive(Clone, Debug)]
pub(crate) struct Answers {
    question: Question,
    values: Vec<i64>,
    /// How much of the list of changed nodes these answers know.
    seen: usize,
    /// How many answers are not zero.
    not_zero: usize,
}

impl Answers {
    pub(crate) fn new(question: Question) -> Self {
        Self { question, values: Vec::new(), seen: 0, not_zero: 0 }
    }

    /// Asks the nodes that have changed again.
    pub(crate) fn refresh(&mut self, nodes: &[Option<std::sync::Arc<Node>>], changed: &[usize]) {
        self.values.resize(nodes.len(), 0);
        for index in &changed[self.seen..] {
            let answer = nodes[*index].as_ref().map_or(0, |node| self.question.answer(node));
            let before = std::mem::replace(&mut self.values[*index], answer);
            self.not_zero = self.not_zero + usize::from(answer != 0) - usize::from(before != 0);
        }
        self.seen = changed.len();
    }

    /// The answer of a node.
    pub(crate) fn of(&self, node: usize) -> i64 {
        self.values[node]
    }

    /// Whether all answers are zero.
    pub(crate) fn trivial(&self) -> bool {
        self.not_zero == 0
    }
}
