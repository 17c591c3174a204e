//! How well the scheduler's model explains a captured cluster, before anything is forecast with it.
//!
//! What must hold now is told apart from what held when a pod was placed: the first, broken, means that the model or the
//! capture is wrong; the second may have changed since, and is counted with its evidence.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::ObjectRef;
use crate::finding::Code;

/// What the model explains of a capture.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Fidelity {
    /// The minor of kube-scheduler that is modelled: `1.36`.
    pub minor: String,
    /// Bound pods that have not ended.
    pub running: usize,
    /// Those that their own node would take today.
    pub explained: usize,
    /// Pods of which nothing can be said: their node is not in the capture, or does not say what it can hold.
    pub unjudged: usize,
    /// Facts that must hold and do not: the model or the capture is wrong.
    pub violations: Vec<Violation>,
    /// Pods that stand where they would not be put today.
    pub exceptions: Vec<Exception>,
    /// What the scheduler said of pods that wait, and what the model says.
    pub waiting: Vec<Waiting>,
    /// Rules whose word counts for less because of all that.
    pub weaker: Vec<Weaker>,
}

/// A fact that must hold for pods that run, and does not.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
pub struct Violation {
    /// The node or the pod that it is about.
    pub subject: ObjectRef,
    /// The plugin whose rule is broken.
    pub plugin: String,
    /// The field that the rule reads.
    pub field: String,
    /// What must be.
    pub expected: String,
    /// What is.
    pub found: String,
}

/// A pod that its node would not take today.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
pub struct Exception {
    /// The pod.
    pub pod: ObjectRef,
    /// Its node.
    pub node: String,
    /// The plugin that would reject it.
    pub plugin: String,
    /// What most likely changed since it was placed.
    pub cause: Cause,
    /// What shows it.
    pub evidence: String,
}

/// Why a pod stands where it would not be put today.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum Cause {
    /// A static pod: the scheduler was never asked.
    StaticPod,
    /// Another scheduler placed it.
    OtherScheduler,
    /// The node has a taint that the pod does not tolerate.
    TaintAdded,
    /// The node was cordoned.
    Cordoned,
    /// The node's labels, or what the pod asks of them.
    NodeLabels,
    /// Other pods came, went or were scaled: skew.
    Skew,
    /// Other pods came or went: affinity and anti-affinity.
    Neighbours,
    /// A resize that is not granted yet counts already.
    Resize,
    /// The kubelet has not taken up all pods that are bound to the node.
    NotTakenUp,
    /// A device that pods have is not allocatable any longer.
    DeviceGone,
    /// A claim, volume or driver of the pod is gone or not bound.
    Storage,
    /// The kubelet no longer declares a feature.
    Features,
}

impl Cause {
    /// What such pods have in common: `stand on nodes with taints that came later`.
    #[must_use]
    pub const fn words(self) -> &'static str {
        match self {
            Self::StaticPod => "are static: the scheduler was never asked",
            Self::OtherScheduler => "were placed by another scheduler",
            Self::TaintAdded => "stand on nodes with taints added later",
            Self::Cordoned => "stand on nodes cordoned later",
            Self::NodeLabels => "stand on nodes whose labels no longer match",
            Self::Skew => "are spread unevenly by what came and went since",
            Self::Neighbours => "stand against pod affinity by what came and went since",
            Self::Resize => "wait for a resize that counts already",
            Self::NotTakenUp => "are bound but not taken up by the kubelet",
            Self::DeviceGone => "hold devices that are not allocatable any longer",
            Self::Storage => "have a claim, volume or driver that is gone",
            Self::Features => "need features that the kubelet no longer declares",
        }
    }
}

/// A pod that waits, and what the scheduler said of it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
pub struct Waiting {
    /// The pod.
    pub pod: ObjectRef,
    /// What the scheduler said, less what it adds about preemption.
    pub said: String,
    /// What the model makes of it.
    pub outcome: Outcome,
}

/// Whether the model says what the scheduler said.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "result", rename_all = "camelCase")]
pub enum Outcome {
    /// Word for word.
    Reproduced,
    /// The words are different, but the cluster may be, too.
    NotComparable {
        /// What keeps the two apart.
        why: String,
    },
    /// The words are different, and nothing has changed since: the model is wrong here.
    Different {
        /// What the model says.
        model: String,
    },
}

/// A rule whose word counts for less.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
pub struct Weaker {
    /// The rule's code.
    pub code: Code,
    /// The rule's name.
    pub rule: String,
    /// Why.
    pub because: String,
}
