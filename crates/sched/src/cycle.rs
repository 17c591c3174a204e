//! One scheduling cycle: a pod, and what the plugins work out for it once before they look at nodes.

use std::collections::BTreeMap;
use std::sync::Arc;

use rehome_k8s::pod::Pod;

use crate::Rejection;
use crate::filter::{
    self, Filter, inter_pod_affinity, node_affinity, node_resources_fit, pod_topology_spread, volumes,
};
use crate::model::Model;
use crate::model::class::{Class, Named};

/// What is worked out for a pod before nodes are looked at.
pub(crate) struct Cycle<'m> {
    pub(crate) model: &'m Model,
    pub(crate) class: &'m Class,
    pub(crate) pod: &'m Pod,
    pub(crate) spread: pod_topology_spread::State<'m>,
    pub(crate) affinity: inter_pod_affinity::State<'m>,
    pub(crate) volumes: volumes::Needs,
    /// Nodes on which room is being made for pods that are no less important, and what is against the node with them on it.
    reserved: BTreeMap<usize, Rejection>,
    /// The filters that can reject something at all, in order.
    filters: Vec<&'static Filter>,
    /// Those of them whose answers are kept, node by node.
    alone: Vec<&'static Filter>,
    /// The others: they look at more than one node, or at volumes and ports.
    others: Vec<&'static Filter>,
    /// What is found before any node is looked at, by plugin: such a pod fits nowhere.
    blocks: Vec<Rejection>,
}

/// What NodeAffinity's PreFilter leaves out is reported like this. Source: `schedule_one.go`, `findNodesThatFitPod`.
const NOT_NAMED: &str = "node(s) didn't satisfy plugin(s) [NodeAffinity]";

fn not_named() -> Rejection {
    Rejection { plugin: node_affinity::PLUGIN, reasons: vec![NOT_NAMED.to_owned()] }
}

impl Model {
    /// Brings everything up to date that a cycle for this pod reads.
    pub(crate) fn prepare(&mut self, pod: &Pod) -> Prepared {
        let reserved = self.reserved(pod);
        Prepared { reserved, ..self.prepare_alone(pod) }
    }

    fn prepare_alone(&mut self, pod: &Pod) -> Prepared {
        let class = self.class_of(pod);
        let needs = volumes::Needs::of(self, pod);
        let questions = self.classes[class].questions().chain(needs.questions()).collect::<Vec<_>>();
        self.nodes.refresh(questions);
        Prepared { class, needs, reserved: BTreeMap::new() }
    }

    /// What is against nodes once the pods have come for which room is being made there.
    /// Source: `k8s.io/kubernetes/pkg/scheduler/framework/runtime`, `RunFilterPluginsWithNominatedPods`.
    fn reserved(&mut self, pod: &Pod) -> BTreeMap<usize, Rejection> {
        let mut nominees: BTreeMap<usize, Vec<Arc<Pod>>> = BTreeMap::new();
        let key = pod.meta.key();
        for (other, nominee) in &self.nominated {
            let node = nominee.nominated.as_ref().and_then(|name| self.nodes.find(name));
            if let Some(node) = node.filter(|_| *other != key && nominee.spec.priority >= pod.spec.priority) {
                nominees.entry(node).or_default().push(Arc::clone(nominee));
            }
        }
        let mut reserved = BTreeMap::new();
        for (node, nominees) in nominees {
            for nominee in &nominees {
                let class = self.class_of(nominee);
                self.bind(nominee, class, node);
            }
            let prepared = self.prepare_alone(pod);
            let against = Cycle::new(self, pod, prepared).first_rejection(node);
            for nominee in nominees {
                self.remove_pod(&nominee.meta.key());
                self.nominated.insert(nominee.meta.key(), nominee);
            }
            reserved.extend(against.map(|against| (node, against)));
        }
        reserved
    }
}

/// What a cycle is made from.
pub(crate) struct Prepared {
    /// The class of the pod.
    pub(crate) class: usize,
    needs: volumes::Needs,
    reserved: BTreeMap<usize, Rejection>,
}

impl<'m> Cycle<'m> {
    /// A cycle for a pod that was prepared.
    pub(crate) fn new(model: &'m Model, pod: &'m Pod, prepared: Prepared) -> Self {
        let class = &model.classes[prepared.class];
        let mut cycle = Self {
            model,
            class,
            pod,
            spread: pod_topology_spread::State::new(model, class),
            affinity: inter_pod_affinity::State::new(model, class),
            volumes: prepared.needs,
            reserved: prepared.reserved,
            filters: Vec::new(),
            alone: Vec::new(),
            others: Vec::new(),
            blocks: Vec::new(),
        };
        cycle.blocks = filter::blocks(&cycle);
        cycle.filters = filter::in_order(model.profile).filter(|filter| (filter.active)(&cycle)).collect();
        (cycle.alone, cycle.others) = cycle.filters.iter().partition(|filter| filter::looks_at_one_node(filter));
        cycle
    }

    /// Why the pod fits nowhere, whatever the nodes, as each plugin would say it by itself.
    pub(crate) fn blocks(&self) -> &[Rejection] {
        &self.blocks
    }

    /// Whether NodeAffinity's PreFilter leaves the node in.
    pub(crate) fn named(&self, node: usize) -> bool {
        match &self.class.named {
            Named::Any => true,
            Named::Conflict => false,
            Named::Only(names) => self.model.nodes.get(node).is_some_and(|node| names.contains(node.name())),
        }
    }

    /// Whether all filters let the pod on the node. What blocks it everywhere is not looked at.
    pub(crate) fn passes(&self, node: usize) -> bool {
        !self.reserved.contains_key(&node) && self.filters.iter().all(|filter| (filter.passes)(self, node))
    }

    /// Whether the filters that look at one node alone let the pod on the node.
    pub(crate) fn passes_alone(&self, node: usize) -> bool {
        self.alone.iter().all(|filter| (filter.passes)(self, node))
    }

    /// Whether all others do, too, once the pods have come for which room is being made.
    pub(crate) fn passes_others(&self, node: usize) -> bool {
        !self.reserved.contains_key(&node) && self.others.iter().all(|filter| (filter.passes)(self, node))
    }

    /// Whether what nodes say by themselves decides all.
    pub(crate) fn is_simple(&self) -> bool {
        self.others.is_empty() && self.reserved.is_empty() && self.blocks.is_empty() && self.class.named == Named::Any
    }

    /// The first filter that rejects, with its reasons. What blocks the pod everywhere is not looked at.
    pub(crate) fn first_rejection(&self, node: usize) -> Option<Rejection> {
        if !self.named(node) {
            return Some(not_named());
        }
        if let Some(reserved) = self.reserved.get(&node) {
            return Some(reserved.clone());
        }
        let first = self.filters.iter().find(|filter| !(filter.passes)(self, node))?;
        Some(self.rejection(first, node))
    }

    /// How many nodes give each reason; for a pod that nothing blocks everywhere, and that no node takes.
    pub(crate) fn reasons(&self) -> BTreeMap<String, usize> {
        let mut reasons: BTreeMap<String, usize> = BTreeMap::new();
        let mut add = |reason: String, nodes: usize| *reasons.entry(reason).or_default() += nodes;
        // Most nodes lack room, and few kinds of room: those are counted before there are words.
        let mut short: BTreeMap<u64, (usize, usize)> = BTreeMap::new();
        let fit = |filter: &&&'static Filter| filter.plugin == node_resources_fit::FILTER.plugin;
        for node in self.model.nodes.order() {
            let plain = self.named(*node) && !self.reserved.contains_key(node);
            let first = self.filters.iter().find(|filter| !(filter.passes)(self, *node)).filter(|_| plain);
            if first.is_some_and(|filter| fit(&filter)) {
                short.entry(node_resources_fit::short_of(self, *node)).or_insert((*node, 0)).1 += 1;
            } else if let Some(rejection) = self.first_rejection(*node) {
                rejection.reasons.into_iter().for_each(|reason| add(reason, 1));
            }
        }
        for (node, nodes) in short.into_values() {
            (node_resources_fit::FILTER.reasons)(self, node).into_iter().for_each(|reason| add(reason, nodes));
        }
        reasons
    }

    /// Whether the first filter that rejects could be changed by pushing out pods of the node.
    pub(crate) fn curable(&self, node: usize) -> bool {
        let first = self.filters.iter().find(|filter| !(filter.passes)(self, node));
        self.named(node) && first.is_some_and(|filter| (filter.curable)(self, node))
    }

    /// What each plugin says of a node if it is the only one: what it finds before nodes are looked at, too.
    pub(crate) fn alone(&self, node: usize) -> Vec<Rejection> {
        let mut alone = self.blocks.clone();
        let named = self.named(node);
        let blocks = |filter: &&&'static Filter| self.blocks.iter().any(|block| block.plugin == filter.plugin);
        if !named && !self.blocks.iter().any(|block| block.plugin == node_affinity::PLUGIN) {
            alone.push(not_named());
        }
        for filter in self.filters.iter().filter(|filter| !blocks(filter)) {
            if (named || filter.plugin != node_affinity::PLUGIN) && !(filter.passes)(self, node) {
                alone.push(self.rejection(filter, node));
            }
        }
        alone
    }

    /// The nodes that pass, by name.
    pub(crate) fn feasible(&self) -> Vec<usize> {
        if !self.blocks.is_empty() {
            return Vec::new();
        }
        let nodes = self.model.nodes.order().iter().copied();
        nodes.filter(|node| self.named(*node) && self.passes(*node)).collect()
    }

    /// What a filter says of a node that it rejects.
    pub(crate) fn rejection(&self, filter: &Filter, node: usize) -> Rejection {
        Rejection { plugin: filter.plugin, reasons: (filter.reasons)(self, node) }
    }
}
