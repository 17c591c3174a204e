//! Node affinity, and what is kept of pod affinity.

use std::collections::BTreeMap;
use std::fmt;

use crate::mutant::{Mutant, on};
use crate::selector::{Operator, Requirement, Selector};

/// What `spec.affinity` asks.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Affinity {
    /// `requiredDuringSchedulingIgnoredDuringExecution`: one of the terms must match. `None` asks for nothing; an empty
    /// list matches no node.
    pub node: Option<Vec<NodeTerm>>,
    /// Required pod affinity.
    pub pod: Vec<PodTerm>,
    /// Required pod anti-affinity.
    pub pod_anti: Vec<PodTerm>,
    /// Preferred node affinity: weight (1 to 100) and term.
    pub node_preferred: Vec<(i64, NodeTerm)>,
    /// Preferred pod affinity: weight (1 to 100) and term.
    pub pod_preferred: Vec<(i64, PodTerm)>,
    /// Preferred pod anti-affinity: weight (1 to 100) and term.
    pub pod_anti_preferred: Vec<(i64, PodTerm)>,
}

/// A node selector term: all of its expressions must match. An empty term matches no node.
/// Source: `k8s.io/component-helpers/scheduling/corev1/nodeaffinity`.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct NodeTerm {
    /// `matchExpressions`, over labels.
    pub labels: Vec<NodeExpression>,
    /// `matchFields`, over `metadata.name`.
    pub fields: Vec<NodeExpression>,
}

/// One expression of a node selector.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct NodeExpression {
    /// The label or field.
    pub key: String,
    /// The operator.
    pub operator: NodeOperator,
    /// The values.
    pub values: Vec<String>,
}

/// The operators of node selectors.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum NodeOperator {
    /// The label has one of the values.
    In,
    /// The label is absent, or has none of the values.
    NotIn,
    /// The label is there.
    Exists,
    /// The label is absent.
    DoesNotExist,
    /// The label is an integer greater than the value.
    Gt,
    /// The label is an integer less than the value.
    Lt,
}

/// A required pod (anti-)affinity term.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct PodTerm {
    /// Which pods.
    pub selector: Selector,
    /// In which namespaces, besides those of the selector; empty with no selector means the pod's own.
    pub namespaces: Vec<String>,
    /// `namespaceSelector`.
    pub namespace_selector: Option<Selector>,
    /// The label that makes a domain.
    pub topology_key: String,
    /// `matchLabelKeys`: the pod's own values of these labels are asked of the others, too. In a pod the API server has
    /// merged them into the selector; a template still has them apart ([`crate::template::pod`] merges).
    pub match_label_keys: Vec<String>,
    /// `mismatchLabelKeys`: the pod's own values of these labels are refused.
    pub mismatch_label_keys: Vec<String>,
}

impl NodeExpression {
    /// Whether labels fulfil the expression.
    #[must_use]
    pub fn matches(&self, labels: &BTreeMap<String, String>) -> bool {
        let value = labels.get(&self.key);
        match self.operator {
            NodeOperator::In => value.is_some_and(|value| self.values.contains(value)),
            NodeOperator::NotIn => value.is_none_or(|value| !self.values.contains(value)),
            NodeOperator::Exists => value.is_some(),
            NodeOperator::DoesNotExist => value.is_none(),
            NodeOperator::Gt | NodeOperator::Lt if on(Mutant::NumbersAsText) => {
                let (have, bound) = (value, self.values.first());
                if self.operator == NodeOperator::Gt { have > bound } else { have < bound }
            }
            NodeOperator::Gt | NodeOperator::Lt => {
                let (Some(have), Some(bound)) = (
                    value.and_then(|value| value.parse::<i64>().ok()),
                    self.values.first().and_then(|value| value.parse::<i64>().ok()),
                ) else {
                    return false;
                };
                if self.operator == NodeOperator::Gt { have > bound } else { have < bound }
            }
        }
    }
}

/// As kubectl writes selectors: `role=db`, `zone in (a,b)`, `gpu`, `!gpu`.
impl fmt::Display for NodeExpression {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let values = self.values.join(",");
        match self.operator {
            NodeOperator::In if self.values.len() == 1 => write!(f, "{}={values}", self.key),
            NodeOperator::In => write!(f, "{} in ({values})", self.key),
            NodeOperator::NotIn => write!(f, "{} notin ({values})", self.key),
            NodeOperator::Exists => f.write_str(&self.key),
            NodeOperator::DoesNotExist => write!(f, "!{}", self.key),
            NodeOperator::Gt => write!(f, "{}>{values}", self.key),
            NodeOperator::Lt => write!(f, "{}<{values}", self.key),
        }
    }
}

impl NodeTerm {
    /// Whether a node with this name and these labels fulfils the term.
    #[must_use]
    pub fn matches(&self, name: &str, labels: &BTreeMap<String, String>) -> bool {
        if self.labels.is_empty() && self.fields.is_empty() {
            return false;
        }
        let fields = BTreeMap::from([("metadata.name".to_owned(), name.to_owned())]);
        self.labels.iter().all(|expression| expression.matches(labels))
            && (on(Mutant::MatchFieldsIgnored) || self.fields.iter().all(|expression| expression.matches(&fields)))
    }
}

/// Whether one of the terms matches: the meaning of a whole node selector.
#[must_use]
pub fn any_term_matches(terms: &[NodeTerm], name: &str, labels: &BTreeMap<String, String>) -> bool {
    terms.iter().any(|term| term.matches(name, labels))
}

impl Affinity {
    /// Whether a term has `matchLabelKeys` or `mismatchLabelKeys`.
    #[must_use]
    pub fn has_label_keys(&self) -> bool {
        let preferred = self.pod_preferred.iter().chain(&self.pod_anti_preferred).map(|(_, term)| term);
        let mut terms = self.pod.iter().chain(&self.pod_anti).chain(preferred);
        terms.any(|term| !(term.match_label_keys.is_empty() && term.mismatch_label_keys.is_empty()))
    }

    /// All terms about other pods.
    pub fn pod_terms_mut(&mut self) -> impl Iterator<Item = &mut PodTerm> {
        let preferred = self.pod_preferred.iter_mut().chain(&mut self.pod_anti_preferred).map(|(_, term)| term);
        self.pod.iter_mut().chain(&mut self.pod_anti).chain(preferred)
    }
}

impl PodTerm {
    /// Asks the pod's own values of `matchLabelKeys` and `mismatchLabelKeys` of the others, as the API server does when a
    /// pod is created. Source: `k8s.io/kubernetes/pkg/registry/core/pod/strategy.go`, `applyMatchLabelKeysAndMismatchLabelKeys`.
    pub fn merge_label_keys(&mut self, labels: &BTreeMap<String, String>) {
        let Selector::All(requirements) = &mut self.selector else { return };
        let both = [(&self.match_label_keys, Operator::In), (&self.mismatch_label_keys, Operator::NotIn)];
        for (keys, operator) in both {
            for key in keys {
                let Some(value) = labels.get(key) else { continue };
                let merged = Requirement { key: key.clone(), operator, values: vec![value.clone()] };
                if !requirements.contains(&merged) {
                    requirements.push(merged);
                }
            }
        }
    }
}
