//! A cluster as kube-scheduler sees it, in arrays: nodes, what their bound pods hold, and counts of pods by what selects
//! them. Pods are followed one by one; whatever is computed from nodes alone is kept until the node changes.
//!
//! A clone is a fork: what-if and sweeps are clones.

pub(crate) mod class;
mod images;
pub(crate) mod kept;
pub(crate) mod nodes;
pub(crate) mod question;
mod shapes;
mod siblings;
pub(crate) mod storage;
pub(crate) mod sums;
pub(crate) mod tally;
pub(crate) mod term;
pub(crate) mod topology;

#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use rehome_k8s::node::{Node, Resources};
use rehome_k8s::pod::Pod;
use rehome_k8s::storage::CsiNode;
use rehome_k8s::{Key, Kind, Record, View};

use crate::intern::Interner;
use crate::preempt::Budgets;
use crate::profile::Profile;
use class::Class;
use images::Images;
use kept::Kept;
use nodes::Nodes;
use shapes::Shapes;
use siblings::Siblings;
use storage::Storage;
use tally::{Counted, Tally};
use term::{Hold, Holders, Term};

/// The cluster that pods are placed in.
#[derive(Clone, Debug, Default)]
pub struct Model {
    pub(crate) profile: Profile,
    pub(crate) nodes: Nodes,
    pub(crate) storage: Storage,
    shapes: Shapes,
    pub(crate) classes: Vec<Class>,
    classes_in: BTreeMap<String, Vec<usize>>,
    /// The number of each class' footprint.
    pub(crate) footprints: Vec<usize>,
    pub(crate) kept: Kept,
    counted: Interner<Counted>,
    counts: Vec<Tally>,
    tallies_in: ByNamespace,
    terms: Interner<Term>,
    holders: Vec<Holders>,
    terms_in: ByNamespace,
    pub(crate) namespaces: BTreeMap<String, BTreeMap<String, String>>,
    pub(crate) images: Images,
    siblings: Siblings,
    pub(crate) budgets: Budgets,
    bound: BTreeMap<Key, Bound>,
    on_node: Vec<BTreeSet<Key>>,
    /// Pods bound to nodes that are not there (yet).
    adrift: BTreeMap<Key, Arc<Pod>>,
    /// Pods for which room is being made on a node.
    pub(crate) nominated: BTreeMap<Key, Arc<Pod>>,
    /// Pods that were taken off a node to see whether that makes room, while it is tried.
    pub(crate) tried_without: BTreeMap<Key, (Arc<Pod>, usize)>,
}

/// A bound pod.
#[derive(Clone, Debug)]
pub(crate) struct Bound {
    pub(crate) pod: Arc<Pod>,
    pub(crate) node: usize,
    pub(crate) class: usize,
    claims: Vec<usize>,
}

/// A bound pod that was taken off its node for a while.
pub(crate) struct Taken(Bound);

impl Model {
    /// The cluster of a view, as the scheduler of this profile would see it.
    #[must_use]
    pub fn new(view: &View, profile: Profile) -> Self {
        let mut model = Self { profile, ..Self::default() };
        for gap in Kind::ALL.iter().filter(|kind| view.gap(**kind).is_some()) {
            model.storage.set_gap(*gap);
        }
        // Pods come last: they are counted by what all others say.
        for kind in Kind::ALL.iter().filter(|kind| **kind != Kind::Pod) {
            view.of_kind(*kind).for_each(|record| model.insert(record));
        }
        view.pods().for_each(|pod| model.insert_pod(pod));
        model
    }

    /// Follows an object that was created or changed. Kinds that the scheduler does not look at change nothing.
    pub fn insert(&mut self, record: &Record) {
        let key = record.key();
        match record {
            Record::Pod(pod) => self.insert_pod(pod),
            Record::Node(node) => self.insert_node(node),
            Record::CSINode(csi) => {
                if let Some(node) = self.nodes.find(&key.name) {
                    self.nodes.set_csi(node, Some(Arc::clone(csi)));
                }
                self.siblings.set_csi(&key.name, Some(csi));
            }
            Record::PersistentVolumeClaim(claim) => self.storage.set_claim(&key, Some(Arc::clone(claim))),
            Record::PersistentVolume(volume) => self.storage.set_volume(&key.name, Some(Arc::clone(volume))),
            Record::StorageClass(class) => self.storage.set_class(&key.name, Some(Arc::clone(class))),
            Record::CSIDriver(driver) => self.storage.set_driver(&key.name, Some(Arc::clone(driver))),
            Record::CSIStorageCapacity(capacity) => self.storage.set_capacity(&key, Some(Arc::clone(capacity))),
            Record::VolumeAttachment(attachment) => {
                self.storage.set_attachment(&key.name, Some(Arc::clone(attachment)));
            }
            Record::PodDisruptionBudget(budget) => drop(self.budgets.insert(key, Arc::clone(budget))),
            Record::Namespace(namespace) => self.set_namespace(&key.name, Some(&namespace.meta.labels)),
            Record::Service(service) => self.siblings.set_service(&key, Some(&service.selector)),
            _ => {
                if let Some(workload) = record.as_workload() {
                    self.siblings.set_workload(record.kind(), &key, Some(&workload.selector));
                }
            }
        }
    }

    /// Follows an object that is gone. The pods of a node that is gone stay, on no node.
    pub fn remove(&mut self, kind: Kind, key: &Key) {
        match kind {
            Kind::Pod => self.remove_pod(key),
            Kind::Node => {
                for pod in self.remove_node(&key.name) {
                    self.adrift.insert(pod.meta.key(), pod);
                }
            }
            Kind::CSINode => {
                if let Some(node) = self.nodes.find(&key.name) {
                    self.nodes.set_csi(node, None);
                }
                self.siblings.set_csi(&key.name, None);
            }
            Kind::PersistentVolumeClaim => self.storage.set_claim(key, None),
            Kind::PersistentVolume => self.storage.set_volume(&key.name, None),
            Kind::StorageClass => self.storage.set_class(&key.name, None),
            Kind::CSIDriver => self.storage.set_driver(&key.name, None),
            Kind::CSIStorageCapacity => self.storage.set_capacity(key, None),
            Kind::VolumeAttachment => self.storage.set_attachment(&key.name, None),
            Kind::PodDisruptionBudget => drop(self.budgets.remove(key)),
            Kind::Namespace => self.set_namespace(&key.name, None),
            Kind::Service => self.siblings.set_service(key, None),
            _ => self.siblings.set_workload(kind, key, None),
        }
    }

    /// Adds a node with what its CSI drivers take, or changes one.
    pub fn add_node(&mut self, node: &Arc<Node>, csi: Option<&Arc<CsiNode>>) {
        self.siblings.set_csi(node.name(), csi);
        self.insert_node(node);
    }

    fn insert_node(&mut self, node: &Arc<Node>) {
        let before = self.nodes.find(node.name()).and_then(|index| self.nodes.get(index));
        let same_images = before.map_or(node.images.is_empty(), |before| before.images == node.images);
        let found = self.nodes.find(node.name()).filter(|index| !self.on_node[*index].is_empty());
        let domains = found.map(|index| self.nodes.domains_of(index));
        let index = self.nodes.set(node);
        self.regroup(index, &domains.unwrap_or_default());
        if !same_images {
            self.images.set(index, &node.images);
        }
        if self.on_node.len() <= index {
            self.on_node.resize(index + 1, BTreeSet::new());
        }
        self.nodes.set_csi(index, self.siblings.csi(node.name()).cloned());
        let here = |pod: &&Arc<Pod>| pod.node.as_deref() == Some(node.name());
        let returned: Vec<_> = self.adrift.values().filter(here).cloned().collect();
        for pod in returned {
            self.insert_pod(&pod);
        }
    }

    /// Moves what a node's pods count for to the domains that it is in now.
    fn regroup(&mut self, node: usize, before: &[usize]) {
        for (topology, from) in before.iter().enumerate() {
            let to = self.nodes.domains(topology).of(node);
            if *from != to {
                let held = self.holders.iter_mut().flat_map(|holders| [&mut holders.forbids, &mut holders.weights]);
                self.counts.iter_mut().chain(held).for_each(|tally| tally.moved(node, topology, *from, to));
            }
        }
    }

    /// Takes a node away, and gives the pods that were on it: they are on no node any longer.
    pub fn remove_node(&mut self, name: &str) -> Vec<Arc<Pod>> {
        let Some(index) = self.nodes.find(name) else { return Vec::new() };
        let keys: Vec<Key> = self.on_node[index].iter().cloned().collect();
        let mut pods = Vec::with_capacity(keys.len());
        for key in keys {
            pods.extend(self.bound.get(&key).map(|bound| Arc::clone(&bound.pod)));
            self.remove_pod(&key);
        }
        self.nodes.remove(index);
        if !self.images.is_empty() {
            self.images.set(index, &BTreeMap::new());
        }
        pods
    }

    /// Follows a pod: bound and not finished, it holds what it asks for; otherwise nothing.
    pub fn insert_pod(&mut self, pod: &Arc<Pod>) {
        let key = pod.meta.key();
        let node = pod.node.as_deref().filter(|_| !pod.finished());
        let Some(name) = node else {
            self.remove_pod(&key);
            if pod.nominated.is_some() && !pod.finished() {
                self.nominated.insert(key, Arc::clone(pod));
            }
            return;
        };
        let Some(node) = self.nodes.find(name) else {
            self.remove_pod(&key);
            self.adrift.insert(key, Arc::clone(pod));
            return;
        };
        // A change of status alone is most of what happens to pods.
        if let Some(bound) = self.bound.get_mut(&key)
            && bound.node == node
            && same_to_the_scheduler(&bound.pod, pod)
        {
            bound.pod = Arc::clone(pod);
            return;
        }
        self.remove_pod(&key);
        let class = self.class_of(pod);
        self.bind(pod, class, node);
    }

    /// Follows a pod that is gone.
    pub fn remove_pod(&mut self, key: &Key) {
        self.adrift.remove(key);
        self.nominated.remove(key);
        if let Some(bound) = self.bound.remove(key) {
            self.on_node[bound.node].remove(key);
            self.count(&bound, -1);
        }
    }

    /// Takes a bound pod off its node, to be put back.
    pub(crate) fn take_off(&mut self, key: &Key) -> Option<Taken> {
        let bound = self.bound.remove(key)?;
        self.on_node[bound.node].remove(key);
        self.count(&bound, -1);
        Some(Taken(bound))
    }

    /// Puts it back. Nodes and namespaces must be as they were.
    pub(crate) fn put_on(&mut self, Taken(bound): Taken) {
        let key = bound.pod.meta.key();
        self.count(&bound, 1);
        self.on_node[bound.node].insert(key.clone());
        self.bound.insert(key, bound);
    }

    /// Puts a pod on a node, whatever the filters say.
    pub(crate) fn bind(&mut self, pod: &Arc<Pod>, class: usize, node: usize) {
        let key = pod.meta.key();
        self.nominated.remove(&key);
        let claims = pod.claims().map(|name| self.storage.number(&Key::new(pod.meta.namespace.clone(), name)));
        let bound = Bound { claims: claims.collect(), pod: Arc::clone(pod), node, class };
        self.count(&bound, 1);
        self.on_node[node].insert(key.clone());
        self.bound.insert(key, bound);
    }

    /// Counts a pod in (`sign` 1) or out (-1), everywhere.
    fn count(&mut self, bound: &Bound, sign: i64) {
        let class = &self.classes[bound.class];
        let (node, more) = (bound.node, sign > 0);
        self.nodes.hold(node, &class.load, sign);
        class.ports.iter().for_each(|port| self.nodes.hold_port(node, port, more));
        class.shape.spec.disks.iter().for_each(|disk| self.nodes.hold_disk(node, disk, more));
        bound.claims.iter().for_each(|claim| self.storage.hold(node, *claim, more));
        let ends = bound.pod.meta.deleting.is_some();
        for tally in &class.counted_by {
            if !ends || self.counted.value(*tally).counts_terminating() {
                self.counts[*tally].add(node, sign, &self.nodes);
            }
        }
        for (term, hold) in &class.holds {
            self.holders[*term].hold(node, *hold, sign, &self.nodes);
        }
    }

    /// The class of a pod.
    pub(crate) fn class_of(&mut self, pod: &Pod) -> usize {
        let siblings = if pod.spec.spread.is_empty() { self.siblings.of(pod) } else { None };
        if let Some(number) = self.shapes.find(pod, siblings.as_ref()) {
            return number;
        }
        let shape = Arc::clone(self.shapes.add(pod, siblings));
        let (namespace, labels) = (&shape.namespace, &shape.labels);
        let mut class = self.compile(Arc::clone(&shape));
        let counts = |tally: &usize| self.counted.value(*tally).counts(namespace, labels);
        class.counted_by = self.tallies_in.of(namespace).filter(counts).collect();
        let selects = |term: &usize| self.terms.value(*term).scope.selects(namespace, labels);
        class.selected_by = self.terms_in.of(namespace).filter(selects).collect();
        self.footprints.push(self.kept.footprint(&class));
        let number = self.classes.len();
        self.classes_in.entry(namespace.clone()).or_default().push(number);
        self.classes.push(class);
        number
    }

    /// The number of a tally; a new one counts the pods there are.
    pub(crate) fn tally(&mut self, counted: Counted) -> usize {
        let (number, new) = self.counted.intern(counted);
        if !new {
            return number;
        }
        let counted = Arc::clone(self.counted.value(number));
        let mut tally = Tally::default();
        self.tallies_in.add(counted.namespace(), number);
        let counts = |class: &Class| counted.counts(&class.shape.namespace, &class.shape.labels);
        self.classes_that(counted.namespace(), counts, |class| class.counted_by.push(number));
        let from = Key::new(counted.namespace().unwrap_or_default(), "");
        let within = |key: &Key| counted.namespace().is_none_or(|namespace| key.namespace == namespace);
        for (_, bound) in self.bound.range(from..).take_while(|(key, _)| within(key)) {
            let ends = bound.pod.meta.deleting.is_some() && !counted.counts_terminating();
            if !ends && self.classes[bound.class].counted_by.last() == Some(&number) {
                tally.add(bound.node, 1, &self.nodes);
            }
        }
        self.counts.push(tally);
        number
    }

    /// Keeps a tally's sums by the domains of a key from now on.
    pub(crate) fn follow(&mut self, tally: usize, topology: usize) {
        self.counts[tally].follow(topology, &self.nodes);
    }

    /// The number of a term. Nobody holds a new one yet.
    pub(crate) fn term(&mut self, term: Term) -> usize {
        let (number, new) = self.terms.intern(term);
        if new {
            let scope = &Arc::clone(self.terms.value(number)).scope;
            self.terms_in.add(scope.only_namespace(), number);
            let selects = |class: &Class| scope.selects(&class.shape.namespace, &class.shape.labels);
            self.classes_that(scope.only_namespace(), selects, |class| class.selected_by.push(number));
            let topology = self.terms.value(number).topology;
            let mut holders = Holders::default();
            holders.forbids.follow(topology, &self.nodes);
            holders.weights.follow(topology, &self.nodes);
            self.holders.push(holders);
        }
        number
    }

    /// Does something to the classes of a namespace, or of all, for which something holds.
    fn classes_that(
        &mut self,
        namespace: Option<&str>,
        holds: impl Fn(&Class) -> bool,
        mut act: impl FnMut(&mut Class),
    ) {
        let numbers = match namespace {
            Some(namespace) => self.classes_in.get(namespace).cloned().unwrap_or_default(),
            None => (0..self.classes.len()).collect(),
        };
        for number in numbers {
            let class = &mut self.classes[number];
            if holds(class) {
                act(class);
            }
        }
    }

    /// What a tally counts.
    pub(crate) fn counted(&self, tally: usize) -> &Counted {
        self.counted.value(tally)
    }

    pub(crate) fn counts(&self, tally: usize) -> &Tally {
        &self.counts[tally]
    }

    pub(crate) fn holders(&self, term: usize) -> (&Term, &Holders) {
        (self.terms.value(term), &self.holders[term])
    }

    /// Labels of a namespace decide whom terms select: everything that was compiled is compiled again.
    fn set_namespace(&mut self, name: &str, labels: Option<&BTreeMap<String, String>>) {
        if self.namespaces.get(name) == labels {
            return;
        }
        match labels {
            Some(labels) => drop(self.namespaces.insert(name.to_owned(), labels.clone())),
            None => drop(self.namespaces.remove(name)),
        }
        if self.classes.is_empty() {
            return;
        }
        let pods: Vec<Arc<Pod>> = self.bound.values().map(|bound| Arc::clone(&bound.pod)).collect();
        for pod in &pods {
            self.remove_pod(&pod.meta.key());
        }
        (self.shapes, self.classes) = (Shapes::default(), Vec::new());
        self.footprints.clear();
        self.classes_in.clear();
        (self.tallies_in, self.terms_in) = (ByNamespace::default(), ByNamespace::default());
        (self.counted, self.counts) = (Interner::default(), Vec::new());
        (self.terms, self.holders) = (Interner::default(), Vec::new());
        for pod in &pods {
            self.insert_pod(pod);
        }
    }

    /// A bound pod.
    pub(crate) fn bound(&self, key: &Key) -> Option<&Arc<Pod>> {
        self.bound.get(key).map(|bound| &bound.pod)
    }

    /// Where a pod is bound.
    #[must_use]
    pub fn node_of(&self, key: &Key) -> Option<&str> {
        self.bound.get(key).and_then(|bound| self.nodes.get(bound.node)).map(|node| node.name())
    }

    /// The nodes, by name.
    pub fn nodes(&self) -> impl Iterator<Item = &Arc<Node>> {
        self.nodes.order().iter().filter_map(|index| self.nodes.get(*index))
    }

    /// The pods of a node, by namespace and name.
    pub fn pods_on(&self, node: &str) -> impl Iterator<Item = &Arc<Pod>> {
        let index = self.nodes.find(node);
        let keys = index.into_iter().flat_map(|index| self.on_node[index].iter());
        keys.filter_map(|key| self.bound.get(key)).map(|bound| &bound.pod)
    }

    /// The same cluster without its pods: for questions that do not depend on them.
    #[must_use]
    pub fn without_pods(&self) -> Self {
        let mut bare = self.clone();
        for key in self.bound.keys() {
            bare.remove_pod(key);
        }
        bare
    }

    /// What the pods of a node hold, in our units; `pods` is their number. Finished pods hold nothing, terminating ones
    /// still do. Source: `k8s.io/kubernetes/pkg/scheduler/framework/types.go`, `NodeInfo.AddPod`.
    #[must_use]
    pub fn used(&self, node: &str) -> Resources {
        let mut used = Resources::new();
        let Some(index) = self.nodes.find(node) else { return used };
        for resource in 0..self.nodes.resources() {
            let amount = self.nodes.used(resource)[index];
            if amount != 0 {
                used.insert(self.nodes.resource_name(resource).to_owned(), amount);
            }
        }
        used.insert("pods".to_owned(), self.nodes.pods(index).0);
        used
    }
}

/// Whether a change of a pod leaves everything that the scheduler counts as it was.
fn same_to_the_scheduler(before: &Pod, after: &Pod) -> bool {
    (Arc::ptr_eq(&before.spec, &after.spec) || before.spec == after.spec)
        && before.meta.labels == after.meta.labels
        && before.meta.deleting.is_some() == after.meta.deleting.is_some()
        && before.resized == after.resized
}

/// Numbers of what looks at pods of one namespace, or of all.
#[derive(Clone, Debug, Default)]
struct ByNamespace {
    of_one: BTreeMap<String, Vec<usize>>,
    of_any: Vec<usize>,
}

impl ByNamespace {
    fn add(&mut self, namespace: Option<&str>, number: usize) {
        match namespace {
            Some(namespace) => self.of_one.entry(namespace.to_owned()).or_default().push(number),
            None => self.of_any.push(number),
        }
    }

    /// Those that could look at pods of this namespace.
    fn of(&self, namespace: &str) -> impl Iterator<Item = usize> + '_ {
        self.of_any.iter().chain(self.of_one.get(namespace).into_iter().flatten()).copied()
    }
}

impl Holders {
    fn hold(&mut self, node: usize, hold: Hold, sign: i64, nodes: &Nodes) {
        match hold {
            Hold::Forbids => {
                self.forbids.add(node, sign, nodes);
                self.forbidding += sign;
            }
            Hold::Weighs(weight) => {
                self.weights.add(node, sign * weight, nodes);
                self.weighing += sign;
            }
        }
    }
}
