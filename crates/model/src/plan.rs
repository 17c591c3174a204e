//! A plan: all that will be done, why, in which order, and how it is undone.

use std::collections::{BTreeMap, BTreeSet};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::condition::Condition;
use crate::document::{Document, Header};
use crate::finding::Finding;
use crate::intent::Intent;
use crate::snapshot::ClusterIdentity;
use crate::time::Seconds;
use crate::verb::Verb;
use crate::{Digest, ObjectRef};

/// A plan. Total and deterministic: the same snapshot and intent give the same bytes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Plan {
    /// `apiVersion` and `kind`.
    #[serde(flatten)]
    pub header: Header,
    /// The snapshot that it was made from.
    pub snapshot: Digest,
    /// The wish that it fulfils.
    pub intent: Intent,
    /// The cluster that it is for. It is refused for another.
    pub cluster: ClusterIdentity,
    /// The nodes to empty, sorted.
    pub sources: Vec<String>,
    /// The nodes to fill, sorted.
    pub targets: Vec<String>,
    /// Nodes that are neither, but that a moving pod could land on: fenced during the run, and given back at its end.
    pub bystanders: Vec<String>,
    /// What moves, how, and what else was considered.
    pub moves: Vec<PlannedMove>,
    /// Pods on source nodes that stay, with the reason.
    pub stays: Vec<Stay>,
    /// Pods that were Pending in the snapshot and that this move will not place.
    pub pending: Vec<PendingPod>,
    /// The steps, in waves.
    pub waves: Vec<Wave>,
    /// What the rules found. A plan with a blocking finding is shown, but not carried out.
    pub findings: Vec<Finding>,
}

impl Document for Plan {
    const KIND: &'static str = "Plan";
}

impl Plan {
    /// All steps in the order of the waves.
    pub fn steps(&self) -> impl Iterator<Item = &Step> {
        self.waves.iter().flat_map(|wave| &wave.steps)
    }

    /// The step with this name.
    #[must_use]
    pub fn step(&self, name: &str) -> Option<&Step> {
        self.steps().find(|step| step.name == name)
    }

    /// Findings that keep the plan from being carried out.
    pub fn blockers(&self) -> impl Iterator<Item = &Finding> {
        self.findings.iter().filter(|finding| finding.severity == crate::finding::Severity::Blocking)
    }
}

/// How one unit moves.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct PlannedMove {
    /// The workloads that move together: usually one.
    pub workloads: Vec<ObjectRef>,
    /// The name of the step that moves them.
    pub step: String,
    /// The strategy that won: its file name in `rehome-plan`, `strategies/`.
    pub strategy: String,
    /// What it costs.
    pub disruption: Disruption,
    /// The bids that lost, with what they would have cost or why they were not made.
    pub rejected: Vec<RejectedBid>,
}

/// What a way of moving costs. Ordered: the first field that differs decides.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Disruption {
    /// How many pods are deleted past a budget, or for good.
    pub forced: usize,
    /// How many workloads have no Ready pod for some time.
    pub outages: usize,
    /// How many pods restart that need not.
    pub needless_restarts: usize,
    /// How many replicas are missing at the worst moment.
    pub missing_at_worst: usize,
}

/// A bid that was not taken.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct RejectedBid {
    /// The strategy.
    pub strategy: String,
    /// Why it was not taken.
    pub because: String,
}

/// A pod that stays on a source node.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
pub struct Stay {
    /// What stays: the DaemonSet, the mirror pod, the finished pod.
    pub subject: ObjectRef,
    /// Why.
    pub because: String,
    /// How many of its pods stand on source nodes.
    pub pods: usize,
}

/// A pod that was Pending before, and will be afterwards.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
pub struct PendingPod {
    /// The pod.
    pub pod: ObjectRef,
    /// Why no node takes it, counted over all nodes: `{"Insufficient cpu": 12, …}`.
    pub reasons: BTreeMap<String, usize>,
}

/// Steps that belong together. A wave is the unit of review.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Wave {
    /// `w0`, `w1`, …
    pub name: String,
    /// What it is for, in words.
    pub title: String,
    /// The steps.
    pub steps: Vec<Step>,
}

/// One step.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Step {
    /// What it does, as a path: `w2/move/kernel-data/kernel-postgres`. Unique in the plan.
    pub name: String,
    /// What is done.
    #[serde(flatten)]
    pub verb: Verb,
    /// Steps that must be done before, with the reason for each.
    pub after: BTreeMap<String, String>,
    /// Why this step is there.
    pub because: String,
    /// What must hold before it starts.
    pub requires: Vec<Condition>,
    /// What holds once it is done.
    pub establishes: Vec<Condition>,
    /// How it is undone.
    pub undo: Undo,
    /// What happens besides, that nobody would see in a diff.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub side_effects: Vec<String>,
    /// How long it may take before the run stops and asks.
    pub deadline: Seconds,
    /// How many workloads have no Ready pod for a part of it. No more than the intent allows are down at one time.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub outages: usize,
    /// What no other step may touch meanwhile: two steps that name the same are never under way together.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub holds: BTreeSet<ObjectRef>,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde asks with a reference")]
fn is_zero(number: &usize) -> bool {
    *number == 0
}

/// How a step is undone.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "undo", rename_all = "camelCase")]
pub enum Undo {
    /// The field gets back the value that it had, if it still has the one that we set.
    Swap,
    /// Nothing was changed.
    Nothing,
    /// What was done stays.
    LeftInPlace {
        /// Why putting it back would be worse, and what the operator can do.
        why: String,
    },
}
