//! What the operator wants: from which nodes to which, and what may be done on the way.

use std::collections::BTreeSet;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::ObjectRef;
use crate::document::{Document, Header};
use crate::time::Seconds;

/// The wish that a plan fulfils. Every field but the two selectors has a default.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Intent {
    /// `apiVersion` and `kind`.
    #[serde(flatten)]
    pub header: Header,
    /// The nodes to empty: a label selector (`pool=old`) or names separated by commas.
    pub from: String,
    /// The nodes to fill, in the same form.
    pub to: String,
    /// Disruptions that the operator agrees to, beyond what budgets allow.
    #[serde(default)]
    pub consents: BTreeSet<Consent>,
    /// How long a moved pod may take to become Ready before the run stops and asks.
    #[serde(default = "default_ready_deadline")]
    pub ready_deadline: Seconds,
    /// How many units may be on the move at the same time, where order, budgets and outages allow it.
    #[serde(default = "default_parallel")]
    #[schemars(range(min = 1))]
    pub parallel: usize,
    /// How many workloads may be without a Ready pod at the same time. A unit that alone takes more moves by itself.
    #[serde(default = "default_max_unavailable")]
    #[schemars(range(min = 1))]
    pub max_unavailable: usize,
    /// How the target is sized.
    #[serde(default, skip_serializing_if = "SizingWish::is_default")]
    pub sizing: SizingWish,
}

/// How many nodes the target must have at least, and what it must survive.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct SizingWish {
    /// The least number of nodes. Default 3: redundancy, not capacity.
    #[schemars(range(min = 1))]
    pub floor: u32,
    /// The loss after which everything must fit again.
    pub survives: Loss,
    /// Why a target of one node, or one that survives no loss, is accepted: then it is not warned about again.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub accepted_because: Option<String>,
}

/// What a cluster can lose.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum Loss {
    /// Nothing need be survived.
    Nothing,
    /// Any one node.
    #[default]
    Node,
    /// Any one zone, and any one node.
    Zone,
}

impl Default for SizingWish {
    /// Source of the floor: the flavor runbook, §1: "the floor of 3 is redundancy, not capacity".
    fn default() -> Self {
        Self { floor: 3, survives: Loss::Node, accepted_because: None }
    }
}

impl SizingWish {
    /// Whether nothing else than the defaults was asked for.
    #[must_use]
    pub fn is_default(&self) -> bool {
        *self == Self::default()
    }
}

/// How long a moved pod may take by default: longer than the slowest start that the notes of §5.3 of the flavor
/// runbook report for a database (its termination grace period of 1800 s), with room for the start itself.
#[must_use]
pub fn default_ready_deadline() -> Seconds {
    Seconds::new(2400)
}

/// How many units move at once by default: most of a move is waiting for starts, and a person can still follow four.
#[must_use]
pub fn default_parallel() -> usize {
    4
}

/// How many workloads may be down at once by default: what is missing then has one name, and so has its cure.
#[must_use]
pub fn default_max_unavailable() -> usize {
    1
}

impl Document for Intent {
    const KIND: &'static str = "Intent";
}

/// A disruption that the operator agrees to for one object.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
pub struct Consent {
    /// What is agreed to.
    pub to: ConsentTo,
    /// The workload, or the pod that has no controller; `*` as name agrees for all of a kind in the namespace.
    pub object: ObjectRef,
}

/// The kinds of disruption that need a consent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum ConsentTo {
    /// Delete its pods although a PodDisruptionBudget never allows an eviction.
    DeletePastBudget,
    /// Delete a pod that nobody will create again.
    DeleteBarePod,
}

impl Intent {
    /// An intent with defaults.
    pub fn new(from: impl Into<String>, to: impl Into<String>) -> Self {
        Self {
            header: Header::of::<Self>(),
            from: from.into(),
            to: to.into(),
            consents: BTreeSet::new(),
            ready_deadline: default_ready_deadline(),
            parallel: default_parallel(),
            max_unavailable: default_max_unavailable(),
            sizing: SizingWish::default(),
        }
    }

    /// Whether the operator agreed to this for this object.
    #[must_use]
    pub fn consents_to(&self, to: ConsentTo, object: &ObjectRef) -> bool {
        self.consents.iter().any(|consent| {
            consent.to == to
                && consent.object.kind == object.kind
                && consent.object.namespace == object.namespace
                && (consent.object.name == object.name || consent.object.name == "*")
        })
    }
}
