//! Nodes.

use std::collections::BTreeMap;

use crate::meta::Meta;
use crate::toleration::Taint;

/// A node.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Node {
    /// Names, labels, times.
    pub meta: Meta,
    /// `spec.unschedulable`: cordoned.
    pub unschedulable: bool,
    /// `spec.taints`.
    pub taints: Vec<Taint>,
    /// `spec.providerID`.
    pub provider_id: Option<String>,
    /// `status.allocatable`, in the units of [`crate::quantity`].
    pub allocatable: Resources,
    /// `status.capacity`.
    pub capacity: Resources,
    /// Status of the condition `Ready`; `None` where there is no such condition.
    pub ready: Option<bool>,
    /// `status.nodeInfo.kubeletVersion`.
    pub kubelet_version: Option<String>,
    /// `status.volumesAttached[].name`.
    pub volumes_attached: Vec<String>,
    /// `status.images`: every name of an image that is here already, and its size in bytes.
    pub images: BTreeMap<String, i64>,
    /// `status.declaredFeatures`: what its kubelet can do that others may not.
    pub declared_features: Vec<String>,
}

/// Amounts by resource name: `cpu` in thousandths of a core, everything else in its base unit (bytes, pods, devices).
pub type Resources = BTreeMap<String, i64>;

/// The topology label for zones. Source: `k8s.io/api/core/v1/well_known_labels.go`.
pub const ZONE_LABEL: &str = "topology.kubernetes.io/zone";
/// The taint that a cordon means to the scheduler. Source: `k8s.io/api/core/v1/well_known_taints.go`.
pub const UNSCHEDULABLE_TAINT: &str = "node.kubernetes.io/unschedulable";

impl Node {
    /// The name.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.meta.name
    }
}
