//! What one side says about the pods of a cluster. Read from the oracle's answers and made from the model's judgements;
//! it is also what a recorded answer holds.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

/// What is said about one pod.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct PodVerdict {
    /// `namespace/name`.
    pub pod: String,
    /// The PreFilter that rejects the pod outright.
    #[serde(default)]
    pub blocked: Option<Rejection>,
    /// All nodes, by name.
    pub nodes: Vec<NodeVerdict>,
    /// The text of a FailedScheduling event, if no node is feasible.
    #[serde(default)]
    pub message: Option<String>,
    /// A plugin failed instead of judging: there is nothing to compare.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub error: String,
}

/// What is said about one pair of a pod and a node.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct NodeVerdict {
    /// The node.
    pub node: String,
    /// The plugin that rejects first, which ends the node's filtering; `None` if the node is feasible.
    pub first: Option<Rejection>,
    /// Every plugin that rejects when it runs by itself, with its reasons.
    pub alone: BTreeMap<String, BTreeSet<String>>,
    /// Normalised score times weight, of feasible nodes.
    pub scores: BTreeMap<String, i64>,
    /// Their sum.
    pub total: i64,
}

/// A plugin that rejects, and why.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Rejection {
    /// The plugin.
    pub plugin: String,
    /// Its reasons; their order depends on Go maps.
    pub reasons: BTreeSet<String>,
}

impl NodeVerdict {
    /// The score of a plugin; one that skipped the pod gives nothing, which is as good as zero.
    #[must_use]
    pub fn score(&self, plugin: &str) -> i64 {
        self.scores.get(plugin).copied().unwrap_or_default()
    }
}
