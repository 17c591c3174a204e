//! The attach/detach controller, and the CSI attacher that does its bidding at once.
//!
//! A volume of a bound pod gets a VolumeAttachment on a node whose kubelet leaves that to the controller; one that only one
//! node can use waits until it is detached elsewhere. When the last pod that mounts it is gone from the node, the
//! attachment is deleted. Source: `k8s.io/kubernetes/pkg/controller/volume/attachdetach`
//! (`reconciler.go`: `attachDesiredVolumes`, `isMultiAttachForbidden`; `populator/desired_state_of_world_populator.go`).
//! Not modelled: how long a cloud takes, volumes that a kubelet has not unmounted, the detach by force after six minutes.

use std::sync::Arc;

use rehome_k8s::pod::Pod;
use rehome_k8s::storage::{PersistentVolume, VolumeAttachment, single_node};
use rehome_k8s::{Key, Kind, Meta, Record, View, attachment};
use rehome_model::Timestamp;

use super::{Change, Controller, Mutation, Reconciled};

/// The controller.
#[derive(Clone, Copy, Debug)]
pub struct AttachDetach;

impl Controller for AttachDetach {
    fn user(&self) -> &'static str {
        "system:serviceaccount:kube-system:attachdetach-controller"
    }

    fn concerned(&self, view: &View, change: &Change) -> Vec<(Kind, Key)> {
        match (&change.before, &change.after) {
            (before, Some(Record::Pod(pod))) => {
                let bound = pod.node.is_some() && before.as_ref().is_none_or(|before| node_of(before).is_none());
                if pod.finished() {
                    return gone(view, pod);
                }
                if bound { vec![(Kind::Pod, pod.meta.key())] } else { Vec::new() }
            }
            (Some(Record::Pod(pod)), None) => gone(view, pod),
            // What is detached here can be attached where it is waited for.
            (Some(Record::VolumeAttachment(attached)), None) => waiting_for(view, attached.volume.as_deref()),
            _ => Vec::new(),
        }
    }

    fn reconcile(&mut self, view: &View, kind: Kind, key: &Key, now: Timestamp) -> Reconciled {
        let mutations = match view.get(kind, key) {
            Some(Record::Pod(pod)) => attach(view, pod, now),
            Some(Record::VolumeAttachment(attached)) => {
                let used = attachment::used_on(view, &attached.node, &[]);
                let needed = attached.volume.as_ref().is_some_and(|name| used.contains(name));
                if needed { Vec::new() } else { vec![Mutation::Delete(kind, key.clone())] }
            }
            _ => Vec::new(),
        };
        Reconciled { mutations, requeue: None }
    }

    fn fork(&self) -> Box<dyn Controller> {
        Box::new(*self)
    }
}

fn node_of(record: &Record) -> Option<&str> {
    if let Record::Pod(pod) = record { pod.node.as_deref() } else { None }
}

/// The attachments that a pod may have been the last to need.
fn gone(view: &View, pod: &Pod) -> Vec<(Kind, Key)> {
    let Some(node) = &pod.node else { return Vec::new() };
    let volumes = attachment::volumes_of(view, pod);
    if volumes.is_empty() {
        return Vec::new();
    }
    let held = attachment::on_node(view, node);
    held.filter(|found| found.volume.as_ref().is_some_and(|name| volumes.contains(name)))
        .map(|found| (Kind::VolumeAttachment, found.meta.key()))
        .collect()
}

/// The bound pods of the claim that a volume belongs to.
fn waiting_for(view: &View, volume: Option<&str>) -> Vec<(Kind, Key)> {
    let Some((namespace, claim)) = volume.and_then(|name| persistent(view, name)).and_then(|found| found.claim.clone())
    else {
        return Vec::new();
    };
    let pods = view.pods_in(&namespace).filter(|pod| pod.node.is_some() && !pod.finished());
    pods.filter(|pod| pod.claims().any(|name| name == claim)).map(|pod| (Kind::Pod, pod.meta.key())).collect()
}

fn persistent<'v>(view: &'v View, name: &str) -> Option<&'v Arc<PersistentVolume>> {
    match view.get(Kind::PersistentVolume, &Key::cluster(name))? {
        Record::PersistentVolume(found) => Some(found),
        _ => None,
    }
}

/// The volumes of a pod that have to be attached to its node before it starts.
fn wanted<'v>(view: &'v View, pod: &Pod) -> Vec<&'v Arc<PersistentVolume>> {
    let node = pod.node.as_deref().and_then(|node| view.node(node));
    let managed = node.is_some_and(|node| node.meta.annotations.contains_key(attachment::CONTROLLER_MANAGED));
    if !managed || pod.finished() {
        return Vec::new();
    }
    let attachable = |found: &&Arc<PersistentVolume>| {
        // A driver without an object is taken to need it. Source: `pkg/volume/csi/csi_plugin.go`, `CanAttach`.
        found.handle.is_some()
            && match view.get(Kind::CSIDriver, &Key::cluster(found.driver.clone())) {
                Some(Record::CSIDriver(driver)) => driver.attach_required,
                _ => true,
            }
    };
    let volumes = attachment::volumes_of(view, pod);
    volumes.iter().filter_map(|name| persistent(view, name)).filter(attachable).collect()
}

/// Whether a volume of the pod is not attached to its node yet.
pub(crate) fn unattached(view: &View, pod: &Pod) -> bool {
    let Some(node) = &pod.node else { return false };
    wanted(view, pod).into_iter().any(|volume| {
        let name = Some(&volume.meta.name);
        !attachment::on_node(view, node).any(|found| found.attached && found.volume.as_ref() == name)
    })
}

fn attach(view: &View, pod: &Pod, now: Timestamp) -> Vec<Mutation> {
    let Some(node) = &pod.node else { return Vec::new() };
    let mut mutations = Vec::new();
    for volume in wanted(view, pod) {
        let name = &volume.meta.name;
        let here = view.of_kind(Kind::VolumeAttachment).filter_map(|record| match record {
            Record::VolumeAttachment(found) if found.volume.as_ref() == Some(name) => Some(found.node == *node),
            _ => None,
        });
        let places: Vec<bool> = here.collect();
        if places.contains(&true) || !places.is_empty() && single_node(&volume.access_modes) {
            continue;
        }
        mutations.push(Mutation::Create(Record::VolumeAttachment(Arc::new(VolumeAttachment {
            // The real one is a hash of volume, driver and node; nobody reads it.
            meta: Meta { name: format!("csi-{name}-{node}"), created: Some(now), ..Meta::default() },
            attacher: volume.driver.clone(),
            node: node.clone(),
            volume: Some(name.clone()),
            attached: true,
        }))));
    }
    mutations
}
