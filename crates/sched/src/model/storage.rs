//! Claims, volumes and classes, and which volumes pods hold on which node.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use rehome_k8s::mutant::{Mutant, on};
use rehome_k8s::storage::{
    CsiDriver, CsiStorageCapacity, PersistentVolume, PersistentVolumeClaim, StorageClass, VolumeAttachment,
};
use rehome_k8s::{Key, Kind};

use crate::intern::Interner;

/// A volume as attach limits count it: the driver, and a handle, or the claim's name for one that is yet to be made.
pub(crate) type Attachable = (String, String);

/// Everything about storage.
#[derive(Clone, Debug, Default)]
pub(crate) struct Storage {
    claims: BTreeMap<Key, Arc<PersistentVolumeClaim>>,
    volumes: BTreeMap<String, Arc<PersistentVolume>>,
    /// Names of volumes by class: those that may wait for a claim.
    by_class: BTreeMap<String, BTreeSet<String>>,
    classes: BTreeMap<String, Arc<StorageClass>>,
    drivers: BTreeMap<String, Arc<CsiDriver>>,
    capacities: BTreeMap<Key, Arc<CsiStorageCapacity>>,
    attachments: BTreeMap<String, Arc<VolumeAttachment>>,
    /// Kinds that could not be read: what they would say rejects nothing.
    gaps: BTreeSet<Kind>,
    keys: Interner<Key>,
    /// What each claim is on a node, by the claim's number; worked out again when a part of it changes.
    attachables: Vec<Option<Attachable>>,
    /// Which claims the pods of a node hold, and how many pods hold each.
    held: Vec<BTreeMap<usize, usize>>,
    /// How many bound pods hold a claim.
    users: Vec<usize>,
    /// What is attached, by the names of the node and of the attachment.
    attached: BTreeMap<String, BTreeMap<String, Attachable>>,
    /// No node ever had more attachments.
    most_attached: usize,
    /// Names of the attachments of each volume.
    attachments_of: BTreeMap<String, BTreeSet<String>>,
}

/// Source: `k8s.io/component-helpers/storage/volume`, `IsDefaultStorageClassAnnotation`.
const DEFAULT_CLASS: &str = "storageclass.kubernetes.io/is-default-class";

impl Storage {
    pub(crate) fn set_gap(&mut self, kind: Kind) {
        self.gaps.insert(kind);
    }

    pub(crate) fn gap(&self, kind: Kind) -> bool {
        self.gaps.contains(&kind)
    }

    pub(crate) fn set_claim(&mut self, key: &Key, claim: Option<Arc<PersistentVolumeClaim>>) {
        replace(&mut self.claims, key, claim);
        if let Some(number) = self.keys.find(key) {
            self.attachables[number] = self.attachable(key);
        }
    }

    pub(crate) fn set_volume(&mut self, name: &str, volume: Option<Arc<PersistentVolume>>) {
        if let Some(before) = self.volumes.get(name)
            && let Some(names) = self.by_class.get_mut(&before.storage_class)
        {
            names.remove(name);
        }
        let claim = volume.as_ref().or(self.volumes.get(name)).and_then(|volume| volume.claim.clone());
        if let Some(volume) = &volume {
            self.by_class.entry(volume.storage_class.clone()).or_default().insert(name.to_owned());
        }
        replace(&mut self.volumes, &name.to_owned(), volume);
        // A bound volume names its claim. One that does not is looked for in all of them.
        match claim.map(|(namespace, name)| Key::new(namespace, name)) {
            Some(key) => {
                if let Some(number) = self.keys.find(&key) {
                    self.attachables[number] = self.attachable(&key);
                }
            }
            None => self.rework(),
        }
        for attachment in self.attachments_of.get(name).cloned().unwrap_or_default() {
            self.attach(&attachment);
        }
    }

    pub(crate) fn set_class(&mut self, name: &str, class: Option<Arc<StorageClass>>) {
        replace(&mut self.classes, &name.to_owned(), class);
        self.rework();
    }

    pub(crate) fn set_driver(&mut self, name: &str, driver: Option<Arc<CsiDriver>>) {
        replace(&mut self.drivers, &name.to_owned(), driver);
    }

    pub(crate) fn set_capacity(&mut self, key: &Key, capacity: Option<Arc<CsiStorageCapacity>>) {
        replace(&mut self.capacities, key, capacity);
    }

    pub(crate) fn set_attachment(&mut self, name: &str, attachment: Option<Arc<VolumeAttachment>>) {
        if let Some(before) = self.attachments.get(name) {
            if let Some(attached) = self.attached.get_mut(&before.node) {
                attached.remove(name);
            }
            if let Some(names) = before.volume.as_ref().and_then(|volume| self.attachments_of.get_mut(volume)) {
                names.remove(name);
            }
        }
        if let Some(volume) = attachment.as_ref().and_then(|attachment| attachment.volume.as_ref()) {
            self.attachments_of.entry(volume.clone()).or_default().insert(name.to_owned());
        }
        replace(&mut self.attachments, &name.to_owned(), attachment);
        self.attach(name);
    }

    /// Notes what an attachment attaches, as far as its volume is known.
    fn attach(&mut self, name: &str) {
        let Some(attachment) = self.attachments.get(name).filter(|attachment| !attachment.attacher.is_empty()) else {
            return;
        };
        let volume = attachment.volume.as_ref().and_then(|name| self.volumes.get(name));
        let attached = self.attached.entry(attachment.node.clone()).or_default();
        match volume.and_then(|volume| volume.handle.clone()) {
            Some(handle) => drop(attached.insert(name.to_owned(), (attachment.attacher.clone(), handle))),
            None => drop(attached.remove(name)),
        }
        self.most_attached = self.most_attached.max(attached.len());
    }

    fn rework(&mut self) {
        for number in 0..self.attachables.len() {
            let key = Arc::clone(self.keys.value(number));
            self.attachables[number] = self.attachable(&key);
        }
    }

    /// The number of a claim.
    pub(crate) fn number(&mut self, key: &Key) -> usize {
        let (number, new) = self.keys.intern(key.clone());
        if new {
            self.attachables.push(self.attachable(key));
            self.users.push(0);
        }
        number
    }

    /// What a claim counts for on a node. In-tree volumes that a CSI driver took over are not translated.
    /// Source: `nodevolumelimits/csi.go`, `getCSIDriverInfo`.
    fn attachable(&self, key: &Key) -> Option<Attachable> {
        let claim = self.claims.get(key)?;
        if let Some(volume) = claim.volume.as_ref().and_then(|name| self.volumes.get(name)) {
            return Some((volume.driver.clone(), volume.handle.clone().filter(|handle| !handle.is_empty())?));
        }
        let class = self.classes.get(claim.storage_class.as_ref()?)?;
        Some((class.provisioner.clone(), key.to_string()))
    }

    /// A pod on a node begins or ceases to hold a claim.
    pub(crate) fn hold(&mut self, node: usize, claim: usize, more: bool) {
        if self.held.len() <= node {
            self.held.resize(node + 1, BTreeMap::new());
        }
        let count = self.held[node].entry(claim).or_default();
        *count = if more { *count + 1 } else { count.saturating_sub(1) };
        if *count == 0 {
            self.held[node].remove(&claim);
        }
        let users = &mut self.users[claim];
        *users = if more { *users + 1 } else { users.saturating_sub(1) };
    }

    /// How many bound pods hold a claim.
    pub(crate) fn users(&self, claim: usize) -> usize {
        self.users[claim]
    }

    pub(crate) fn attachable_of(&self, claim: usize) -> Option<&Attachable> {
        self.attachables[claim].as_ref()
    }

    /// What pods hold on a node, and what is attached to it besides.
    pub(crate) fn on_node<'s>(&'s self, node: usize, name: &str) -> impl Iterator<Item = &'s Attachable> {
        let held = self.held.get(node).into_iter().flat_map(BTreeMap::keys);
        let held = held.filter_map(|claim| self.attachables[*claim].as_ref());
        let attached = self.attached.get(name).filter(|_| !on(Mutant::AttachmentsIgnored));
        held.chain(attached.into_iter().flat_map(BTreeMap::values))
    }

    /// No more than this can pods hold on a node, and be attached to it besides.
    pub(crate) fn most_on_node(&self, node: usize) -> usize {
        self.held.get(node).map_or(0, BTreeMap::len) + self.most_attached
    }

    /// Whether a pod of the node holds a volume.
    pub(crate) fn held_by_pods(&self, node: usize, volume: &Attachable) -> bool {
        let held = self.held.get(node).into_iter().flat_map(BTreeMap::keys);
        held.filter_map(|claim| self.attachables[*claim].as_ref()).any(|other| other == volume)
    }

    pub(crate) fn claim(&self, key: &Key) -> Option<&Arc<PersistentVolumeClaim>> {
        self.claims.get(key)
    }

    pub(crate) fn volume(&self, name: &str) -> Option<&Arc<PersistentVolume>> {
        self.volumes.get(name)
    }

    /// The volumes of a class, by name.
    pub(crate) fn volumes_of(&self, class: &str) -> impl Iterator<Item = &Arc<PersistentVolume>> {
        self.by_class.get(class).into_iter().flatten().filter_map(|name| self.volumes.get(name))
    }

    /// The class of a claim. One that names none has the default class: the API server fills it in, a file may lack it.
    pub(crate) fn class(&self, claim: &PersistentVolumeClaim) -> Option<&Arc<StorageClass>> {
        match &claim.storage_class {
            Some(name) => self.classes.get(name),
            None => {
                let default = |class: &&Arc<StorageClass>| {
                    class.meta.annotations.get(DEFAULT_CLASS).is_some_and(|value| value == "true")
                };
                self.classes.values().find(default)
            }
        }
    }

    pub(crate) fn driver(&self, name: &str) -> Option<&Arc<CsiDriver>> {
        self.drivers.get(name)
    }

    /// Capacities of a class, by name.
    pub(crate) fn capacities_of<'s>(&'s self, class: &'s str) -> impl Iterator<Item = &'s Arc<CsiStorageCapacity>> {
        self.capacities.values().filter(move |capacity| capacity.class == class)
    }
}

fn replace<K: Ord + Clone, V>(map: &mut BTreeMap<K, V>, key: &K, value: Option<V>) {
    match value {
        Some(value) => drop(map.insert(key.clone(), value)),
        None => drop(map.remove(key)),
    }
}
