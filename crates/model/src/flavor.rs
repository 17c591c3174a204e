//! Flavors: what a provider sells as one machine, and catalogues of them.
//!
//! Quantities are kept as they were written; what they mean is decided where Kubernetes' quantities are known.

use std::collections::BTreeMap;
use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::document::{Document, Header};

/// Flavors to choose from.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Catalogue {
    /// `apiVersion` and `kind`.
    #[serde(flatten)]
    pub header: Header,
    /// What prices are in: `CHF/month`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub currency: Option<String>,
    /// The flavors.
    pub flavors: Vec<Flavor>,
}

impl Document for Catalogue {
    const KIND: &'static str = "Catalogue";
}

/// What a provider sells as one machine, and what is known of its node. Only cpu and memory must be given.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Flavor {
    /// Its name, which is also the label `node.kubernetes.io/instance-type` of its nodes.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub name: String,
    /// Cores: `4`.
    pub cpu: Quantity,
    /// Memory as it is advertised: `16Gi`.
    pub memory: Quantity,
    /// The row of `knowledge/kubelet-reserves.json`: `gke`. The one that explains the live nodes best unless given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub provider: Option<String>,
    /// The zones of its nodes, filled in turn; those of the nodes that are replaced unless given.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub zones: Vec<String>,
    /// More labels of its nodes.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub labels: BTreeMap<String, String>,
    /// Taints of its nodes: `key=value:NoSchedule`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub taints: Vec<String>,
    /// How many pods the kubelet admits.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_pods: Option<i64>,
    /// How many volumes each CSI driver attaches.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub attach_limit: Option<i64>,
    /// The disk that pods' ephemeral storage is on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub disk: Option<Quantity>,
    /// What the operating system sees of the memory, where it is known: `15.62Gi`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub capacity: Option<Quantity>,
    /// Other resources: `nvidia.com/gpu`.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub resources: BTreeMap<String, Quantity>,
    /// What one of them costs, in the catalogue's currency.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub price: Option<f64>,
}

impl Flavor {
    /// Its name, or one made of its size.
    #[must_use]
    pub fn title(&self) -> String {
        if self.name.is_empty() { format!("cpu{}-mem{}", self.cpu, self.memory) } else { self.name.clone() }
    }
}

/// A quantity as it was written: `4`, `1.5`, `16Gi`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum Quantity {
    /// A whole number.
    Whole(i64),
    /// A number with a fraction.
    Fraction(f64),
    /// With a suffix.
    Text(String),
}

impl Default for Quantity {
    fn default() -> Self {
        Self::Whole(0)
    }
}

impl fmt::Display for Quantity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Whole(number) => number.fmt(f),
            Self::Fraction(number) => number.fmt(f),
            Self::Text(text) => text.fmt(f),
        }
    }
}
