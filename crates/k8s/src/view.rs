//! An indexed view of a cluster at one moment.
//!
//! Watch caches, the simulator's store and a loaded snapshot all fill it. Records are shared (`Arc`), so that a clone
//! costs one reference per object: what-if and sweeps are clones.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use rehome_model::snapshot::{ClusterIdentity, Gap};
use rehome_model::{Known, Uid};

use crate::meta::Key;
use crate::node::Node;
use crate::pod::Pod;
use crate::record::{Kind, Record};
use crate::selector::Selector;
use crate::workload::Workload;

mod labels;

/// The objects of a cluster by kind, namespace and name, and the ways in which rules look for them.
#[derive(Clone, Debug, Default)]
pub struct View {
    /// Which cluster this is.
    pub cluster: ClusterIdentity,
    gaps: BTreeMap<Kind, Gap>,
    objects: BTreeMap<Kind, BTreeMap<Key, Record>>,
    by_uid: BTreeMap<Uid, (Kind, Key)>,
    pods_by_node: BTreeMap<String, BTreeSet<Key>>,
    pods_by_label: labels::PodLabels,
    /// Keys of pods and of workloads by the UID of their controller.
    owned: BTreeMap<Uid, BTreeSet<(Kind, Key)>>,
}

impl View {
    /// An empty view of a cluster.
    #[must_use]
    pub fn new(cluster: ClusterIdentity) -> Self {
        Self { cluster, ..Self::default() }
    }

    /// Says that objects of this kind could not be read.
    pub fn set_gap(&mut self, kind: Kind, gap: Gap) {
        self.gaps.insert(kind, gap);
    }

    /// Says that objects of this kind can be read again.
    pub fn clear_gap(&mut self, kind: Kind) -> Option<Gap> {
        self.gaps.remove(&kind)
    }

    /// The gap for a kind, if there is one.
    #[must_use]
    pub fn gap(&self, kind: Kind) -> Option<&Gap> {
        self.gaps.get(&kind)
    }

    /// All gaps.
    pub fn gaps(&self) -> impl Iterator<Item = &Gap> {
        self.gaps.values()
    }

    /// Adds an object or replaces the one with its name; returns the one that was there.
    pub fn insert(&mut self, record: Record) -> Option<Record> {
        let (kind, key) = (record.kind(), record.key());
        if let Some(place) = self.objects.get_mut(&kind).and_then(|objects| objects.get_mut(&key))
            && same_indexes(place, &record)
        {
            // Most writes are of a status: no index changes.
            return Some(std::mem::replace(place, record));
        }
        let before = self.remove(kind, &key);
        let meta = record.meta();
        if !meta.uid.0.is_empty() {
            self.by_uid.insert(meta.uid.clone(), (kind, key.clone()));
        }
        if let Some(owner) = &meta.controller {
            self.owned.entry(owner.uid.clone()).or_default().insert((kind, key.clone()));
        }
        if let Record::Pod(pod) = &record {
            self.pods_by_label.insert(&pod.meta);
            if let Some(node) = &pod.node {
                self.pods_by_node.entry(node.clone()).or_default().insert(key.clone());
            }
        }
        self.objects.entry(kind).or_default().insert(key, record);
        before
    }

    /// Takes an object out.
    pub fn remove(&mut self, kind: Kind, key: &Key) -> Option<Record> {
        let record = self.objects.get_mut(&kind)?.remove(key)?;
        let meta = record.meta();
        if self.by_uid.get(&meta.uid) == Some(&(kind, key.clone())) {
            self.by_uid.remove(&meta.uid);
        }
        if let Some(owner) = &meta.controller {
            remove_from(&mut self.owned, &owner.uid, &(kind, key.clone()));
        }
        if let Record::Pod(pod) = &record {
            self.pods_by_label.remove(&pod.meta);
            if let Some(node) = &pod.node {
                remove_from(&mut self.pods_by_node, node, key);
            }
        }
        Some(record)
    }

    /// The object of this kind with this name.
    #[must_use]
    pub fn get(&self, kind: Kind, key: &Key) -> Option<&Record> {
        self.objects.get(&kind)?.get(key)
    }

    /// The object with this UID.
    #[must_use]
    pub fn by_uid(&self, uid: &Uid) -> Option<&Record> {
        let (kind, key) = self.by_uid.get(uid)?;
        self.get(*kind, key)
    }

    /// All objects of a kind, by namespace and name; empty also where the kind could not be read (see [`View::known`]).
    pub fn of_kind(&self, kind: Kind) -> impl Iterator<Item = &Record> {
        self.objects.get(&kind).into_iter().flat_map(BTreeMap::values)
    }

    /// All objects of a kind, or the gap that keeps them from being known.
    #[must_use]
    pub fn known(&self, kind: Kind) -> Known<Vec<&Record>> {
        match self.gaps.get(&kind) {
            Some(gap) => Known::Unknown(gap.clone()),
            None => Known::Known(self.of_kind(kind).collect()),
        }
    }

    /// All objects, kind by kind.
    pub fn records(&self) -> impl Iterator<Item = &Record> {
        self.objects.values().flat_map(BTreeMap::values)
    }

    /// All nodes by name.
    pub fn nodes(&self) -> impl Iterator<Item = &Arc<Node>> {
        self.of_kind(Kind::Node).filter_map(|record| if let Record::Node(node) = record { Some(node) } else { None })
    }

    /// The node with this name.
    #[must_use]
    pub fn node(&self, name: &str) -> Option<&Arc<Node>> {
        match self.get(Kind::Node, &Key::cluster(name))? {
            Record::Node(node) => Some(node),
            _ => None,
        }
    }

    /// All pods by namespace and name.
    pub fn pods(&self) -> impl Iterator<Item = &Arc<Pod>> {
        self.of_kind(Kind::Pod).filter_map(|record| if let Record::Pod(pod) = record { Some(pod) } else { None })
    }

    /// The pod with this name.
    #[must_use]
    pub fn pod(&self, key: &Key) -> Option<&Arc<Pod>> {
        match self.get(Kind::Pod, key)? {
            Record::Pod(pod) => Some(pod),
            _ => None,
        }
    }

    /// The pods bound to a node, finished ones included.
    pub fn pods_on(&self, node: &str) -> impl Iterator<Item = &Arc<Pod>> {
        self.pods_by_node.get(node).into_iter().flatten().filter_map(|key| self.pod(key))
    }

    /// The objects of a kind in a namespace, by name.
    pub fn in_namespace<'v>(&'v self, kind: Kind, namespace: &str) -> impl Iterator<Item = &'v Record> {
        let from = Key::new(namespace, "");
        let namespace = namespace.to_owned();
        let objects = self.objects.get(&kind).into_iter().flat_map(move |objects| objects.range(from.clone()..));
        objects.take_while(move |(key, _)| key.namespace == namespace).map(|(_, record)| record)
    }

    /// The pods in a namespace.
    pub fn pods_in<'v>(&'v self, namespace: &str) -> impl Iterator<Item = &'v Arc<Pod>> {
        let records = self.in_namespace(Kind::Pod, namespace);
        records.filter_map(|record| if let Record::Pod(pod) = record { Some(pod) } else { None })
    }

    /// The pods in a namespace that a selector matches, by name.
    #[must_use]
    pub fn pods_matching(&self, namespace: &str, selector: &Selector) -> Vec<&Arc<Pod>> {
        let matches = |pod: &&Arc<Pod>| selector.matches(&pod.meta.labels);
        match self.pods_by_label.candidates(namespace, selector) {
            Some(names) => {
                let pods = names.iter().filter_map(|name| self.pod(&Key::new(namespace, name.clone())));
                pods.filter(matches).collect()
            }
            None => self.pods_in(namespace).filter(matches).collect(),
        }
    }

    /// The workload of this kind with this name.
    #[must_use]
    pub fn workload(&self, kind: Kind, key: &Key) -> Option<&Arc<Workload>> {
        self.get(kind, key)?.as_workload()
    }

    /// What an object with this UID controls directly.
    pub fn controlled_by(&self, uid: &Uid) -> impl Iterator<Item = &Record> {
        self.owned.get(uid).into_iter().flatten().filter_map(|(kind, key)| self.get(*kind, key))
    }

    /// The pods that an object with this UID controls directly.
    pub fn pods_controlled_by(&self, uid: &Uid) -> impl Iterator<Item = &Arc<Pod>> {
        self.controlled_by(uid).filter_map(|record| if let Record::Pod(pod) = record { Some(pod) } else { None })
    }
}

/// Whether an object can take the place of another without a change of an index.
fn same_indexes(before: &Record, after: &Record) -> bool {
    let (old, new) = (before.meta(), after.meta());
    let placed = match (before, after) {
        (Record::Pod(before), Record::Pod(after)) => before.node == after.node && old.labels == new.labels,
        _ => true,
    };
    placed && old.uid == new.uid && old.controller.as_ref().map(|o| &o.uid) == new.controller.as_ref().map(|o| &o.uid)
}

fn remove_from<K: Ord + Clone, V: Ord>(index: &mut BTreeMap<K, BTreeSet<V>>, key: &K, value: &V) {
    if let Some(values) = index.get_mut(key) {
        values.remove(value);
        if values.is_empty() {
            index.remove(key);
        }
    }
}
