//! A check: what the rules find in a cluster, and how far they can be trusted.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::document::{Document, Header};
use crate::fidelity::Fidelity;
use crate::finding::Finding;

/// What `rehome check` says.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Check {
    /// `apiVersion` and `kind`.
    #[serde(flatten)]
    pub header: Header,
    /// What the rules found, the worst first.
    pub findings: Vec<Finding>,
    /// How well the scheduler's model explains the cluster.
    pub fidelity: Fidelity,
}

impl Document for Check {
    const KIND: &'static str = "Check";
}
