//! Volumes that a node still holds although no pod there needs them.

use rehome_k8s::storage::VolumeAttachment;
use rehome_k8s::{View, attachment};
use rehome_model::journal::LeavingPod;

/// What keeps a pod's volumes on the node that it has left; a volume that another pod there mounts stays.
pub(super) fn to_source(view: &View, pod: &LeavingPod) -> Option<String> {
    if pod.volumes.is_empty() {
        return None;
    }
    attachment::left_behind(view, &pod.node, Some(&pod.volumes), std::slice::from_ref(&pod.uid))
        .map(|left| sentence(left))
}

/// What keeps volumes on a node although no pod there needs them.
pub(super) fn to_node(view: &View, node: &str) -> Option<String> {
    attachment::left_behind(view, node, None, &[]).map(|left| sentence(left))
}

fn sentence(left: &VolumeAttachment) -> String {
    let volume = left.volume.as_deref().unwrap_or_default();
    let doing = if left.meta.deleting.is_some() { "is being detached" } else { "is still attached" };
    format!(
        "volume {volume} {doing} from {} (VolumeAttachment {}, driver {})",
        left.node, left.meta.name, left.attacher
    )
    .replace("attached from", "attached to")
}
