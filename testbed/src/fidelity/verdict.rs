//! What one side says about the pods of a cluster. Read from the oracle's answers and made from the model's judgements;
//! it is also what a recorded answer holds.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::generate::Cluster;

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
    /// Which nodes could be cleared for it; `None` if a node is feasible or none can be.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub preemption: Option<Preemptions>,
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

/// The nodes that could be cleared for a pod.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Preemptions {
    /// Those among which nothing but chance decides.
    pub ties: BTreeSet<String>,
    /// All of them.
    pub candidates: BTreeMap<String, Cleared>,
}

/// What it would cost to clear a node, by all that kube-scheduler compares, in this order but for the victims.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Cleared {
    /// The pods that would be deleted, the most important first, as `namespace/name`.
    pub victims: Vec<String>,
    /// How many of them a budget protects.
    pub violations: i64,
    /// The highest priority of a victim.
    pub highest: i64,
    /// The priorities of all, each with 2³¹ added.
    pub sum: i64,
    /// When the oldest of the victims of the highest priority started; `None`, which is the latest, if none did.
    pub started: Option<String>,
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

impl Cleared {
    /// What the victims, as they stand in the cluster, cost.
    #[must_use]
    pub fn of(cluster: &Cluster, victims: Vec<String>, violations: i64) -> Self {
        let pods: Vec<&Value> = victims.iter().filter_map(|victim| pod(cluster, victim)).collect();
        let priority = |pod: &Value| pod["spec"]["priority"].as_i64().unwrap_or_default();
        let highest = pods.iter().map(|pod| priority(pod)).max().unwrap_or_default();
        let most_important = pods.iter().filter(|pod| priority(pod) == highest);
        let started = most_important.filter_map(|pod| pod["status"]["startTime"].as_str()).min().map(str::to_owned);
        let sum = pods.iter().map(|pod| priority(pod) + (1 << 31)).sum();
        Self { victims, violations, highest, sum, started }
    }
}

fn pod<'c>(cluster: &'c Cluster, name: &str) -> Option<&'c Value> {
    let (namespace, name) = name.split_once('/')?;
    let is = |object: &&Value| {
        let meta = &object["metadata"];
        object["kind"] == "Pod" && meta["name"] == name && meta["namespace"] == namespace
    };
    cluster.objects.iter().find(is)
}
