//! Node affinity, and what is kept of pod affinity.

use std::collections::BTreeMap;

use crate::selector::Selector;

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

impl NodeTerm {
    /// Whether a node with this name and these labels fulfils the term.
    #[must_use]
    pub fn matches(&self, name: &str, labels: &BTreeMap<String, String>) -> bool {
        if self.labels.is_empty() && self.fields.is_empty() {
            return false;
        }
        let fields = BTreeMap::from([("metadata.name".to_owned(), name.to_owned())]);
        self.labels.iter().all(|expression| expression.matches(labels))
            && self.fields.iter().all(|expression| expression.matches(&fields))
    }
}

/// Whether one of the terms matches: the meaning of a whole node selector.
#[must_use]
pub fn any_term_matches(terms: &[NodeTerm], name: &str, labels: &BTreeMap<String, String>) -> bool {
    terms.iter().any(|term| term.matches(name, labels))
}
