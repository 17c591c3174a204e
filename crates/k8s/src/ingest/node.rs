//! Nodes.

use std::collections::BTreeMap;

use k8s_openapi::api::core::v1 as core;

use super::selectors::resources;
use super::{BadField, meta};
use crate::node::Node;
use crate::toleration::{Effect, Taint};

pub(super) fn node(node: core::Node) -> Result<Node, BadField> {
    let spec = node.spec.unwrap_or_default();
    let status = node.status.unwrap_or_default();
    let taints = spec
        .taints
        .unwrap_or_default()
        .into_iter()
        .map(|taint| {
            let effect = Effect::by_name(&taint.effect).ok_or_else(|| {
                BadField::new("spec.taints.effect", "NoSchedule, PreferNoSchedule or NoExecute", taint.effect.clone())
            })?;
            Ok(Taint { key: taint.key, value: taint.value.unwrap_or_default(), effect })
        })
        .collect::<Result<_, BadField>>()?;
    let ready = status
        .conditions
        .unwrap_or_default()
        .iter()
        .find(|condition| condition.type_ == "Ready")
        .map(|condition| condition.status == "True");
    Ok(Node {
        meta: meta(node.metadata),
        unschedulable: spec.unschedulable == Some(true),
        taints,
        provider_id: spec.provider_id,
        allocatable: resources(status.allocatable)?,
        capacity: resources(status.capacity)?,
        ready,
        kubelet_version: status.node_info.map(|info| info.kubelet_version).filter(|version| !version.is_empty()),
        images: images(status.images.unwrap_or_default()),
        declared_features: status.declared_features.unwrap_or_default(),
        volumes_attached: status.volumes_attached.unwrap_or_default().into_iter().map(|volume| volume.name).collect(),
    })
}

/// Every name of every image. Source: `k8s.io/kubernetes/pkg/scheduler/backend/cache`, `addNodeImageStates`.
fn images(images: Vec<core::ContainerImage>) -> BTreeMap<String, i64> {
    let named = images.into_iter().flat_map(|image| {
        let size = image.size_bytes.unwrap_or_default();
        image.names.unwrap_or_default().into_iter().map(move |name| (name, size))
    });
    named.collect()
}
