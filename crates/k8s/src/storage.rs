//! Volumes, claims, classes, and how many volumes a node takes.

use std::collections::BTreeMap;

use crate::affinity::NodeTerm;
use crate::meta::Meta;
use crate::selector::Selector;

/// A PersistentVolume.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PersistentVolume {
    /// Names, labels (zones among them).
    pub meta: Meta,
    /// `spec.nodeAffinity.required`; `None` for a volume that every node can reach.
    pub node_affinity: Option<Vec<NodeTerm>>,
    /// Namespace and name of the claim that it is bound to.
    pub claim: Option<(String, String)>,
    /// `spec.accessModes`.
    pub access_modes: Vec<String>,
    /// `spec.persistentVolumeReclaimPolicy`.
    pub reclaim_policy: String,
    /// `spec.storageClassName`.
    pub storage_class: String,
    /// `spec.csi.driver`, or the in-tree plugin's field: `hostPath`, `local`, `nfs`.
    pub driver: String,
    /// `spec.csi.volumeHandle`.
    pub handle: Option<String>,
    /// `status.phase`.
    pub phase: String,
    /// `spec.capacity.storage`, in bytes.
    pub size: i64,
    /// `spec.volumeMode: Block`.
    pub block: bool,
    /// `spec.volumeAttributesClassName`; empty where there is none.
    pub attributes_class: String,
}

/// A PersistentVolumeClaim.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PersistentVolumeClaim {
    /// Names.
    pub meta: Meta,
    /// `spec.volumeName`: the volume that it is bound to.
    pub volume: Option<String>,
    /// `spec.accessModes`.
    pub access_modes: Vec<String>,
    /// `spec.storageClassName`.
    pub storage_class: Option<String>,
    /// `status.phase`.
    pub phase: String,
    /// The annotation `volume.kubernetes.io/selected-node`.
    pub selected_node: Option<String>,
    /// Whether the binding to `volume` is complete on both sides: the annotation `pv.kubernetes.io/bind-completed`, or the
    /// phase `Bound`, or no phase at all.
    pub bound: bool,
    /// `spec.resources.requests.storage`, in bytes.
    pub request: Option<i64>,
    /// `spec.selector`: only volumes with such labels.
    pub selector: Option<Selector>,
    /// `spec.volumeMode: Block`.
    pub block: bool,
    /// `spec.volumeAttributesClassName`; empty where there is none.
    pub attributes_class: String,
}

/// A StorageClass.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct StorageClass {
    /// Names.
    pub meta: Meta,
    /// `provisioner`.
    pub provisioner: String,
    /// `volumeBindingMode: WaitForFirstConsumer`.
    pub waits_for_consumer: bool,
    /// `allowedTopologies`.
    pub allowed_topologies: Vec<NodeTerm>,
    /// `reclaimPolicy`.
    pub reclaim_policy: String,
}

/// A CSIDriver: how a driver wants to be scheduled for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CsiDriver {
    /// Its name is the driver's.
    pub meta: Meta,
    /// `spec.storageCapacity`: it publishes how much room there is, and volumes are made only where there is enough.
    pub publishes_capacity: bool,
    /// `spec.attachRequired`: its volumes are attached to a node before a pod there starts. Default true.
    pub attach_required: bool,
    /// `spec.preventPodSchedulingIfMissing`: no pod with its volumes goes to a node that lacks it.
    pub required_on_node: bool,
}

/// A CSIStorageCapacity: how much room a driver has for volumes of a class, seen from some nodes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CsiStorageCapacity {
    /// Names.
    pub meta: Meta,
    /// `storageClassName`.
    pub class: String,
    /// `nodeTopology`; absent, no node has access.
    pub topology: Option<Selector>,
    /// `capacity`, in bytes.
    pub capacity: Option<i64>,
    /// `maximumVolumeSize`, in bytes.
    pub largest_volume: Option<i64>,
}

/// A CSINode: what CSI drivers a node has, and how many volumes each takes there.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CsiNode {
    /// Its name is the node's.
    pub meta: Meta,
    /// `spec.drivers[]`: name → `allocatable.count`.
    pub drivers: BTreeMap<String, Option<i64>>,
}

/// A VolumeAttachment.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct VolumeAttachment {
    /// Names.
    pub meta: Meta,
    /// `spec.attacher`.
    pub attacher: String,
    /// `spec.nodeName`.
    pub node: String,
    /// `spec.source.persistentVolumeName`.
    pub volume: Option<String>,
    /// `status.attached`.
    pub attached: bool,
}

/// Only one node at a time can use such a volume: `ReadWriteOnce` and `ReadWriteOncePod`.
#[must_use]
pub fn single_node(access_modes: &[String]) -> bool {
    !access_modes.is_empty() && access_modes.iter().all(|mode| mode == "ReadWriteOnce" || mode == "ReadWriteOncePod")
}
