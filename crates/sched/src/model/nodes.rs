//! Nodes as arrays: what each has, and what the pods bound to it hold.

use std::collections::BTreeMap;
use std::sync::Arc;

use rehome_k8s::mutant::{Mutant, on};
use rehome_k8s::node::Node;
use rehome_k8s::pod::Disk;
use rehome_k8s::storage::CsiNode;

use super::kept::Touched;
use super::question::{Answers, Question};
use super::topology::Topology;
use crate::intern::Interner;

/// Resources with numbers of their own; others follow as they are met.
pub(crate) const CPU: usize = 0;
/// Bytes of memory.
pub(crate) const MEMORY: usize = 1;

/// A host port: protocol, number, address.
pub(crate) type Port = (String, i32, String);

/// The most that an amount counts for. It is what floats hold exactly, and a thousand of them can be added up: amounts
/// beyond all reason come from files that are wrong or hostile.
pub(crate) const LARGEST: i64 = 1 << 53;

/// Everything about nodes. A node keeps its number until it is removed; then another gets it.
#[derive(Clone, Debug)]
pub(crate) struct Nodes {
    records: Vec<Option<Arc<Node>>>,
    by_name: BTreeMap<String, usize>,
    /// Numbers of removed nodes, to be used again.
    free: Vec<usize>,
    /// The numbers of the nodes there are, by name.
    order: Vec<usize>,
    csi: Vec<Option<Arc<CsiNode>>>,
    /// The least of the limits of a node's CSI drivers; without one, more than there can be.
    fewest_volumes: Vec<i64>,
    resources: Interner<String>,
    /// Allocatable and used amounts: a row for each resource, a column for each node.
    allocatable: Vec<Vec<i64>>,
    used: Vec<Vec<i64>>,
    /// cpu and memory as some scores count them.
    scored: [Vec<i64>; 2],
    pods: Vec<i64>,
    most_pods: Vec<i64>,
    ports: Vec<BTreeMap<Port, usize>>,
    disks: Vec<Vec<Disk>>,
    questions: Interner<Question>,
    answers: Vec<Answers>,
    topologies: Interner<String>,
    domains: Vec<Topology>,
    /// Nodes in the order in which they were added, removed or changed.
    changed: Vec<usize>,
    /// Nodes that changed in any way, what their pods hold included.
    touched: Touched,
    /// The nodes, one of each zone in turn, and how much of `changed` that knows.
    zoned: (usize, Vec<usize>),
}

/// What a pod holds on its node.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Load {
    /// Amounts by the number of the resource; zeros are left out.
    pub(crate) requests: Vec<(usize, i64)>,
    /// cpu and memory as some scores count them.
    pub(crate) scored: [i64; 2],
}

impl Default for Nodes {
    fn default() -> Self {
        let mut nodes = Self {
            records: Vec::new(),
            by_name: BTreeMap::new(),
            free: Vec::new(),
            order: Vec::new(),
            csi: Vec::new(),
            fewest_volumes: Vec::new(),
            resources: Interner::default(),
            allocatable: Vec::new(),
            used: Vec::new(),
            scored: [Vec::new(), Vec::new()],
            pods: Vec::new(),
            most_pods: Vec::new(),
            ports: Vec::new(),
            disks: Vec::new(),
            questions: Interner::default(),
            answers: Vec::new(),
            topologies: Interner::default(),
            domains: Vec::new(),
            changed: Vec::new(),
            touched: Touched::default(),
            zoned: (0, Vec::new()),
        };
        // In the order of CPU and MEMORY, and of the scheduler's reasons.
        for known in ["cpu", "memory", "ephemeral-storage"] {
            nodes.resource(known);
        }
        nodes
    }
}

/// An amount of a node, as it counts.
fn amount(node: &Node, resource: &str) -> i64 {
    node.allocatable.get(resource).map_or(0, |amount| (*amount).clamp(0, LARGEST))
}

impl Nodes {
    /// The number of a resource.
    pub(crate) fn resource(&mut self, name: &str) -> usize {
        let (number, new) = self.resources.intern(name.to_owned());
        if new {
            let name = self.resources.value(number);
            let of = |node: &Option<Arc<Node>>| node.as_ref().map_or(0, |node| amount(node, name));
            self.allocatable.push(self.records.iter().map(of).collect());
            self.used.push(vec![0; self.records.len()]);
        }
        number
    }

    pub(crate) fn resource_name(&self, number: usize) -> &str {
        self.resources.value(number)
    }

    /// Adds a node, or changes it; its pods stay.
    pub(crate) fn set(&mut self, node: &Arc<Node>) -> usize {
        for name in node.allocatable.keys().filter(|name| *name != "pods") {
            self.resource(name);
        }
        let index = match self.by_name.get(node.name()) {
            Some(index) => *index,
            None => self.push(node.name()),
        };
        for (number, row) in self.allocatable.iter_mut().enumerate() {
            row[index] = amount(node, self.resources.value(number));
        }
        self.most_pods[index] = if on(Mutant::PodsUnlimited) { LARGEST } else { amount(node, "pods") };
        self.records[index] = Some(Arc::clone(node));
        self.changed.push(index);
        self.touched.push(index);
        for (number, topology) in self.domains.iter_mut().enumerate() {
            topology.set(index, node.meta.labels.get(self.topologies.value(number).as_ref()));
        }
        index
    }

    fn push(&mut self, name: &str) -> usize {
        let index = self.free.pop().unwrap_or_else(|| self.new_slot());
        self.by_name.insert(name.to_owned(), index);
        let place = self.order.partition_point(|other| self.name_or_empty(*other) < name);
        self.order.insert(place, index);
        index
    }

    fn new_slot(&mut self) -> usize {
        self.records.push(None);
        self.csi.push(None);
        self.fewest_volumes.push(i64::MAX);
        for row in self.allocatable.iter_mut().chain(&mut self.used).chain(&mut self.scored) {
            row.push(0);
        }
        self.pods.push(0);
        self.most_pods.push(0);
        self.ports.push(BTreeMap::new());
        self.disks.push(Vec::new());
        self.records.len() - 1
    }

    fn name_or_empty(&self, index: usize) -> &str {
        self.records[index].as_ref().map_or("", |node| node.name())
    }

    /// Takes a node out. Its pods must be gone.
    pub(crate) fn remove(&mut self, index: usize) {
        if let Some(node) = self.records[index].take() {
            self.by_name.remove(node.name());
            self.order.retain(|other| *other != index);
            self.set_csi(index, None);
            self.free.push(index);
            self.changed.push(index);
            self.touched.push(index);
            for topology in &mut self.domains {
                topology.set(index, None);
            }
        }
    }

    pub(crate) fn set_csi(&mut self, index: usize, csi: Option<Arc<CsiNode>>) {
        let limits = csi.iter().flat_map(|csi| csi.drivers.values()).flatten();
        self.fewest_volumes[index] = limits.min().copied().unwrap_or(i64::MAX);
        self.csi[index] = csi;
    }

    pub(crate) fn csi(&self, index: usize) -> Option<&Arc<CsiNode>> {
        self.csi[index].as_ref()
    }

    /// With no more volumes than this, all drivers of a node have room.
    pub(crate) fn fewest_volumes(&self, index: usize) -> i64 {
        self.fewest_volumes[index]
    }

    pub(crate) fn find(&self, name: &str) -> Option<usize> {
        self.by_name.get(name).copied()
    }

    pub(crate) fn get(&self, index: usize) -> Option<&Arc<Node>> {
        self.records.get(index)?.as_ref()
    }

    /// What changed, for answers that are kept.
    pub(crate) fn touched(&self) -> &Touched {
        &self.touched
    }

    /// How many numbers there are, those of removed nodes included.
    pub(crate) fn slots(&self) -> usize {
        self.records.len()
    }

    /// The numbers of all nodes, by name.
    pub(crate) fn order(&self) -> &[usize] {
        &self.order
    }

    /// The numbers of all nodes, one of each zone in turn, as the scheduler's own list has them.
    /// Source: `k8s.io/kubernetes/pkg/scheduler/backend/cache/node_tree.go`; zones and nodes are there in the order in which
    /// they came, here by name. [`Self::refresh_zones`] comes first.
    pub(crate) fn by_zone(&self) -> &[usize] {
        &self.zoned.1
    }

    /// Brings the order by zones up to date.
    pub(crate) fn refresh_zones(&mut self) {
        if self.zoned.0 != self.changed.len() {
            self.zoned = (self.changed.len(), self.in_turn());
        }
    }

    fn in_turn(&self) -> Vec<usize> {
        let mut zones: BTreeMap<[&str; 2], Vec<usize>> = BTreeMap::new();
        for index in &self.order {
            let label = |key: &str| {
                self.records[*index].as_ref().and_then(|node| node.meta.labels.get(key)).map_or("", String::as_str)
            };
            let zone = [label("topology.kubernetes.io/region"), label("topology.kubernetes.io/zone")];
            zones.entry(zone).or_default().push(*index);
        }
        let longest = zones.values().map(Vec::len).max().unwrap_or_default();
        (0..longest).flat_map(|turn| zones.values().filter_map(move |zone| zone.get(turn).copied())).collect()
    }

    /// A pod begins (`sign` 1) or ceases (-1) to hold something.
    pub(crate) fn hold(&mut self, index: usize, load: &Load, sign: i64) {
        for (resource, amount) in &load.requests {
            self.used[*resource][index] += sign * amount;
        }
        for (row, amount) in self.scored.iter_mut().zip(load.scored) {
            row[index] += sign * amount;
        }
        self.pods[index] += sign;
        self.touched.push(index);
    }

    pub(crate) fn hold_port(&mut self, index: usize, port: &Port, more: bool) {
        let count = self.ports[index].entry(port.clone()).or_default();
        *count = if more { *count + 1 } else { count.saturating_sub(1) };
        if *count == 0 {
            self.ports[index].remove(port);
        }
    }

    pub(crate) fn hold_disk(&mut self, index: usize, disk: &Disk, more: bool) {
        let disks = &mut self.disks[index];
        if more {
            disks.push(disk.clone());
        } else if let Some(place) = disks.iter().position(|other| other == disk) {
            disks.remove(place);
        }
    }

    pub(crate) fn ports(&self, index: usize) -> &BTreeMap<Port, usize> {
        &self.ports[index]
    }

    pub(crate) fn disks(&self, index: usize) -> &[Disk] {
        &self.disks[index]
    }

    /// Amounts of a resource that pods can have, by node.
    pub(crate) fn allocatable(&self, resource: usize) -> &[i64] {
        &self.allocatable[resource]
    }

    /// Amounts that pods have, by node.
    pub(crate) fn used(&self, resource: usize) -> &[i64] {
        &self.used[resource]
    }

    /// cpu (0) or memory (1) that pods have, as some scores count it.
    pub(crate) fn scored(&self, resource: usize) -> &[i64] {
        &self.scored[resource]
    }

    pub(crate) fn resources(&self) -> usize {
        self.allocatable.len()
    }

    /// How many pods a node has, and can have.
    pub(crate) fn pods(&self, index: usize) -> (i64, i64) {
        (self.pods[index], self.most_pods[index])
    }

    /// The larger of the shares of memory and cpu that are in use, in thousandths.
    pub(crate) fn share_in_use(&self, index: usize) -> i64 {
        let share = |resource: usize| {
            let size = self.allocatable[resource][index];
            if size == 0 { 0 } else { self.used[resource][index] * 1000 / size }
        };
        share(CPU).max(share(MEMORY))
    }

    /// The number of a question.
    pub(crate) fn ask(&mut self, question: Question) -> usize {
        let (number, new) = self.questions.intern(question);
        if new {
            self.answers.push(Answers::new(self.questions.value(number).as_ref().clone()));
        }
        number
    }

    /// Brings the answers to some questions up to date.
    pub(crate) fn refresh(&mut self, questions: impl IntoIterator<Item = usize>) {
        for question in questions {
            self.answers[question].refresh(&self.records, &self.changed);
        }
    }

    /// Answers that were brought up to date.
    pub(crate) fn answers(&self, question: usize) -> &Answers {
        &self.answers[question]
    }

    /// The number of a topology key.
    pub(crate) fn topology(&mut self, key: &str) -> usize {
        let (number, new) = self.topologies.intern(key.to_owned());
        if new {
            let mut topology = Topology::default();
            for (index, node) in self.records.iter().enumerate() {
                topology.set(index, node.as_ref().and_then(|node| node.meta.labels.get(key)));
            }
            self.domains.push(topology);
        }
        number
    }

    pub(crate) fn domains(&self, topology: usize) -> &Topology {
        &self.domains[topology]
    }

    /// The domains of a node, key by key.
    pub(crate) fn domains_of(&self, index: usize) -> Vec<usize> {
        self.domains.iter().map(|topology| topology.of(index)).collect()
    }

    /// Whether every node has the label of a key.
    pub(crate) fn all_have(&self, topology: usize) -> bool {
        self.domains[topology].labelled() == self.order.len()
    }
}
