//! NodeVolumeLimits: how many volumes of a CSI driver a node takes, as its CSINode says.
//!
//! A volume counts once per node however many pods mount it; attachments count, too, those of pods that are gone
//! included. A node without a CSINode, or a driver without a count, has no limit. In-tree volumes that a CSI driver
//! took over are not translated, so they do not count.
//! Source: `k8s.io/kubernetes/pkg/scheduler/framework/plugins/nodevolumelimits/csi.go`.

use std::collections::{BTreeMap, BTreeSet};

use rehome_k8s::node::Node;
use rehome_k8s::storage::PersistentVolume;
use rehome_k8s::{Key, Kind, Record, View};

use super::{Cycle, is_candidate, reject};
use crate::{Candidate, Rejection};

/// Volumes by driver: handles, or the claim's name for a volume that does not exist yet.
pub(super) type Volumes = BTreeMap<String, BTreeSet<String>>;

/// The volumes that the pod brings to a node.
pub(super) fn wanted(view: &View, pod: &Candidate<'_>) -> Volumes {
    let mut volumes = Volumes::new();
    for name in pod.spec.claims_of(pod.name) {
        add(view, pod.namespace, &name, &mut volumes);
    }
    volumes
}

fn add(view: &View, namespace: &str, claim: &str, volumes: &mut Volumes) {
    let key = Key::new(namespace, claim);
    let Some(Record::PersistentVolumeClaim(claim)) = view.get(Kind::PersistentVolumeClaim, &key) else { return };
    let (driver, handle) = if let Some(volume) = &claim.volume {
        match self::volume(view, volume).and_then(|volume| Some((volume.driver.clone(), volume.handle.clone()?))) {
            Some(found) => found,
            None => return,
        }
    } else {
        let class = claim.storage_class.clone().and_then(|class| view.get(Kind::StorageClass, &Key::cluster(class)));
        let Some(Record::StorageClass(class)) = class else { return };
        (class.provisioner.clone(), key.to_string())
    };
    volumes.entry(driver).or_default().insert(handle);
}

fn volume<'v>(view: &'v View, name: &str) -> Option<&'v PersistentVolume> {
    match view.get(Kind::PersistentVolume, &Key::cluster(name))? {
        Record::PersistentVolume(volume) => Some(volume),
        _ => None,
    }
}

pub(super) fn filter(cycle: &Cycle<'_>, node: &Node) -> Result<(), Rejection> {
    if cycle.volumes.is_empty() {
        return Ok(());
    }
    let Some(Record::CSINode(csi)) = cycle.view.get(Kind::CSINode, &Key::cluster(node.name())) else { return Ok(()) };
    let limit = |driver: &str| csi.drivers.get(driver).copied().flatten();
    if !cycle.volumes.keys().any(|driver| limit(driver).is_some()) {
        return Ok(());
    }
    let mut held = Volumes::new();
    for other in cycle.view.pods_on(node.name()).filter(|other| !other.finished() && !is_candidate(other, cycle.pod)) {
        for claim in other.claims() {
            add(cycle.view, &other.meta.namespace, &claim, &mut held);
        }
    }
    for record in cycle.view.of_kind(Kind::VolumeAttachment) {
        if let Record::VolumeAttachment(attachment) = record
            && attachment.node == node.name()
            && let Some(handle) = attachment.volume.as_ref().and_then(|name| volume(cycle.view, name)?.handle.clone())
        {
            held.entry(attachment.attacher.clone()).or_default().insert(handle);
        }
    }
    for (driver, wanted) in &cycle.volumes {
        let Some(limit) = limit(driver) else { continue };
        let here = held.get(driver).map_or(0, BTreeSet::len);
        let more = wanted.iter().filter(|handle| held.get(driver).is_none_or(|held| !held.contains(*handle))).count();
        if more > 0 && i64::try_from(here + more).unwrap_or(i64::MAX) > limit {
            return Err(reject("NodeVolumeLimits", "node(s) exceed max volume count"));
        }
    }
    Ok(())
}
