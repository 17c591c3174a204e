//! What nodes say to pods by themselves, kept until a node changes: whether the filters that look at one node and its
//! pods alone let a pod on it, and the sum of such scores.
//!
//! Pods of many classes ask the same of a node: what they ask is their footprint. A log of nodes that changed says which
//! answers are old. A clone of the model begins without answers: forks are made more often than they are asked.

use std::sync::Arc;

use super::Model;
use super::class::Class;
use crate::cycle::Cycle;
use crate::intern::Interner;
use crate::score;

/// All that decides what a node says by itself.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Footprint {
    requests: Vec<(usize, i64)>,
    coming: [i64; 2],
    balanced: [i64; 2],
    questions: [Option<usize>; 4],
}

/// What a node says that lets no such pod on it. Scores are not below zero.
const REJECTS: i64 = -1;

/// The answers of all nodes to one footprint.
#[derive(Debug, Default)]
pub(crate) struct Answered {
    /// By the node's number.
    scores: Vec<i64>,
    /// How much of the log of changes these answers know, and whose numbering that is.
    seen: usize,
}

/// Footprints, and what was answered.
#[derive(Debug, Default)]
pub(crate) struct Kept {
    footprints: Arc<Interner<Footprint>>,
    answered: Vec<Answered>,
}

impl Clone for Kept {
    fn clone(&self) -> Self {
        Self { footprints: Arc::clone(&self.footprints), answered: Vec::new() }
    }
}

/// Nodes that changed in any way, pods that come and go included, in order.
#[derive(Clone, Debug, Default)]
pub(crate) struct Touched {
    /// How many entries were dropped before the first.
    dropped: usize,
    nodes: Vec<usize>,
}

/// Longer than this, the log drops its older half: who has not looked for so long asks all nodes again. It is some
/// hundred times the pods of a node, and small beside the records of the pods that made the changes.
const LONGEST: usize = 1 << 16;

impl Touched {
    pub(crate) fn push(&mut self, node: usize) {
        if self.nodes.len() >= LONGEST {
            self.nodes.drain(..LONGEST / 2);
            self.dropped += LONGEST / 2;
        }
        self.nodes.push(node);
    }

    fn end(&self) -> usize {
        self.dropped + self.nodes.len()
    }

    /// What was added since; `None` if that is no longer known.
    fn since(&self, seen: usize) -> Option<&[usize]> {
        self.nodes.get(seen.checked_sub(self.dropped)?..)
    }
}

impl Kept {
    /// The number of a class' footprint.
    pub(crate) fn footprint(&mut self, class: &Class) -> usize {
        let footprint = Footprint {
            requests: class.load.requests.clone(),
            coming: class.coming,
            balanced: class.balanced,
            questions: [Some(class.cordoned), Some(class.tainted), class.elsewhere, class.lacks],
        };
        match self.footprints.find(&footprint) {
            Some(number) => number,
            None => Arc::make_mut(&mut self.footprints).intern(footprint).0,
        }
    }

    /// Takes the answers to a footprint out, to be brought up to date and read.
    pub(crate) fn take(&mut self, footprint: usize) -> Answered {
        self.answered.get_mut(footprint).map(std::mem::take).unwrap_or_default()
    }

    /// Puts them back.
    pub(crate) fn put(&mut self, footprint: usize, answered: Answered) {
        if self.answered.len() <= footprint {
            self.answered.resize_with(footprint + 1, Answered::default);
        }
        self.answered[footprint] = answered;
    }
}

impl Answered {
    /// Asks the nodes that changed again.
    pub(crate) fn refresh(&mut self, cycle: &Cycle<'_>) {
        let model: &Model = cycle.model;
        let touched = model.nodes.touched();
        let slots = model.nodes.slots();
        let some = touched.since(self.seen).filter(|some| self.scores.len() == slots && some.len() < slots);
        match some {
            Some([]) => {}
            Some(some) => some.iter().for_each(|node| self.ask(cycle, &[*node])),
            None => {
                self.scores.clear();
                self.scores.resize(slots, REJECTS);
                self.ask(cycle, model.nodes.order());
            }
        }
        self.seen = touched.end();
    }

    fn ask(&mut self, cycle: &Cycle<'_>, nodes: &[usize]) {
        let mut passing = [0; 1];
        let passing: &[usize] = match nodes {
            [only] => {
                self.scores[*only] = REJECTS;
                if !cycle.passes_alone(*only) || cycle.model.nodes.get(*only).is_none() {
                    return;
                }
                passing[0] = *only;
                &passing
            }
            many => &many.iter().copied().filter(|node| cycle.passes_alone(*node)).collect::<Vec<_>>(),
        };
        if let [only] = passing {
            let (mut total, mut score) = ([0], [0]);
            score::alone(cycle, passing, &mut total, &mut score);
            self.scores[*only] = total[0];
            return;
        }
        let (mut totals, mut scores) = (vec![0; passing.len()], vec![0; passing.len()]);
        score::alone(cycle, passing, &mut totals, &mut scores);
        for (node, total) in passing.iter().zip(totals) {
            self.scores[*node] = total;
        }
    }

    /// Whether a node lets such a pod on it, as far as that is asked here.
    pub(crate) fn passes(&self, node: usize) -> bool {
        self.scores[node] != REJECTS
    }

    /// The sum of the scores that are kept here; less than any where the node lets none on it.
    pub(crate) fn score(&self, node: usize) -> i64 {
        self.scores[node]
    }
}

/// The nodes of which is kept what they would not say now to a pod: the guard of [`Footprint`], which must tell apart all
/// that filters and scores of one node read, and of the log, which must have all changes that they see.
#[cfg(test)]
pub(super) fn wrong_answers(model: &mut Model, pod: &rehome_k8s::pod::Pod) -> Vec<String> {
    let prepared = model.prepare(pod);
    let footprint = model.footprints[prepared.class];
    let mut kept = model.kept.take(footprint);
    let mut fresh = Answered::default();
    let cycle = Cycle::new(model, pod, prepared);
    kept.refresh(&cycle);
    fresh.refresh(&cycle);
    let nodes = cycle.model.nodes.order().iter().filter(|node| kept.score(**node) != fresh.score(**node));
    let wrong = nodes.filter_map(|node| cycle.model.nodes.get(*node)).map(|node| node.name().to_owned()).collect();
    model.kept.put(footprint, kept);
    wrong
}
