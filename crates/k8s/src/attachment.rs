//! Which volumes are attached to which node, and whether a pod still needs them there.
//!
//! A volume has left a node when its VolumeAttachment object is gone: `status.attached` turns false before the detach has
//! ended. Source: kubernetes-csi/external-attacher, README ("only the absence of the object means detached").

use std::collections::BTreeSet;
use std::sync::Arc;

use rehome_model::Uid;

use crate::meta::Key;
use crate::pod::Pod;
use crate::record::{Kind, Record};
use crate::storage::VolumeAttachment;
use crate::view::View;

/// The annotation by which a kubelet leaves attaching to the controller: without it the controller does nothing for the
/// node. Source: `k8s.io/kubernetes/pkg/volume/util/types`, `ControllerManagedAttachAnnotation`.
pub const CONTROLLER_MANAGED: &str = "volumes.kubernetes.io/controller-managed-attach-detach";

/// Names of the PersistentVolumes that a pod's claims are bound to.
#[must_use]
pub fn volumes_of(view: &View, pod: &Pod) -> Vec<String> {
    let bound = pod.claims().filter_map(|name| {
        match view.get(Kind::PersistentVolumeClaim, &Key::new(pod.meta.namespace.clone(), name))? {
            Record::PersistentVolumeClaim(claim) => claim.volume.clone(),
            _ => None,
        }
    });
    bound.collect()
}

/// The attachments to a node, by name. One without a volume (inline) belongs to no claim, and is not told.
pub fn on_node<'v>(view: &'v View, node: &str) -> impl Iterator<Item = &'v Arc<VolumeAttachment>> {
    view.of_kind(Kind::VolumeAttachment).filter_map(move |record| match record {
        Record::VolumeAttachment(found) if found.node == node && found.volume.is_some() => Some(found),
        _ => None,
    })
}

/// The volumes that pods on a node still mount, whoever they are, but for the incarnations that are `leaving`.
#[must_use]
pub fn used_on(view: &View, node: &str, leaving: &[Uid]) -> BTreeSet<String> {
    let stays = view.pods_on(node).filter(|pod| !pod.finished() && !leaving.contains(&pod.meta.uid));
    stays.flat_map(|pod| volumes_of(view, pod)).collect()
}

/// The first attachment of one of these volumes to a node that no pod there needs any more.
#[must_use]
pub fn left_behind<'v>(
    view: &'v View,
    node: &str,
    volumes: Option<&[String]>,
    leaving: &[Uid],
) -> Option<&'v Arc<VolumeAttachment>> {
    let mut candidates = on_node(view, node)
        .filter(|found| volumes.is_none_or(|volumes| found.volume.as_ref().is_some_and(|name| volumes.contains(name))))
        .peekable();
    candidates.peek()?;
    let used = used_on(view, node, leaving);
    candidates.find(|found| found.volume.as_ref().is_some_and(|name| !used.contains(name)))
}
