//! Selectors, expressions and numbers that may be percentages.

use k8s_openapi::api::core::v1::{NodeSelector, NodeSelectorRequirement, NodeSelectorTerm};
use k8s_openapi::apimachinery::pkg::api::resource::Quantity;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::LabelSelector;
use k8s_openapi::apimachinery::pkg::util::intstr::IntOrString;
use std::collections::BTreeMap;

use super::BadField;
use crate::affinity::{NodeExpression, NodeOperator, NodeTerm};
use crate::node::Resources;
use crate::percent::IntOrPercent;
use crate::quantity;
use crate::selector::{Operator, Requirement, Selector};

/// A label selector; absent is [`Selector::Nothing`].
pub(super) fn labels(selector: Option<LabelSelector>) -> Result<Selector, BadField> {
    let Some(selector) = selector else { return Ok(Selector::Nothing) };
    let mut requirements: Vec<Requirement> = Vec::new();
    for (key, value) in selector.match_labels.unwrap_or_default() {
        requirements.push(Requirement { key, operator: Operator::In, values: vec![value] });
    }
    for expression in selector.match_expressions.unwrap_or_default() {
        let operator = match expression.operator.as_str() {
            "In" => Operator::In,
            "NotIn" => Operator::NotIn,
            "Exists" => Operator::Exists,
            "DoesNotExist" => Operator::DoesNotExist,
            other => return Err(BadField::new("selector operator", "In, NotIn, Exists or DoesNotExist", other)),
        };
        requirements.push(Requirement { key: expression.key, operator, values: expression.values.unwrap_or_default() });
    }
    Ok(Selector::All(requirements))
}

/// The terms of a node selector.
pub(super) fn node_terms(selector: NodeSelector) -> Result<Vec<NodeTerm>, BadField> {
    selector.node_selector_terms.into_iter().map(node_term).collect()
}

/// One term of a node selector.
pub(super) fn node_term(term: NodeSelectorTerm) -> Result<NodeTerm, BadField> {
    let list = |requirements: Option<Vec<NodeSelectorRequirement>>| {
        requirements.unwrap_or_default().into_iter().map(node_expression).collect::<Result<Vec<_>, _>>()
    };
    Ok(NodeTerm { labels: list(term.match_expressions)?, fields: list(term.match_fields)? })
}

fn node_expression(requirement: NodeSelectorRequirement) -> Result<NodeExpression, BadField> {
    let operator = match requirement.operator.as_str() {
        "In" => NodeOperator::In,
        "NotIn" => NodeOperator::NotIn,
        "Exists" => NodeOperator::Exists,
        "DoesNotExist" => NodeOperator::DoesNotExist,
        "Gt" => NodeOperator::Gt,
        "Lt" => NodeOperator::Lt,
        other => {
            return Err(BadField::new("node selector operator", "In, NotIn, Exists, DoesNotExist, Gt or Lt", other));
        }
    };
    Ok(NodeExpression { key: requirement.key, operator, values: requirement.values.unwrap_or_default() })
}

/// A number or a percentage.
pub(super) fn int_or_percent(field: &str, value: IntOrString) -> Result<IntOrPercent, BadField> {
    match value {
        IntOrString::Int(number) => Ok(IntOrPercent::Int(number.into())),
        IntOrString::String(text) => {
            IntOrPercent::parse(&text).ok_or_else(|| BadField::new(field, "a number or a percentage", text))
        }
    }
}

/// Amounts in our units.
pub(super) fn resources(amounts: Option<BTreeMap<String, Quantity>>) -> Result<Resources, BadField> {
    let mut resources = Resources::new();
    for (name, amount) in amounts.unwrap_or_default() {
        let amount = quantity::amount(&name, &amount.0).map_err(|error| {
            BadField::new(format!("resource {name}"), "a quantity such as 250m or 1.5Gi", error.found)
        })?;
        resources.insert(name, amount);
    }
    Ok(resources)
}

/// Amounts in thousandths, whatever the resource.
pub(super) fn thousandths(amounts: Option<BTreeMap<String, Quantity>>) -> Result<Resources, BadField> {
    let mut resources = Resources::new();
    for (name, amount) in amounts.unwrap_or_default() {
        // The one resource that is counted in thousandths.
        let amount = quantity::amount("cpu", &amount.0)
            .map_err(|error| BadField::new(format!("ratio of {name}"), "a quantity such as 4 or 1500m", error.found))?;
        resources.insert(name, amount);
    }
    Ok(resources)
}

/// An optional 32-bit number as ours.
pub(super) fn int_or_none(number: Option<i32>) -> Option<i64> {
    number.map(Into::into)
}
