//! Pods put on nodes, one after the other, as kube-scheduler would.

use std::collections::BTreeMap;
use std::sync::Arc;

use rehome_k8s::Key;
use rehome_k8s::pod::Pod;
use rehome_k8s::storage::PersistentVolumeClaim;

use crate::chance::Chance;
use crate::cycle::Cycle;
use crate::judge::{blocked_message, fit_error_message};
use crate::model::Model;
use crate::model::kept::Answered;
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
        let chosen = self.draw(pod, chance).map(|(_, node)| node);
        let name = chosen.and_then(|node| self.nodes.get(node)).map(|node| node.name().to_owned());
        let result = name.ok_or_else(|| self.unschedulable(pod));
        if let Some(lifted) = lifted {
            self.insert_pod(&lifted);
        }
        result
    }

    fn unschedulable(&mut self, pod: &Pod) -> Unschedulable {
        let prepared = self.prepare(pod);
        let cycle = Cycle::new(self, pod, prepared);
        let nodes = cycle.model.nodes.order().len();
        if let Some(blocked) = cycle.blocks().first().filter(|_| nodes > 0) {
            return Unschedulable { reasons: BTreeMap::new(), message: blocked_message(blocked, nodes) };
        }
        let reasons = cycle.reasons();
        Unschedulable { message: fit_error_message(&reasons, nodes), reasons }
    }

    /// All nodes that the scheduler could take: those with the best score.
    pub fn best_nodes(&mut self, pod: &Pod) -> Vec<String> {
        self.best_nodes_looked_at(pod, &mut Chance::default())
    }

    /// All nodes that the scheduler could take if it looks at no more nodes than chance has it look at.
    pub fn best_nodes_looked_at(&mut self, pod: &Pod, chance: &mut Chance) -> Vec<String> {
        let lifted = self.lift(pod);
        let (_, best) = self.best(pod, chance);
        let names = best.into_iter().filter_map(|node| self.nodes.get(node)).map(|node| node.name().to_owned());
        let names = names.collect();
        if let Some(lifted) = lifted {
            self.insert_pod(&lifted);
        }
        names
    }

    /// The class of a pod, and all nodes with the best score among those that are looked at.
    fn best(&mut self, pod: &Pod, chance: &mut Chance) -> (usize, Vec<usize>) {
        let prepared = self.prepare(pod);
        if !chance.looks_at_all() {
            self.nodes.refresh_zones();
        }
        let class = prepared.class;
        let footprint = self.footprints[class];
        let mut answered = self.kept.take(footprint);
        let cycle = Cycle::new(self, pod, prepared);
        answered.refresh(&cycle);
        let best = if chance.looks_at_all() && cycle.is_simple() && score::others(&cycle).next().is_none() {
            best_alone(&cycle, &answered)
        } else if chance.looks_at_all() {
            best_of(&cycle, &answered, cycle.passing(&answered))
        } else {
            best_of(&cycle, &answered, cycle.sampled(&answered, chance))
        };
        self.kept.put(footprint, answered);
        (class, best)
    }

    /// One of the best.
    fn draw(&mut self, pod: &Pod, chance: &mut Chance) -> Option<(usize, usize)> {
        let (class, best) = self.best(pod, chance);
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
        let Some((class, node)) = self.draw(pod, chance) else { return Err(self.unschedulable(pod)) };
        let name = self.nodes.get(node).map(|node| node.name().to_owned()).unwrap_or_default();
        let bound = Arc::new(Pod { node: Some(name.clone()), ..pod.clone() });
        self.bind(&bound, class, node);
        self.select_node(pod, &name);
        Ok(name)
    }

    /// Places a pod that is on no node, for a while: its record goes on saying what it said, and whoever calls takes it off
    /// again.
    ///
    /// # Errors
    /// No node takes it.
    pub(crate) fn place_for_now(&mut self, pod: &Arc<Pod>, chance: &mut Chance) -> Result<String, Unschedulable> {
        let Some((class, node)) = self.draw(pod, chance) else { return Err(self.unschedulable(pod)) };
        let name = self.nodes.get(node).map(|node| node.name().to_owned()).unwrap_or_default();
        self.bind(pod, class, node);
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
    fn accepts(&self, answered: &Answered, node: usize) -> bool {
        answered.passes(node) && self.named(node) && self.passes_others(node)
    }

    /// All feasible nodes, by name.
    fn passing(&self, answered: &Answered) -> Vec<usize> {
        if !self.blocks().is_empty() {
            return Vec::new();
        }
        let nodes = self.model.nodes.order().iter().copied().filter(|node| answered.passes(*node));
        if self.is_simple() {
            return nodes.collect();
        }
        nodes.filter(|node| self.named(*node) && self.passes_others(*node)).collect()
    }

    /// Feasible nodes, looked for from where the last search ended, until there is one more than enough.
    fn sampled(&self, answered: &Answered, chance: &mut Chance) -> Vec<usize> {
        let order = self.model.nodes.by_zone();
        let enough = chance.enough(order.len());
        let mut found = Vec::with_capacity(enough);
        let mut looked_at = 0;
        if self.blocks().is_empty() {
            let (before, after) = order.split_at(chance.start().min(order.len()));
            for node in after.iter().chain(before) {
                if self.accepts(answered, *node) {
                    if found.len() == enough {
                        // The search ends with the first that is too many, and the next one begins with it.
                        break;
                    }
                    found.push(*node);
                }
                looked_at += 1;
            }
        }
        chance.looked_at(looked_at, order.len());
        found
    }
}

/// The best nodes where nothing but what they say by themselves decides.
fn best_alone(cycle: &Cycle<'_>, answered: &Answered) -> Vec<usize> {
    let mut best = Vec::new();
    let mut highest = 0;
    for node in cycle.model.nodes.order() {
        let score = answered.score(*node);
        if score > highest {
            highest = score;
            best.clear();
        }
        if score == highest {
            best.push(*node);
        }
    }
    best
}

/// The feasible nodes with the best score.
fn best_of(cycle: &Cycle<'_>, answered: &Answered, feasible: Vec<usize>) -> Vec<usize> {
    if feasible.len() < 2 {
        // The only one is taken unscored.
        return feasible;
    }
    let mut totals: Vec<i64> = feasible.iter().map(|node| answered.score(*node)).collect();
    let mut scores = Vec::new();
    for score in score::others(cycle) {
        scores.resize(feasible.len(), 0);
        score::add(score, cycle, &feasible, &mut totals, &mut scores);
    }
    let best = totals.iter().copied().max();
    feasible.iter().zip(&totals).filter(|(_, total)| Some(**total) == best).map(|(node, _)| *node).collect()
}
