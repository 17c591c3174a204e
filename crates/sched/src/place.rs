//! Pods put on nodes, one after the other, as kube-scheduler would.

use std::collections::BTreeMap;
use std::sync::Arc;

use rehome_k8s::Key;
use rehome_k8s::pod::Pod;
use rehome_k8s::storage::PersistentVolumeClaim;

use crate::chance::Chance;
use crate::cycle::Cycle;
use crate::model::Model;
use crate::score;

/// A pod that no node takes.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct Unschedulable {
    /// How many nodes gave each reason.
    pub reasons: BTreeMap<String, usize>,
    /// The scheduler's sentence.
    pub message: String,
}

impl Model {
    /// The node that the scheduler would take, ties broken by chance. Nothing is bound.
    ///
    /// # Errors
    /// No node takes it.
    pub fn choose(&mut self, pod: &Pod, chance: &mut Chance) -> Result<String, Unschedulable> {
        let lifted = self.lift(pod);
        let chosen = self.best(pod, chance).map(|(_, node)| node);
        let name = chosen.and_then(|node| self.nodes.get(node)).map(|node| node.name().to_owned());
        let result = name.ok_or_else(|| self.unschedulable(pod));
        if let Some(lifted) = lifted {
            self.insert_pod(&lifted);
        }
        result
    }

    fn unschedulable(&mut self, pod: &Pod) -> Unschedulable {
        let judgement = self.judge(pod);
        Unschedulable { reasons: judgement.reasons(), message: judgement.message().unwrap_or_default() }
    }

    /// All nodes that the scheduler could take: those with the best score.
    pub fn best_nodes(&mut self, pod: &Pod) -> Vec<String> {
        let lifted = self.lift(pod);
        let prepared = self.prepare(pod);
        let cycle = Cycle::new(self, pod, prepared);
        let feasible = cycle.feasible();
        let best = best_of(&cycle, &feasible);
        let names = best.into_iter().filter_map(|node| self.nodes.get(node)).map(|node| node.name().to_owned());
        let names = names.collect();
        if let Some(lifted) = lifted {
            self.insert_pod(&lifted);
        }
        names
    }

    fn best(&mut self, pod: &Pod, chance: &mut Chance) -> Option<(usize, usize)> {
        let prepared = self.prepare(pod);
        let class = prepared.class;
        let cycle = Cycle::new(self, pod, prepared);
        let feasible = if chance.looks_at_all() { cycle.feasible() } else { cycle.sampled(chance) };
        let best = best_of(&cycle, &feasible);
        let node = *best.get(chance.one_of(best.len()))?;
        Some((class, node))
    }

    /// Places pods one after the other, each in a cluster that holds the ones before it; the order is the caller's.
    pub fn place(&mut self, pods: &[Pod], seed: u64) -> Vec<Result<String, Unschedulable>> {
        let mut chance = Chance::new(seed);
        pods.iter().map(|pod| self.place_one(pod, &mut chance)).collect()
    }

    /// Places one pod, and binds it.
    ///
    /// # Errors
    /// No node takes it.
    pub fn place_one(&mut self, pod: &Pod, chance: &mut Chance) -> Result<String, Unschedulable> {
        self.remove_pod(&pod.meta.key());
        let Some((class, node)) = self.best(pod, chance) else { return Err(self.unschedulable(pod)) };
        let name = self.nodes.get(node).map(|node| node.name().to_owned()).unwrap_or_default();
        let bound = Arc::new(Pod { node: Some(name.clone()), ..pod.clone() });
        self.bind(&bound, class, node);
        self.select_node(pod, &name);
        Ok(name)
    }

    /// Claims without a volume get one where their first pod goes; other pods that mount them must follow.
    fn select_node(&mut self, pod: &Pod, node: &str) {
        for name in pod.claims() {
            let key = Key::new(pod.meta.namespace.clone(), name);
            if let Some(claim) = self.storage.claim(&key)
                && claim.volume.is_none()
                && claim.selected_node.is_none()
            {
                let claim = PersistentVolumeClaim { selected_node: Some(node.to_owned()), ..claim.as_ref().clone() };
                self.storage.set_claim(&key, Some(Arc::new(claim)));
            }
        }
    }
}

impl Cycle<'_> {
    /// Feasible nodes, looked for from where the last search ended, until there are enough.
    fn sampled(&self, chance: &mut Chance) -> Vec<usize> {
        let order = self.model.nodes.by_zone();
        let enough = chance.enough(order.len());
        let mut found = Vec::with_capacity(enough);
        let mut looked_at = 0;
        if self.blocks().is_empty() {
            for place in 0..order.len() {
                let node = order[(chance.start() + place) % order.len()];
                looked_at += 1;
                if self.named(node) && self.passes(node) {
                    found.push(node);
                    if found.len() == enough {
                        break;
                    }
                }
            }
        }
        chance.looked_at(looked_at, order.len());
        found
    }
}

/// The feasible nodes with the best score.
fn best_of(cycle: &Cycle<'_>, feasible: &[usize]) -> Vec<usize> {
    if let [only] = feasible {
        // The only one is taken unscored.
        return vec![*only];
    }
    let totals = score::totals(cycle, feasible);
    let best = totals.iter().copied().max();
    feasible.iter().zip(&totals).filter(|(_, total)| Some(**total) == best).map(|(node, _)| *node).collect()
}
