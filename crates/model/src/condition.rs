//! Conditions that a view of a cluster fulfils or not. They are data: a plan and a journal hold them.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::ObjectRef;
use crate::verb::Field;

/// Something that can be read from a view. How each is evaluated is in `rehome-engine`, `condition/`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "if", rename_all = "camelCase")]
pub enum Condition {
    /// The field of the object has this value; `None` is "not set".
    #[serde(rename_all = "camelCase")]
    FieldEquals {
        /// The object.
        target: ObjectRef,
        /// The field.
        field: Field,
        /// The value.
        value: Option<String>,
    },
    /// The node exists and its condition `Ready` is True.
    NodeReady {
        /// The node's name.
        node: String,
    },
    /// The workload exists, asks for this many replicas, and (for a Deployment) has this rollout strategy.
    #[serde(rename_all = "camelCase")]
    WorkloadIs {
        /// The workload.
        workload: ObjectRef,
        /// `spec.replicas`; `None` where the kind has none.
        replicas: Option<i64>,
        /// Words for the strategy as `WorkloadStrategy` displays it in `rehome-k8s`.
        strategy: String,
    },
    /// The Deployment's newest template is rolled out: observed, all replicas updated and available, no old one left.
    RolledOut {
        /// The Deployment.
        workload: ObjectRef,
    },
    /// No pod of the workload is bound to one of these nodes, and all its replicas are Ready.
    #[serde(rename_all = "camelCase")]
    SettledOffNodes {
        /// The workload, or a pod without controller.
        workload: ObjectRef,
        /// The nodes.
        nodes: Vec<String>,
    },
    /// The pod exists.
    Exists {
        /// The object.
        target: ObjectRef,
    },
    /// All of these.
    All {
        /// The parts.
        of: Vec<Condition>,
    },
    /// At least one of these.
    Any {
        /// The parts.
        of: Vec<Condition>,
    },
}

impl fmt::Display for Condition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::FieldEquals { target, field, value: Some(value) } => write!(f, "{field} of {target} is {value:?}"),
            Self::FieldEquals { target, field, value: None } => write!(f, "{field} of {target} is not set"),
            Self::NodeReady { node } => write!(f, "Node {node} is Ready"),
            Self::WorkloadIs { workload, replicas: Some(replicas), strategy } => {
                write!(f, "{workload} asks for {replicas} replicas ({strategy})")
            }
            Self::WorkloadIs { workload, replicas: None, strategy } if strategy.is_empty() => {
                write!(f, "{workload} exists")
            }
            Self::WorkloadIs { workload, replicas: None, strategy } => write!(f, "{workload} exists ({strategy})"),
            Self::RolledOut { workload } => write!(f, "{workload} is rolled out"),
            Self::SettledOffNodes { workload, nodes } => {
                write!(f, "{workload} is Ready and has no pod on {}", nodes.join(", "))
            }
            Self::Exists { target } => write!(f, "{target} exists"),
            Self::All { of } => list(f, of, " and "),
            Self::Any { of } => list(f, of, " or "),
        }
    }
}

fn list(f: &mut fmt::Formatter<'_>, parts: &[Condition], joint: &str) -> fmt::Result {
    for (index, part) in parts.iter().enumerate() {
        if index > 0 {
            f.write_str(joint)?;
        }
        write!(f, "{part}")?;
    }
    Ok(())
}
