//! Leave: pods that belong to their node, or have ended, are not moved.

use rehome_k8s::Kind;
use rehome_k8s::owner::Owner;
use rehome_k8s::pod::Pod;
use rehome_model::ObjectRef;

/// What stays and why, for a pod on a source node that is not moved.
#[must_use]
pub fn reason_to_stay(pod: &Pod, owner: &Owner) -> Option<(ObjectRef, String)> {
    let itself = || pod.meta.key().reference(Kind::Pod);
    match owner {
        Owner::Node => Some((itself(), "a static pod: only its node's kubelet can end it".to_owned())),
        Owner::Workload(workload) if workload.kind == Kind::DaemonSet.name() => {
            Some((workload.clone(), "a DaemonSet: its pods belong to their nodes".to_owned()))
        }
        Owner::Unseen(workload) if workload.kind == Kind::DaemonSet.name() => {
            Some((workload.clone(), "a DaemonSet: its pods belong to their nodes".to_owned()))
        }
        _ if pod.finished() => Some((owner.reference(pod), "it has finished".to_owned())),
        // Its successor is there or on its way; a receipt for it would never come.
        _ if pod.meta.deleting.is_some() => {
            Some((itself(), "it is being deleted: the proof waits until it is gone".to_owned()))
        }
        _ => None,
    }
}
