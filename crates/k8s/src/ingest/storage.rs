//! Volumes, claims, classes, CSI nodes, attachments.

use k8s_openapi::api::core::v1 as core;
use k8s_openapi::api::storage::v1 as storage;
use k8s_openapi::apimachinery::pkg::api::resource::Quantity;
use std::collections::BTreeMap;

use super::selectors::{labels, node_terms};
use super::{BadField, meta};
use crate::affinity::{NodeExpression, NodeOperator, NodeTerm};
use crate::storage::{
    CsiDriver, CsiNode, CsiStorageCapacity, PersistentVolume, PersistentVolumeClaim, StorageClass, VolumeAttachment,
};

/// Source: `k8s.io/component-helpers/storage/volume`, `AnnSelectedNode`.
const SELECTED_NODE: &str = "volume.kubernetes.io/selected-node";

/// Source: `k8s.io/component-helpers/storage/volume`, `AnnBindCompleted`.
const BIND_COMPLETED: &str = "pv.kubernetes.io/bind-completed";

pub(super) fn driver(object: storage::CSIDriver) -> Result<CsiDriver, BadField> {
    Ok(CsiDriver {
        meta: meta(object.metadata),
        attach_required: object.spec.attach_required.unwrap_or(true),
        publishes_capacity: object.spec.storage_capacity == Some(true),
        required_on_node: object.spec.prevent_pod_scheduling_if_missing == Some(true),
    })
}

pub(super) fn capacity(object: storage::CSIStorageCapacity) -> Result<CsiStorageCapacity, BadField> {
    Ok(CsiStorageCapacity {
        meta: meta(object.metadata),
        class: object.storage_class_name,
        topology: object.node_topology.map(|selector| labels(Some(selector))).transpose()?,
        capacity: object.capacity.as_ref().map(quantity).transpose()?,
        largest_volume: object.maximum_volume_size.as_ref().map(quantity).transpose()?,
    })
}

pub(super) fn volume(object: core::PersistentVolume) -> Result<PersistentVolume, BadField> {
    let spec = object.spec.unwrap_or_default();
    let node_affinity = spec.node_affinity.and_then(|affinity| affinity.required).map(node_terms).transpose()?;
    let driver = if let Some(csi) = &spec.csi {
        csi.driver.clone()
    } else {
        let plugins = [
            ("local", spec.local.is_some()),
            ("hostPath", spec.host_path.is_some()),
            ("nfs", spec.nfs.is_some()),
            ("awsElasticBlockStore", spec.aws_elastic_block_store.is_some()),
            ("gcePersistentDisk", spec.gce_persistent_disk.is_some()),
            ("azureDisk", spec.azure_disk.is_some()),
            ("cinder", spec.cinder.is_some()),
            ("iscsi", spec.iscsi.is_some()),
            ("rbd", spec.rbd.is_some()),
            ("cephfs", spec.cephfs.is_some()),
        ];
        plugins.iter().find(|(_, used)| *used).map_or(String::new(), |(name, _)| (*name).to_owned())
    };
    Ok(PersistentVolume {
        meta: meta(object.metadata),
        node_affinity,
        claim: spec.claim_ref.map(|claim| (claim.namespace.unwrap_or_default(), claim.name.unwrap_or_default())),
        access_modes: spec.access_modes.unwrap_or_default(),
        reclaim_policy: spec.persistent_volume_reclaim_policy.unwrap_or_default(),
        storage_class: spec.storage_class_name.unwrap_or_default(),
        driver,
        handle: spec.csi.map(|csi| csi.volume_handle),
        phase: object.status.and_then(|status| status.phase).unwrap_or_default(),
        size: bytes(spec.capacity.as_ref())?.unwrap_or_default(),
        block: spec.volume_mode.as_deref() == Some("Block"),
        attributes_class: spec.volume_attributes_class_name.unwrap_or_default(),
    })
}

/// `storage` of a list of amounts, in bytes.
fn bytes(amounts: Option<&BTreeMap<String, Quantity>>) -> Result<Option<i64>, BadField> {
    let Some(amount) = amounts.and_then(|amounts| amounts.get("storage")) else { return Ok(None) };
    quantity(amount).map(Some)
}

fn quantity(amount: &Quantity) -> Result<i64, BadField> {
    crate::quantity::amount("storage", &amount.0)
        .map_err(|error| BadField::new("storage", "a quantity such as 10Gi", error.found))
}

pub(super) fn claim(object: core::PersistentVolumeClaim) -> Result<PersistentVolumeClaim, BadField> {
    let spec = object.spec.unwrap_or_default();
    let meta = meta(object.metadata);
    let volume = spec.volume_name.filter(|name| !name.is_empty());
    let phase = object.status.and_then(|status| status.phase).unwrap_or_default();
    // A file may have no status.
    let completed = matches!(phase.as_str(), "Bound" | "") || meta.annotations.contains_key(BIND_COMPLETED);
    Ok(PersistentVolumeClaim {
        bound: completed && volume.is_some(),
        request: bytes(spec.resources.and_then(|resources| resources.requests).as_ref())?,
        selector: spec.selector.map(|selector| labels(Some(selector))).transpose()?,
        block: spec.volume_mode.as_deref() == Some("Block"),
        attributes_class: spec.volume_attributes_class_name.unwrap_or_default(),
        selected_node: meta.annotations.get(SELECTED_NODE).cloned(),
        meta,
        volume,
        access_modes: spec.access_modes.unwrap_or_default(),
        storage_class: spec.storage_class_name,
        phase,
    })
}

pub(super) fn class(object: storage::StorageClass) -> Result<StorageClass, BadField> {
    let allowed_topologies = object
        .allowed_topologies
        .unwrap_or_default()
        .into_iter()
        .map(|term| NodeTerm {
            labels: term
                .match_label_expressions
                .unwrap_or_default()
                .into_iter()
                .map(|expression| NodeExpression {
                    key: expression.key,
                    operator: NodeOperator::In,
                    values: expression.values,
                })
                .collect(),
            fields: Vec::new(),
        })
        .collect();
    Ok(StorageClass {
        meta: meta(object.metadata),
        provisioner: object.provisioner,
        waits_for_consumer: object.volume_binding_mode.as_deref() == Some("WaitForFirstConsumer"),
        allowed_topologies,
        reclaim_policy: object.reclaim_policy.unwrap_or_default(),
    })
}

pub(super) fn csi_node(object: storage::CSINode) -> Result<CsiNode, BadField> {
    let drivers = object
        .spec
        .drivers
        .into_iter()
        .map(|driver| (driver.name, driver.allocatable.and_then(|limits| limits.count).map(i64::from)))
        .collect();
    Ok(CsiNode { meta: meta(object.metadata), drivers })
}

pub(super) fn attachment(object: storage::VolumeAttachment) -> Result<VolumeAttachment, BadField> {
    Ok(VolumeAttachment {
        meta: meta(object.metadata),
        attacher: object.spec.attacher,
        node: object.spec.node_name,
        volume: object.spec.source.persistent_volume_name,
        attached: object.status.is_some_and(|status| status.attached),
    })
}
