//! One scheduling cycle: a pod, and what the plugins work out for it once before they look at nodes.

use rehome_k8s::pod::Pod;

use crate::Rejection;
use crate::filter::{self, Filter, inter_pod_affinity, pod_topology_spread, volumes};
use crate::model::Model;
use crate::model::class::{Class, Named};

/// What is worked out for a pod before nodes are looked at.
pub(crate) struct Cycle<'m> {
    pub(crate) model: &'m Model,
    pub(crate) class: &'m Class,
    pub(crate) pod: &'m Pod,
    pub(crate) spread: pod_topology_spread::State,
    pub(crate) affinity: inter_pod_affinity::State,
    pub(crate) volumes: volumes::Needs,
    /// The filters that can reject something at all, in order.
    filters: Vec<&'static Filter>,
    /// What is found before any node is looked at, by plugin: such a pod fits nowhere.
    blocks: Vec<Rejection>,
}

/// What NodeAffinity's PreFilter leaves out is reported like this. Source: `schedule_one.go`, `findNodesThatFitPod`.
const NOT_NAMED: &str = "node(s) didn't satisfy plugin(s) [NodeAffinity]";

impl Model {
    /// Brings everything up to date that a cycle for this pod reads, and gives its class.
    pub(crate) fn prepare(&mut self, pod: &Pod) -> (usize, volumes::Needs) {
        let class = self.class_of(pod);
        let needs = volumes::Needs::of(self, pod);
        let questions = self.classes[class].questions().chain(needs.questions()).collect::<Vec<_>>();
        self.nodes.refresh(questions);
        (class, needs)
    }
}

impl<'m> Cycle<'m> {
    /// A cycle for a pod that was prepared.
    pub(crate) fn new(model: &'m Model, pod: &'m Pod, class: usize, volumes: volumes::Needs) -> Self {
        let class = &model.classes[class];
        let mut cycle = Self {
            model,
            class,
            pod,
            spread: pod_topology_spread::State::new(model, class),
            affinity: inter_pod_affinity::State::new(model, class),
            volumes,
            filters: Vec::new(),
            blocks: Vec::new(),
        };
        cycle.blocks = filter::blocks(&cycle);
        cycle.filters = filter::in_order(model.profile).filter(|filter| (filter.active)(&cycle)).collect();
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
        self.filters.iter().all(|filter| (filter.passes)(self, node))
    }

    /// The first filter that rejects, with its reasons. What blocks the pod everywhere is not looked at.
    pub(crate) fn first_rejection(&self, node: usize) -> Option<Rejection> {
        if !self.named(node) {
            return Some(Rejection { plugin: "NodeAffinity", reasons: vec![NOT_NAMED.to_owned()] });
        }
        let first = self.filters.iter().find(|filter| !(filter.passes)(self, node))?;
        Some(self.rejection(first, node))
    }

    /// Whether the first filter that rejects could be changed by pushing out pods of the node.
    pub(crate) fn curable(&self, node: usize) -> bool {
        let first = self.filters.iter().find(|filter| !(filter.passes)(self, node));
        self.named(node) && first.is_some_and(|filter| (filter.curable)(self, node))
    }

    /// All filters that do not, each by itself.
    pub(crate) fn rejecting(&self, node: usize) -> impl Iterator<Item = &'static Filter> + '_ {
        self.filters.iter().filter(move |filter| !(filter.passes)(self, node)).copied()
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
