//! The reasons that the default profile can give, and what counts as having seen one.
//!
//! Source: `pkg/scheduler/framework/plugins/*` of kubernetes v1.34.4 and v1.37.2.

use std::ops::RangeInclusive;

/// In how many pairs each way a reason must have decided.
pub const LEAST: usize = 200;

/// What counts as having seen a reason.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Proof {
    /// It alone rejected, and let pass beside that.
    Alone,
    /// Another plugin always rejects as well; it was first.
    Together(&'static str),
    /// It cannot come from objects that the API server accepts.
    Never(&'static str),
}

/// A reason of a plugin.
#[derive(Clone, Debug)]
pub struct Expectation {
    /// The plugin.
    pub plugin: &'static str,
    /// The reason, without its variable parts.
    pub reason: &'static str,
    /// What counts.
    pub proof: Proof,
    /// The minors that can give it.
    pub minors: RangeInclusive<u32>,
}

const fn alone(plugin: &'static str, reason: &'static str) -> Expectation {
    Expectation { plugin, reason, proof: Proof::Alone, minors: 34..=37 }
}

const fn together(plugin: &'static str, reason: &'static str, why: &'static str) -> Expectation {
    Expectation { plugin, reason, proof: Proof::Together(why), minors: 34..=37 }
}

const fn never(plugin: &'static str, reason: &'static str, why: &'static str) -> Expectation {
    Expectation { plugin, reason, proof: Proof::Never(why), minors: 34..=37 }
}

/// All reasons, in the order in which the plugins are asked.
pub(super) const REASONS: &[Expectation] = &[
    alone("NodeUnschedulable", "node(s) were unschedulable"),
    never("NodeUnschedulable", "node(s) had unknown conditions", "only for a node that the cache does not hold"),
    never(
        "NodeName",
        "node(s) didn't match the requested node name",
        "a pod with spec.nodeName never passes the scheduler",
    ),
    alone("TaintToleration", "node(s) had untolerated taint(s)"),
    alone("NodeAffinity", "node(s) didn't match Pod's node affinity/selector"),
    alone("NodeAffinity", "node(s) didn't satisfy plugin(s) [NodeAffinity]"),
    alone("NodeAffinity", "pod affinity terms conflict"),
    never(
        "NodeAffinity",
        "node(s) didn't match scheduler-enforced node affinity",
        "the default profile adds no affinity",
    ),
    alone("NodePorts", "node(s) didn't have free ports for the requested pod ports"),
    alone("NodeResourcesFit", "Too many pods"),
    alone("NodeResourcesFit", "Insufficient cpu"),
    alone("NodeResourcesFit", "Insufficient memory"),
    alone("NodeResourcesFit", "Insufficient ephemeral-storage"),
    alone("NodeResourcesFit", "Insufficient example.com/device"),
    alone("NodeResourcesFit", "Insufficient hugepages-2Mi"),
    alone("VolumeRestrictions", "node(s) had no available disk"),
    alone(
        "VolumeRestrictions",
        "node(s) unavailable due to PersistentVolumeClaim with ReadWriteOncePod access mode already in-use by another pod",
    ),
    together(
        "VolumeRestrictions",
        "persistentvolumeclaim \"…\" not found",
        "NodeVolumeLimits, VolumeBinding and VolumeZone look it up, too",
    ),
    alone("NodeVolumeLimits", "node(s) exceed max volume count"),
    Expectation {
        plugin: "NodeVolumeLimits",
        reason: "… CSI driver is not installed on the node",
        proof: Proof::Alone,
        minors: 37..=37,
    },
    never(
        "NodeVolumeLimits",
        "looking up PVC …: persistentvolumeclaim \"…\" not found",
        "VolumeRestrictions or VolumeBinding refuses the pod first",
    ),
    alone("VolumeBinding", "node(s) didn't match PersistentVolume's node affinity"),
    alone("VolumeBinding", "node(s) didn't find available persistent volumes to bind"),
    alone("VolumeBinding", "node(s) did not have enough free storage"),
    alone("VolumeBinding", "node(s) unavailable due to one or more pvc(s) bound to non-existent pv(s)"),
    alone("VolumeBinding", "pod has unbound immediate PersistentVolumeClaims"),
    alone("VolumeBinding", "persistentvolumeclaim \"…\" is being deleted"),
    alone("VolumeBinding", "persistentvolumeclaim \"…\" bound to non-existent persistentvolume \"…\""),
    together(
        "VolumeBinding",
        "waiting for ephemeral volume controller to create the persistentvolumeclaim \"…\"",
        "NodeVolumeLimits looks it up, too",
    ),
    together("VolumeBinding", "PVC … was not created for pod … (pod is not owner)", "NodeVolumeLimits fails on it"),
    alone("VolumeZone", "node(s) had no available volume zone"),
    never("VolumeZone", "PersistentVolume had no name", "VolumeBinding refuses the pod first"),
    never(
        "VolumeZone",
        "PersistentVolumeClaim had no pv name and storageClass name",
        "VolumeBinding refuses the pod first",
    ),
    never("VolumeZone", "storageclass.storage.k8s.io \"…\" not found", "VolumeBinding refuses the pod first"),
    never("VolumeZone", "PersistentVolumeClaim had no name", "the API server wants a name"),
    together("VolumeZone", "persistentvolume \"…\" not found", "VolumeBinding misses the volume, too"),
    alone("PodTopologySpread", "node(s) didn't match pod topology spread constraints"),
    alone("PodTopologySpread", "node(s) didn't match pod topology spread constraints (missing required label)"),
    alone("InterPodAffinity", "node(s) didn't satisfy existing pods anti-affinity rules"),
    alone("InterPodAffinity", "node(s) didn't match pod affinity rules"),
    alone("InterPodAffinity", "node(s) didn't match pod anti-affinity rules"),
    Expectation {
        plugin: "NodeDeclaredFeatures",
        reason: "node(s) didn't match Pod's required features",
        proof: Proof::Alone,
        minors: 36..=37,
    },
];

/// The score plugins and the minors in which they score.
pub(super) const SCORES: &[(&str, RangeInclusive<u32>)] = &[
    ("TaintToleration", 34..=37),
    ("NodeAffinity", 34..=37),
    ("NodeResourcesFit", 34..=37),
    ("NodeResourcesBalancedAllocation", 34..=37),
    ("ImageLocality", 34..=37),
    ("PodTopologySpread", 34..=37),
    ("InterPodAffinity", 34..=37),
    // With StorageCapacityScoring, which is on from 1.37.
    ("VolumeBinding", 37..=37),
];
