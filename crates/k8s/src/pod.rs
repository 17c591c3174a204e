//! Pods, and the part of a pod's spec that templates share.

use std::collections::BTreeMap;
use std::sync::Arc;

use rehome_model::Timestamp;
use rehome_model::time::Seconds;

use crate::affinity::Affinity;
use crate::meta::Meta;
use crate::mutant::{Mutant, on};
use crate::node::Resources;
use crate::parts::KeptParts;
use crate::requests::Resized;
use crate::spread::SpreadConstraint;
use crate::toleration::Toleration;

/// A pod.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Pod {
    /// Names, labels, owner, times.
    pub meta: Meta,
    /// `spec.nodeName`: where it is bound.
    pub node: Option<String>,
    /// `status.phase`.
    pub phase: Phase,
    /// Whether the condition `Ready` is True.
    pub ready: bool,
    /// The condition `PodScheduled` when it is False: the scheduler's sentence.
    pub unschedulable: Option<String>,
    /// `status.reason`, or the waiting reason of the first container that waits: `CrashLoopBackOff`.
    pub reason: Option<String>,
    /// Restarts, summed over its containers.
    pub restarts: i64,
    /// The part of the spec that its template has too.
    pub spec: Arc<PodSpec>,
    /// What its containers count for, if something was ever granted to them that differs from what they ask.
    pub resized: Option<Arc<Resized>>,
    /// `status.nominatedNodeName`: where room is being made for it.
    pub nominated: Option<String>,
    /// When it reached what: the durations that forecasts rest on.
    pub timing: Timing,
}

/// `status.phase`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Phase {
    /// Accepted, not all containers have started.
    #[default]
    Pending,
    /// Bound, and at least one container runs.
    Running,
    /// All containers ended well.
    Succeeded,
    /// All containers ended, one of them badly.
    Failed,
    /// The node could not be asked.
    Unknown,
}

/// When a pod reached what. Source: `status.conditions[].lastTransitionTime` and `status.startTime`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Timing {
    /// Bound to a node.
    pub scheduled: Option<Timestamp>,
    /// Taken up by the kubelet.
    pub started: Option<Timestamp>,
    /// The last container began to run.
    pub running: Option<Timestamp>,
    /// Became Ready (the last time).
    pub ready: Option<Timestamp>,
}

/// What a pod asks of a node. Pods of one template share it.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct PodSpec {
    /// What the scheduler counts: see [`crate::requests`].
    pub requests: Resources,
    /// `cpu` and `memory` as scores count them: with assumed amounts where a container names none.
    pub scored: Resources,
    /// What LeastAllocated counts for the pod when it comes: see [`crate::requests::Asked::coming`].
    pub coming: Resources,
    /// The most memory that it may use, in bytes; `None` where a container has no limit.
    pub memory_limit: Option<i64>,
    /// Images of containers, init containers and image volumes, each as often as it is named.
    pub images: Vec<String>,
    /// How many of them, at the end, are volumes: older schedulers do not count those.
    pub image_volumes: usize,
    /// Features that a kubelet must declare to run this. See [`crate::features`].
    pub needs_features: Vec<String>,
    /// It never pushes out pods of lower priority: `spec.preemptionPolicy: Never`.
    pub never_preempts: bool,
    /// In-tree disks that only one pod of a node may use.
    pub disks: Vec<Disk>,
    /// `spec.nodeName` in a template: such a pod never passes the scheduler.
    pub node_name: Option<String>,
    /// `spec.nodeSelector`.
    pub node_selector: BTreeMap<String, String>,
    /// Node affinity and pod (anti-)affinity, required and preferred.
    pub affinity: Affinity,
    /// Tolerations.
    pub tolerations: Vec<Toleration>,
    /// Topology spread constraints.
    pub spread: Vec<SpreadConstraint>,
    /// Volumes, less those that play no part in a move (ConfigMaps, Secrets, projections, downward API).
    pub volumes: Vec<Volume>,
    /// `(hostIP, protocol, hostPort)` of all host ports; `hostNetwork` ports included.
    pub host_ports: Vec<(String, String, i32)>,
    /// `spec.priority`.
    pub priority: i64,
    /// `spec.priorityClassName`.
    pub priority_class: Option<String>,
    /// `spec.schedulerName`; `default-scheduler` where absent.
    pub scheduler: String,
    /// `spec.terminationGracePeriodSeconds`, 30 s where absent.
    pub grace: Seconds,
    /// Whether a container has a `preStop` hook.
    pub pre_stop: bool,
    /// Names of scheduling gates.
    pub gates: Vec<String>,
    /// What `requests` are made of. See [`crate::admission`].
    pub parts: KeptParts,
}

/// A volume of a pod.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Volume {
    /// A claim in the pod's namespace.
    Claim {
        /// The claim.
        name: String,
    },
    /// A generic ephemeral volume: its claim is named `<pod>-<volume>` and dies with the pod.
    Ephemeral {
        /// The volume.
        name: String,
    },
    /// An emptyDir: its data is lost when the pod leaves.
    EmptyDir {
        /// Whether it is in memory.
        memory: bool,
    },
    /// A path of the node: its data stays behind.
    HostPath {
        /// The path.
        path: String,
    },
    /// Another kind of volume, by the name of its field.
    Other {
        /// `nfs`, `csi`, …
        kind: String,
    },
}

/// An in-tree disk, named in the pod itself, that pods of one node can't share.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Disk {
    /// The volume's field: `gcePersistentDisk`, `awsElasticBlockStore`, `iscsi` or `rbd`.
    pub kind: String,
    /// What names the disk: its id, IQN, or pool and image.
    pub id: String,
    /// Of `rbd`: the monitors. Two sets that have one in common are one cluster.
    pub monitors: Vec<String>,
    /// Two pods that only read do not disturb each other. Not so with `awsElasticBlockStore`.
    pub read_only: bool,
}

/// The annotation that the kubelet sets on the mirror of a static pod.
/// Source: `k8s.io/api/core/v1/annotation_key_constants.go`.
pub const MIRROR_ANNOTATION: &str = "kubernetes.io/config.mirror";

impl Pod {
    /// Whether it has ended: it holds no resources and needs no move.
    #[must_use]
    pub fn finished(&self) -> bool {
        matches!(self.phase, Phase::Succeeded | Phase::Failed)
    }

    /// Whether it is the mirror of a static pod, which only its node can end.
    #[must_use]
    pub fn mirror(&self) -> bool {
        self.meta.annotations.contains_key(MIRROR_ANNOTATION)
    }

    /// What it counts for on its node: what it asks, or more while a resize is under way.
    #[must_use]
    pub fn requests(&self) -> &Resources {
        self.resized.as_ref().map_or(&self.spec.requests, |resized| &resized.by_pod.requests)
    }

    /// Names of the claims in its namespace that it mounts.
    pub fn claims(&self) -> impl Iterator<Item = String> + '_ {
        self.spec.claims_of(&self.meta.name)
    }
}

impl Disk {
    /// Whether two pods with these disks can't be on one node.
    /// Source: `k8s.io/kubernetes/pkg/scheduler/framework/plugins/volumerestrictions`, `isVolumeConflict`.
    #[must_use]
    pub fn conflicts(&self, other: &Self) -> bool {
        let shares = self.kind != "awsElasticBlockStore" && !on(Mutant::ReadOnlyDisksClash);
        let both_read = self.read_only && other.read_only && shares;
        let monitors = self.kind != "rbd" || self.monitors.iter().any(|monitor| other.monitors.contains(monitor));
        self.kind == other.kind && self.id == other.id && monitors && !both_read
    }
}

impl PodSpec {
    /// Names of the claims that a pod of this name mounts.
    pub fn claims_of<'a>(&'a self, pod: &'a str) -> impl Iterator<Item = String> + 'a {
        self.volumes.iter().filter_map(move |volume| match volume {
            Volume::Claim { name } => Some(name.clone()),
            // Source: `k8s.io/component-helpers/storage/ephemeral`, `VolumeClaimName`.
            Volume::Ephemeral { name } => Some(format!("{pod}-{name}")),
            _ => None,
        })
    }
}
