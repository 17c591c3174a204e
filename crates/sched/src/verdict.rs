//! Would these nodes take this pod? The quick question, with reasons only where somebody asks for them.

use std::sync::Arc;

use rehome_k8s::node::Node;
use rehome_k8s::pod::Pod;

use crate::Rejection;
use crate::cycle::Cycle;
use crate::filter;
use crate::model::Model;

/// Some nodes of a model.
#[derive(Clone, Debug)]
pub struct Among(Vec<usize>);

impl Model {
    /// Whether kube-scheduler would accept a node for a pod, as the cluster stands. A pod that is bound does not count
    /// against itself. A node that is not there rejects nothing.
    ///
    /// # Errors
    /// The first plugin that rejects, with its reasons.
    pub fn verdict(&mut self, pod: &Pod, node: &str) -> Result<(), Rejection> {
        let rejection = self.ask(pod, |cycle| {
            let index = cycle.model.nodes.find(node)?;
            cycle.says(index)
        });
        rejection.map_or(Ok(()), Err)
    }

    /// All that is against a pod on a node, each plugin by itself, what blocks the pod everywhere included. A pod that is
    /// bound does not count against itself. Nothing is against a node that is not there.
    pub fn objections(&mut self, pod: &Pod, node: &str) -> Vec<Rejection> {
        self.ask(pod, |cycle| cycle.model.nodes.find(node).map(|index| cycle.alone(index)).unwrap_or_default())
    }

    /// The nodes that would take a pod, by name.
    pub fn feasible(&mut self, pod: &Pod) -> Vec<Arc<Node>> {
        self.ask(pod, |cycle| {
            cycle.feasible().into_iter().filter_map(|node| cycle.model.nodes.get(node)).cloned().collect()
        })
    }

    /// These nodes, to be asked often. Names that are not there are left out; once a node is removed, make it anew.
    #[must_use]
    pub fn among<'n>(&self, names: impl IntoIterator<Item = &'n String>) -> Among {
        Among(names.into_iter().filter_map(|name| self.nodes.find(name)).collect())
    }

    /// Of these nodes, the one that would take a pod and has the least memory or cpu in use relative to its size; of equals,
    /// the first by name. This is not what kube-scheduler would choose: it is where a plan has the most room.
    pub fn emptiest(&mut self, pod: &Pod, among: &Among) -> Option<String> {
        self.ask(pod, |cycle| {
            let nodes = &cycle.model.nodes;
            let mut best: Option<(i64, &str)> = None;
            if cycle.blocks().is_empty() {
                for index in &among.0 {
                    let Some(node) = nodes.get(*index) else { continue };
                    let rank = (nodes.share_in_use(*index), node.name());
                    if best.is_none_or(|best| rank < best) && cycle.named(*index) && cycle.passes(*index) {
                        best = Some(rank);
                    }
                }
            }
            best.map(|(_, name)| name.to_owned())
        })
    }

    /// The larger of the shares of memory and cpu that the pods of a node ask for, in thousandths.
    #[must_use]
    pub fn share_in_use(&self, node: &str) -> i64 {
        self.nodes.find(node).map_or(0, |index| self.nodes.share_in_use(index))
    }

    /// The first plugin that rejects, and its reasons, for each of these nodes that would not take a pod.
    pub fn rejections<'n>(
        &mut self,
        pod: &Pod,
        nodes: impl IntoIterator<Item = &'n String>,
    ) -> Vec<(String, Rejection)> {
        self.ask(pod, |cycle| {
            let known = nodes.into_iter().filter_map(|name| Some((name, cycle.model.nodes.find(name)?)));
            known.filter_map(|(name, index)| Some((name.clone(), cycle.says(index)?))).collect()
        })
    }

    /// The same without what other pods hold: resources in use, ports, disks, spread and pod affinity. What is left cannot
    /// change by moving pods: cordons, taints, affinity, volumes, and requests above the node's size.
    ///
    /// # Errors
    /// The first plugin that rejects, with its reasons.
    pub fn verdict_on_empty(&mut self, pod: &Pod, node: &str) -> Result<(), Rejection> {
        let rejection = self.ask(pod, |cycle| {
            if let Some(block) = cycle.blocks().first() {
                return Some(block.clone());
            }
            let index = cycle.model.nodes.find(node)?;
            filter::on_empty(cycle, index)
        });
        rejection.map_or(Ok(()), Err)
    }

    /// Which of these nodes would take a pod if they were empty, and why the others would not: see
    /// [`Self::verdict_on_empty`].
    pub fn verdicts_on_empty<'n>(
        &mut self,
        pod: &Pod,
        nodes: impl IntoIterator<Item = &'n String>,
    ) -> Vec<(&'n String, Result<(), Rejection>)> {
        self.ask(pod, |cycle| {
            let block = cycle.blocks().first();
            let known = nodes.into_iter().filter_map(|name| Some((name, cycle.model.nodes.find(name)?)));
            known
                .map(|(name, index)| {
                    let against = block.cloned().or_else(|| filter::on_empty(cycle, index));
                    (name, against.map_or(Ok(()), Err))
                })
                .collect()
        })
    }

    fn ask<T>(&mut self, pod: &Pod, question: impl FnOnce(&Cycle<'_>) -> T) -> T {
        let lifted = self.lift(pod);
        let prepared = self.prepare(pod);
        let answer = question(&Cycle::new(self, pod, prepared));
        if let Some(lifted) = lifted {
            self.insert_pod(&lifted);
        }
        answer
    }
}

impl Cycle<'_> {
    /// What a node says: what blocks the pod everywhere, or the first filter that rejects.
    fn says(&self, node: usize) -> Option<Rejection> {
        if let Some(block) = self.blocks().first() {
            return Some(block.clone());
        }
        self.first_rejection(node)
    }
}
