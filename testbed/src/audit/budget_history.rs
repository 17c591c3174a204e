//! What the log says of PodDisruptionBudgets.
//!
//! How many pods must be healthy is taken from the status that the disruption controller wrote, and how many are is
//! counted from the pods' own histories: no budget arithmetic of ours is trusted here.

use std::collections::BTreeMap;

use rehome_k8s::selector::{Operator, Requirement, Selector};
use rehome_model::Timestamp;
use serde_json::Value;

/// A budget.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct BudgetHistory {
    /// `spec.selector`.
    pub selector: Selector,
    /// `status.desiredHealthy`, from when on.
    pub desired: Vec<(Timestamp, i64)>,
    /// When it was deleted.
    pub gone: Option<Timestamp>,
}

impl BudgetHistory {
    /// How many pods had to be healthy at this time; `None` while no controller had said it.
    #[must_use]
    pub fn desired_at(&self, at: Timestamp) -> Option<i64> {
        if self.gone.is_some_and(|gone| gone <= at) {
            return None;
        }
        self.desired.iter().rev().find(|(from, _)| *from <= at).map(|(_, desired)| *desired)
    }

    pub(super) fn set_desired(&mut self, desired: i64, at: Timestamp) {
        if self.desired.last().is_none_or(|(_, last)| *last != desired) {
            self.desired.push((at, desired));
        }
    }
}

/// A `metav1.LabelSelector`; absent matches nothing.
pub(super) fn label_selector(selector: &Value) -> Selector {
    let Some(selector) = selector.as_object() else { return Selector::Nothing };
    let mut requirements = equalities(selector.get("matchLabels").unwrap_or(&Value::Null));
    for expression in selector.get("matchExpressions").and_then(Value::as_array).into_iter().flatten() {
        let operator = match expression["operator"].as_str() {
            Some("In") => Operator::In,
            Some("NotIn") => Operator::NotIn,
            Some("Exists") => Operator::Exists,
            _ => Operator::DoesNotExist,
        };
        let values = expression["values"].as_array().into_iter().flatten();
        requirements.push(Requirement {
            key: expression["key"].as_str().unwrap_or_default().to_owned(),
            operator,
            values: values.filter_map(Value::as_str).map(str::to_owned).collect(),
        });
    }
    Selector::All(requirements)
}

/// The selector of a Service: a map of labels; absent or empty matches nothing.
pub(super) fn service_selector(selector: &Value) -> Selector {
    match equalities(selector) {
        none if none.is_empty() => Selector::Nothing,
        requirements => Selector::All(requirements),
    }
}

fn equalities(labels: &Value) -> Vec<Requirement> {
    labels_of(labels)
        .into_iter()
        .map(|(key, value)| Requirement { key, operator: Operator::In, values: vec![value] })
        .collect()
}

/// A map of labels.
pub(super) fn labels_of(labels: &Value) -> BTreeMap<String, String> {
    let entries = labels.as_object().into_iter().flatten();
    entries.filter_map(|(key, value)| Some((key.clone(), value.as_str()?.to_owned()))).collect()
}
