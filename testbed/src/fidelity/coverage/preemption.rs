//! What decided whom preemption pushes out: for each measure by which nodes are ranked, the pods for which it was the last
//! that told nodes apart. It counts what the oracle says.

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::fmt::Write as _;

use super::super::verdict::{Cleared, PodVerdict};
use super::LEAST;

/// What can happen.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Event {
    /// No node takes the pod, and none can be cleared for it.
    NothingHelps,
    /// One node can be cleared.
    OneNode,
    /// Several victims on a node.
    SeveralVictims,
    /// A victim that a budget protects.
    ProtectedVictim,
    /// The fewest violations of budgets decided.
    ByBudgets,
    /// The lowest of the highest priorities.
    ByHighest,
    /// The lowest sum of priorities.
    BySum,
    /// The fewest victims.
    ByNumber,
    /// The latest start.
    ByStart,
    /// Several nodes are equal by all.
    ByChance,
}

impl Event {
    const ALL: [Self; 10] = [
        Self::NothingHelps,
        Self::OneNode,
        Self::SeveralVictims,
        Self::ProtectedVictim,
        Self::ByBudgets,
        Self::ByHighest,
        Self::BySum,
        Self::ByNumber,
        Self::ByStart,
        Self::ByChance,
    ];

    fn words(self) -> &'static str {
        match self {
            Self::NothingHelps => "no node can be cleared",
            Self::OneNode => "one node can be cleared",
            Self::SeveralVictims => "several victims on the node",
            Self::ProtectedVictim => "a budget protects a victim",
            Self::ByBudgets => "the fewest violations of budgets decide",
            Self::ByHighest => "the highest priority of a victim decides",
            Self::BySum => "the sum of priorities decides",
            Self::ByNumber => "the number of victims decides",
            Self::ByStart => "the latest start decides",
            Self::ByChance => "chance decides",
        }
    }

    /// Why it need not be seen.
    fn exempt(self) -> Option<&'static str> {
        // The sum of shifted priorities grows with each victim that has not the least of all priorities.
        (self == Self::ByNumber).then_some("only with victims of the priority -2147483648")
    }
}

/// The counts of a run.
#[derive(Clone, Debug, Default)]
pub(super) struct Decided {
    counts: BTreeMap<Event, usize>,
}

impl Decided {
    /// Adds what the oracle says of one pod.
    pub(super) fn add(&mut self, pod: &PodVerdict) {
        if pod.message.is_none() {
            return;
        }
        let Some(preemption) = &pod.preemption else { return self.count(Event::NothingHelps) };
        let mut left: Vec<&Cleared> = preemption.candidates.values().collect();
        if left.len() == 1 {
            self.count(Event::OneNode);
        } else {
            self.count(decider(&mut left));
        }
        for cleared in preemption.candidates.values() {
            if cleared.victims.len() > 1 {
                self.count(Event::SeveralVictims);
            }
            if cleared.violations > 0 {
                self.count(Event::ProtectedVictim);
            }
        }
    }

    fn count(&mut self, event: Event) {
        *self.counts.entry(event).or_default() += 1;
    }

    fn of(&self, event: Event) -> usize {
        self.counts.get(&event).copied().unwrap_or_default()
    }

    /// What did not happen often enough.
    pub(super) fn thin(&self) -> Vec<String> {
        let thin = Event::ALL.into_iter().filter(|event| event.exempt().is_none() && self.of(*event) < LEAST);
        thin.map(|event| format!("preemption, {}: {} of {LEAST}", event.words(), self.of(event))).collect()
    }

    /// The lines of the table.
    pub(super) fn table(&self) -> String {
        let mut text = format!("{:>8}  PREEMPTION\n", "PODS");
        for event in Event::ALL {
            let why = event.exempt().map(|why| format!("  ({why})")).unwrap_or_default();
            // Writing to a String cannot fail.
            let _ = writeln!(text, "{:>8}  {}{why}", self.of(event), event.words());
        }
        text
    }
}

/// The last measure that told some of these apart.
fn decider(left: &mut Vec<&Cleared>) -> Event {
    let mut last = Event::ByChance;
    let mut by = |event: Event, fewer: bool| {
        if fewer {
            last = event;
        }
    };
    by(Event::ByBudgets, keep_least(left, |c| c.violations));
    by(Event::ByHighest, keep_least(left, |c| c.highest));
    by(Event::BySum, keep_least(left, |c| c.sum));
    by(Event::ByNumber, keep_least(left, |c| c.victims.len()));
    by(Event::ByStart, keep_least(left, |c| Reverse((c.started.is_none(), c.started.clone()))));
    if left.len() > 1 { Event::ByChance } else { last }
}

/// Keeps those of the least measure, and says whether that are fewer.
fn keep_least<K: Ord>(left: &mut Vec<&Cleared>, measure: impl Fn(&Cleared) -> K) -> bool {
    let before = left.len();
    let least = left.iter().map(|cleared| measure(cleared)).min();
    left.retain(|cleared| Some(measure(cleared)) == least);
    left.len() < before
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cleared(violations: i64, highest: i64, started: &str) -> Cleared {
        Cleared { violations, highest, started: Some(started.to_owned()), ..Cleared::default() }
    }

    #[test]
    fn the_last_measure_that_tells_nodes_apart_decides() {
        let decides = |candidates: &[Cleared]| decider(&mut candidates.iter().collect());
        assert_eq!(decides(&[cleared(0, 9, "1"), cleared(1, 0, "1")]), Event::ByBudgets);
        assert_eq!(decides(&[cleared(0, 9, "1"), cleared(1, 0, "1"), cleared(0, 8, "1")]), Event::ByHighest);
        assert_eq!(decides(&[cleared(0, 9, "1"), cleared(0, 9, "2")]), Event::ByStart);
        assert_eq!(decides(&[cleared(0, 9, "1"), cleared(1, 9, "1"), cleared(0, 9, "1")]), Event::ByChance);
    }
}
