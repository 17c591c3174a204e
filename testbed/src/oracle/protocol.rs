//! What is asked of an oracle and what it answers: the Rust side of `oracle/protocol.go`, where each field is explained.
//!
//! Objects are JSON values as the API server stores them, so that nothing is lost on the way to the scheduler's own
//! decoder.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// A cluster, and the unbound pods of it that are to be judged: each alone, none is placed.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Request {
    /// All objects of the cluster, each with its `apiVersion` and `kind`, in any order.
    pub objects: Vec<Value>,
    /// The pods, as `namespace/name`.
    pub pods: Vec<String>,
}

/// The answer to a [`Request`].
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct Response {
    /// The version of Kubernetes: `v1.37.2`.
    pub version: String,
    /// In the order of the request.
    #[serde(default)]
    pub pods: Vec<PodVerdict>,
    /// The Go types of objects in the request that the scheduler does not read: `*v1.ConfigMap`.
    #[serde(default)]
    pub ignored: Vec<String>,
}

/// What the scheduler would do with one pod.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct PodVerdict {
    /// The pod, as `namespace/name`.
    pub pod: String,
    /// The `PreFilter` that rejects the pod outright; `first` of each node then says the same.
    pub blocked: Option<Verdict>,
    /// All nodes, by name.
    pub nodes: Vec<NodeVerdict>,
    /// The message of a `FailedScheduling` event without what preemption adds; `None` if a node is feasible.
    pub message: Option<String>,
    /// What `DefaultPreemption` would choose; `None` if a node is feasible or if it would choose none.
    pub preemption: Option<Preemption>,
    /// Set if a plugin failed instead of rejecting.
    pub error: Option<String>,
}

impl PodVerdict {
    /// The pair with this node.
    #[must_use]
    pub fn node(&self, name: &str) -> Option<&NodeVerdict> {
        self.nodes.iter().find(|node| node.node == name)
    }
}

/// One pair of pod and node.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct NodeVerdict {
    /// The node.
    pub node: String,
    /// The plugin that rejects the node in the default profile, which asks no further; `None` if it is feasible.
    pub first: Option<Verdict>,
    /// The reasons of each filter plugin that rejects the pair when it runs by itself, its own `PreFilter` included.
    pub alone: BTreeMap<String, Vec<String>>,
    /// Normalised score times weight of each plugin that did not skip the pod; empty if the node is not feasible.
    pub scores: BTreeMap<String, i64>,
    /// The sum of the scores.
    pub total: i64,
}

/// A rejection.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct Verdict {
    /// The plugin; two names with a comma if each narrowed the nodes and no node is in both sets.
    pub plugin: String,
    /// `Unschedulable` (preemption may help), `UnschedulableAndUnresolvable`, `Pending` or `Error`.
    pub code: String,
    /// The reasons, as an event counts them; sorted.
    pub reasons: Vec<String>,
}

/// The choice of `DefaultPreemption` over all candidates.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct Preemption {
    /// The node that it would clear, at random among `ties`.
    pub node: String,
    /// The pods that it would delete there, the most important first, as `namespace/name`.
    pub victims: Vec<String>,
    /// The candidates that no criterion tells from `node`, which is among them.
    pub ties: Vec<String>,
    /// All nodes that could be cleared, by name.
    pub candidates: Vec<Candidate>,
}

/// A node that could be cleared for a pod.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct Candidate {
    /// The node.
    pub node: String,
    /// The pods that would be deleted.
    pub victims: Vec<String>,
    /// How many of them a `PodDisruptionBudget` protects.
    pub violations: i64,
}

/// A whole run of the scheduling loop: each pod in turn is scheduled and put into the scheduler's cache.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct PlaceRequest {
    /// The cluster.
    pub objects: Vec<Value>,
    /// Unbound pods, in the order in which they leave the queue.
    pub pods: Vec<Value>,
    /// `percentageOfNodesToScore`: 100 for all nodes, 0 for the default sampling.
    pub percentage: i32,
    /// How many threads filter and score; 0 for the default, 16.
    pub parallelism: i32,
}

/// The answer to a [`PlaceRequest`].
#[derive(Clone, Debug, PartialEq, Deserialize)]
pub struct PlaceResponse {
    /// The version of Kubernetes.
    pub version: String,
    /// In the order of the pods.
    #[serde(default)]
    pub placements: Vec<Placement>,
    /// Seconds that the loop alone took.
    pub seconds: f64,
}

/// Where a pod went.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct Placement {
    /// The pod, as `namespace/name`.
    pub pod: String,
    /// The node; empty if the pod fits nowhere.
    pub node: String,
}

/// A run in which each pod goes where it is told, and says where the scheduler would have put it.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct ForcedRequest {
    /// The cluster.
    pub objects: Vec<Value>,
    /// What happens, in this order.
    pub bindings: Vec<ForcedBinding>,
}

/// An unbound pod, and the node that it is bound to once it was judged.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct ForcedBinding {
    /// The pod.
    pub pod: Value,
    /// The node; empty to leave the pod unbound.
    pub node: String,
}

/// The answer to a [`ForcedRequest`].
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct ForcedResponse {
    /// The version of Kubernetes.
    pub version: String,
    /// In the order of the bindings.
    #[serde(default)]
    pub pods: Vec<ForcedBest>,
}

/// The nodes that the scheduler would have drawn from.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct ForcedBest {
    /// The pod, as `namespace/name`.
    pub pod: String,
    /// The nodes with the best total score, by name; none if the pod fits nowhere.
    pub best: Vec<String>,
    /// That score.
    pub total: i64,
}

/// The plugins of the default profile.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct Plugins {
    /// The version of Kubernetes.
    pub version: String,
    /// The filter plugins, in the order in which they are asked.
    pub filters: Vec<String>,
    /// The score plugins.
    pub scores: Vec<PluginWeight>,
}

/// A score plugin and what its normalised score (0 to 100) is multiplied with.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct PluginWeight {
    /// The plugin.
    pub plugin: String,
    /// The weight.
    pub weight: i64,
}
