//! How many nodes of a flavor a cluster needs, and which rule says so.
//!
//! The document holds what a person needs to believe the number: what is asked for and by whom, what a new node is made
//! of and how each part of it is known, the counts that were tried, and the nodes before and after. It does not know how
//! any of it was computed.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::document::{Document, Header};
use crate::flavor::Flavor;
use crate::intent::Loss;
use crate::snapshot::ClusterIdentity;
use crate::{Digest, ObjectRef};

/// Amounts by resource name: `cpu` in thousandths of a core, everything else in its base unit (bytes, pods, devices).
pub type Amounts = BTreeMap<String, i64>;

/// How many nodes it takes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Sizing {
    /// `apiVersion` and `kind`.
    #[serde(flatten)]
    pub header: Header,
    /// The snapshot that it was made from.
    pub snapshot: Digest,
    /// The cluster.
    pub cluster: ClusterIdentity,
    /// The nodes that are replaced.
    pub replaced: Vec<String>,
    /// The nodes that stay as they are, and take nothing.
    pub stays: Vec<String>,
    /// The least number of nodes that was asked for.
    pub floor: u32,
    /// The loss after which everything must fit again.
    pub survives: Loss,
    /// What asks for room.
    pub demand: Demand,
    /// The nodes that are replaced, as they are.
    pub before: Vec<NodeBar>,
    /// What prices are in.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub currency: Option<String>,
    /// One answer for each flavor, in the order in which they were given.
    pub flavors: Vec<FlavorSizing>,
    /// The name of the flavor to take, where there is a choice.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub best: Option<Best>,
    /// What else somebody should know, in sentences.
    pub notes: Vec<String>,
}

impl Document for Sizing {
    const KIND: &'static str = "Sizing";
}

/// The flavor to take.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Best {
    /// Its name.
    pub flavor: String,
    /// Why this one.
    pub because: String,
}

/// What asks for room on the new nodes.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Demand {
    /// How many pods.
    pub pods: usize,
    /// The sum of their requests, as their owners' templates have them.
    pub requests: Amounts,
    /// The sum of what they are sized by: requests, or the peak of their memory where that is higher.
    pub sized_by: Amounts,
    /// The pods by workload.
    pub workloads: Vec<WorkloadDemand>,
    /// What was not counted, and why.
    pub left_out: Vec<LeftOut>,
    /// What Prometheus measured, where it was asked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub peaks: Option<Peaks>,
}

/// What one workload asks for.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct WorkloadDemand {
    /// The workload, or the pod that has no controller.
    pub workload: ObjectRef,
    /// How many pods.
    pub pods: usize,
    /// The sum of their requests.
    pub requests: Amounts,
    /// The highest that one of its pods reached in the window, times the number of its pods.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub peaks: Option<Amounts>,
}

/// Pods that need no room on the new nodes.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
pub struct LeftOut {
    /// Why.
    pub because: String,
    /// How many pods.
    pub pods: usize,
}

/// What Prometheus measured.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Peaks {
    /// Where it was asked, without credentials.
    pub source: String,
    /// Over which time before the answer: `7d`.
    pub window: String,
    /// For how many hours of the window there are samples.
    pub hours: u64,
    /// The peak of each node, operating system and control plane included, by the name that Prometheus has for it.
    pub nodes: BTreeMap<String, Amounts>,
    /// The peak of the sum over all nodes: what one machine in their place would have had to hold.
    pub simultaneous: Amounts,
    /// The sum of the nodes' peaks: what it would have been if all had peaked at once.
    pub sum_of_peaks: Amounts,
    /// The queries that were asked.
    pub queries: Vec<String>,
}

/// A node as a bar: its capacity is the sum of the four parts.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct NodeBar {
    /// The node.
    pub node: String,
    /// Its flavor, as far as it is known.
    pub flavor: String,
    /// Its zone; empty where it has none.
    pub zone: String,
    /// What the machine has.
    pub capacity: Amounts,
    /// What the kubelet withholds: capacity less allocatable.
    pub reserve: Amounts,
    /// What DaemonSet and static pods ask for.
    pub daemon_sets: Amounts,
    /// What all other pods ask for.
    pub workloads: Amounts,
    /// What is left.
    pub free: Amounts,
    /// How many pods it holds, those of DaemonSets included.
    pub pods: usize,
}

/// The answer for one flavor.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct FlavorSizing {
    /// The flavor, as it was given.
    pub flavor: Flavor,
    /// What a new node of it is made of, and how each part is known.
    pub node: Vec<NodeField>,
    /// What the provider sells.
    pub advertised: Amounts,
    /// What the operating system sees of it.
    pub capacity: Amounts,
    /// What the kubelet lets pods have.
    pub allocatable: Amounts,
    /// What is left of that after the DaemonSets.
    pub usable: Amounts,
    /// Usable ÷ capacity, in thousandths.
    pub usable_thousandths: Amounts,
    /// How the reserve is known.
    pub reserve: Reserve,
    /// The DaemonSets that will have a pod on each new node.
    pub daemon_sets: Vec<DaemonSetShare>,
    /// What no number of nodes goes below.
    pub lower_bound: LowerBound,
    /// The answer; none where no number of nodes does.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub answer: Option<Answer>,
    /// Pods that fit on no number of such nodes.
    pub nowhere: Vec<Nowhere>,
    /// Pods that are down with their zone, because their volumes are there.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub bound_to_zone: Vec<ObjectRef>,
    /// The numbers of nodes that do not do, and why; the largest last.
    pub tried: Vec<Trial>,
}

/// One part of a node that does not exist yet.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct NodeField {
    /// Which: `allocatable.memory`, `labels[topology.kubernetes.io/zone]`.
    pub field: String,
    /// The value, as Kubernetes writes it.
    pub value: String,
    /// How it is known.
    pub basis: Basis,
    /// From what.
    pub because: String,
}

/// How something about a node that does not exist yet is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum Basis {
    /// It was given with the flavor.
    Given,
    /// A live node of this flavor has it so.
    Measured,
    /// It was computed by a formula that somebody published.
    Formula,
    /// Other nodes of the cluster have it so, or Kubernetes' default is.
    Assumed,
}

/// What the kubelet withholds, both ways where both are known.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Reserve {
    /// Which of the two was used.
    pub basis: Basis,
    /// The amounts that were used.
    pub used: Amounts,
    /// The table's row: `gke`.
    pub formula: String,
    /// Where the row comes from.
    pub source: String,
    /// What the formula says.
    pub by_formula: Amounts,
    /// What live nodes of this flavor withhold.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub measured: Option<Amounts>,
    /// How the formula was chosen, and by how much it is off where that can be told.
    pub because: String,
}

/// A DaemonSet that will have a pod on each new node.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct DaemonSetShare {
    /// The DaemonSet.
    pub daemon_set: ObjectRef,
    /// What its pod asks for.
    pub requests: Amounts,
}

/// What no number of nodes goes below.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct LowerBound {
    /// The number.
    pub nodes: u32,
    /// The resource that gives it, or `floor`.
    pub by: String,
    /// The division, in words.
    pub because: String,
}

/// The smallest number of nodes that does.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Answer {
    /// The number.
    pub nodes: u32,
    /// The rule that one node fewer would break.
    pub binds: BindingRule,
    /// The same in words, with the figures in it.
    pub because: String,
    /// Asked for ÷ allocatable over all new nodes, in thousandths.
    pub used_thousandths: Amounts,
    /// What they cost together, where the flavor has a price.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cost: Option<f64>,
    /// The new nodes with everything placed.
    pub after: Vec<NodeBar>,
    /// After the loss of the node that matters most: which, and how much memory it leaves free on the others.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub worst_loss: Option<WorstLoss>,
}

/// The loss that leaves the least.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct WorstLoss {
    /// The node, or the zone.
    pub lost: String,
    /// How many pods had to find another node.
    pub pods: usize,
    /// What is free afterwards on all others.
    pub free: Amounts,
}

/// The rule that one node fewer would break.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum BindingRule {
    /// What is asked for, divided by what a node has.
    Demand,
    /// The floor that was asked for.
    Floor,
    /// Not everything can be placed: pieces, ports, spread, affinity, volumes.
    Placement,
    /// After the loss of a node not everything fits again.
    NodeLoss,
    /// After the loss of a zone not everything fits again.
    ZoneLoss,
}

/// A pod that fits nowhere.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Nowhere {
    /// The pod.
    pub pod: ObjectRef,
    /// What it asks for.
    pub requests: Amounts,
    /// The scheduler's reasons.
    pub reasons: Vec<String>,
    /// Whether it is Pending today, too.
    pub pending_today: bool,
}

/// A number of nodes that does not do.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Trial {
    /// The number.
    pub nodes: u32,
    /// The rule that it breaks.
    pub breaks: BindingRule,
    /// The node or zone whose loss was tried, if it was.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lost: Option<String>,
    /// The pods that stay Pending.
    pub pending: Vec<ObjectRef>,
    /// What they ask for.
    pub asks: Amounts,
    /// The scheduler's sentence about the first of them.
    pub because: String,
    /// In how many orders of arrival that happens.
    pub orders_failed: u32,
    /// How many orders of arrival were tried.
    pub orders_tried: u32,
}
