//! The closed set of verbs: how one thing is changed safely. Strategies only compose them.
//!
//! Here they are data, because a plan holds them; what each does is in `rehome-engine`, `verbs/`, one file per verb.
//! A new verb is a design decision: engine, simulator, live adapter and view all have to learn it.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::ObjectRef;
use crate::condition::Condition;
use crate::intent::ConsentTo;
use crate::time::Seconds;

/// The taint that keeps new pods away from nodes while a cluster is moved. Its value is the run that set it.
pub const FENCE_TAINT: &str = "rehome.dev/moving";
/// The taint that keeps two workloads on one volume together: set on all targets but one while they move.
pub const HOLD_TAINT: &str = "rehome.dev/hold";
/// The annotation on a pod template by which `kubectl rollout restart` restarts a Deployment; we use the same, so that
/// dashboards and GitOps tools treat it as they treat that command.
/// Source: kubectl, `polymorphichelpers/objectrestarter.go`.
pub const RESTART_ANNOTATION: &str = "kubectl.kubernetes.io/restartedAt";

/// What a step does.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "verb", rename_all = "camelCase")]
pub enum Verb {
    /// Sets one field of one object from an expected value to another. Its undo is the swap.
    Change(Change),
    /// Sets the restart annotation and waits until the Deployment is rolled out, with surge, off the source nodes.
    Restart(Restart),
    /// Evicts the pods of the lineages from the nodes they leave, by UID, each only when the one before has a Ready
    /// successor.
    Evict(Evict),
    /// Deletes pods, by UID, that no eviction can move. Needs the consent that it names.
    Delete(Delete),
    /// Waits for a condition.
    Wait(Wait),
    /// Proves by two fresh lists that a node holds nothing but pods that stay.
    ProveEmpty(ProveEmpty),
}

impl Verb {
    /// Whether it moves pods.
    #[must_use]
    pub fn moves_pods(&self) -> bool {
        matches!(self, Self::Restart(_) | Self::Evict(_) | Self::Delete(_))
    }

    /// The word for it in tables.
    #[must_use]
    pub fn word(&self) -> &'static str {
        match self {
            Self::Change(_) => "change",
            Self::Restart(_) => "restart",
            Self::Evict(_) => "evict",
            Self::Delete(_) => "delete",
            Self::Wait(_) => "wait",
            Self::ProveEmpty(_) => "prove",
        }
    }
}

/// See [`Verb::Change`].
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Change {
    /// The object.
    pub target: ObjectRef,
    /// The field.
    pub field: Field,
    /// The value that it must have before; `None` is "not set".
    pub from: Option<String>,
    /// The value that it gets; `None` removes it.
    pub to: Option<String>,
}

/// A field that rehome changes. Closed, so that every writer and reader of fields knows all of them.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "field", rename_all = "camelCase")]
pub enum Field {
    /// `spec.unschedulable` of a node: the value is `true` or not set.
    Unschedulable,
    /// The value of the `NoSchedule` taint with this key in `spec.taints` of a node; not set when there is none.
    NoScheduleTaint {
        /// The key.
        key: String,
    },
    /// An annotation in `spec.template.metadata.annotations` of a Deployment.
    TemplateAnnotation {
        /// The key.
        key: String,
    },
}

impl fmt::Display for Field {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unschedulable => f.write_str("spec.unschedulable"),
            Self::NoScheduleTaint { key } => write!(f, "taint {key}:NoSchedule"),
            Self::TemplateAnnotation { key } => write!(f, "template annotation {key}"),
        }
    }
}

/// Some pods of one workload that leave some nodes. Pods of a ReplicaSet have no identity from one incarnation to the
/// next, so a plan names the workload and how many pods are to leave; UIDs are resolved when the step starts.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
pub struct Lineage {
    /// The topmost controller (`Deployment`, not its `ReplicaSet`), or the pod itself where there is none.
    pub workload: ObjectRef,
    /// How many of its pods stand on the nodes that it leaves. A receipt is due for each.
    pub pods: usize,
}

/// See [`Verb::Restart`].
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Restart {
    /// The Deployment and how many of its pods leave source nodes.
    pub lineage: Lineage,
    /// How many pods restart although they stand elsewhere: the price of this verb.
    pub restarted_elsewhere: usize,
    /// The nodes that must hold none of its pods afterwards.
    pub off: Vec<String>,
    /// The value of the restart annotation before.
    pub from: Option<String>,
    /// The value that it gets.
    pub to: String,
}

/// See [`Verb::Evict`].
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Evict {
    /// Usually one lineage; several when they share a volume that only one node can attach: then all are evicted
    /// before a successor is waited for.
    pub lineages: Vec<Lineage>,
    /// The nodes that they leave.
    pub off: Vec<String>,
    /// The nodes on which a successor counts.
    pub onto: Vec<String>,
}

/// See [`Verb::Delete`].
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Delete {
    /// The lineage.
    pub lineage: Lineage,
    /// The nodes that it leaves.
    pub off: Vec<String>,
    /// The nodes on which a successor counts.
    pub onto: Vec<String>,
    /// The consent that it rests on.
    pub consent: ConsentTo,
    /// Whether somebody creates the pod again; nobody does for a bare pod.
    pub successor: Successor,
}

/// Whether a deleted pod comes back.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum Successor {
    /// Its controller creates another, which must become Ready.
    Awaited,
    /// Nobody creates it again.
    None,
}

/// See [`Verb::Wait`].
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Wait {
    /// What must hold.
    pub until: Condition,
    /// For how long it must have held without a break.
    pub stable_for: Seconds,
}

/// See [`Verb::ProveEmpty`].
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ProveEmpty {
    /// The node.
    pub node: String,
}
