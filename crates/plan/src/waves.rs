//! Steps from decisions, in waves.

mod fence;
mod moving;
mod node;
mod shared_budgets;

use std::collections::{BTreeMap, BTreeSet};

use rehome_model::Digest;
use rehome_model::ObjectRef;
use rehome_model::condition::Condition;
use rehome_model::plan::{Step, Undo, Wave};
use rehome_model::time::Seconds;
use rehome_model::verb::{Change, Field, Verb};

use crate::draft::Decision;
use crate::facts::Facts;
use crate::order::Batch;

/// How long a change of one field may take: a few requests, and a watch that brings it back.
const CHANGE_DEADLINE: Seconds = Seconds::new(120);

/// The waves of a plan: fences, the batches, and the bystanders given back.
#[must_use]
pub fn build(facts: &Facts<'_>, decisions: &mut [Decision], batches: &[Batch], snapshot: &Digest) -> Vec<Wave> {
    let mut waves = Waves::default();
    if decisions.is_empty() && facts.sources.iter().all(|name| node::closed(facts, name)) {
        return waves.done;
    }
    fence::raise(facts, &mut waves);
    let shared = shared_budgets::SharedBudgets::new(facts, decisions);
    for batch in batches {
        waves.open(batch.title.clone());
        waves.beside();
        for index in &batch.decisions {
            let holds = shared.of(*index);
            moving::steps(facts, &mut decisions[*index], holds, snapshot, &mut waves);
        }
        waves.joined();
        if let Some(name) = &batch.empties {
            node::close(facts, name, &mut waves);
        }
    }
    fence::lower(facts, &mut waves);
    waves.done.retain(|wave| !wave.steps.is_empty());
    waves.done
}

/// Waves in the making. A step comes after the one before it, or, in a section, beside the others of the section.
#[derive(Default)]
pub(crate) struct Waves {
    done: Vec<Wave>,
    /// What the next step comes after.
    last: BTreeSet<String>,
    /// The steps of the section that is open: what comes after it waits for all of them.
    section: Option<BTreeSet<String>>,
    /// Steps that only the end waits for.
    aside: BTreeSet<String>,
    taken: BTreeSet<String>,
}

impl Waves {
    pub(crate) fn open(&mut self, title: String) {
        // An empty wave would leave a hole in the numbers.
        if self.done.last().is_some_and(|wave| wave.steps.is_empty()) {
            self.done.pop();
        }
        let name = format!("w{}", self.done.len());
        self.done.push(Wave { name, title, steps: Vec::new() });
    }

    /// The name of a step in the open wave.
    pub(crate) fn name(&self, path: &str) -> String {
        let wave = self.done.last().map_or("w0", |wave| wave.name.as_str());
        format!("{wave}/{path}")
    }

    /// From here on, steps are beside each other.
    pub(crate) fn beside(&mut self) {
        self.section = Some(BTreeSet::new());
    }

    /// From here on, steps come one after the other again, the first after all that were beside each other.
    pub(crate) fn joined(&mut self) {
        if let Some(section) = self.section.take().filter(|section| !section.is_empty()) {
            self.last = section;
        }
    }

    /// Adds a step as [`Waves::push`] does, that only the end waits for: the next step comes beside it.
    pub(crate) fn push_aside(&mut self, step: Step, because_after: &str) {
        let last = self.last.clone();
        let name = self.push(step, because_after);
        self.last = last;
        self.aside.insert(name);
    }

    /// From here on, steps come after those that were added aside, too.
    pub(crate) fn with_asides(&mut self) {
        self.last.append(&mut self.aside);
    }

    /// Whether nothing comes before the next step.
    pub(crate) fn nothing_before(&self) -> bool {
        self.last.is_empty()
    }

    /// Adds a step after what comes before it, and says under which name: workloads of different kinds may share one.
    pub(crate) fn push(&mut self, mut step: Step, because_after: &str) -> String {
        let wanted = step.name.clone();
        let mut count = 1;
        while !self.taken.insert(step.name.clone()) {
            count += 1;
            step.name = format!("{wanted}~{count}");
        }
        let name = step.name.clone();
        for last in &self.last {
            step.after.entry(last.clone()).or_insert_with(|| because_after.to_owned());
        }
        match &mut self.section {
            Some(section) => _ = section.insert(step.name.clone()),
            None => self.last = BTreeSet::from([step.name.clone()]),
        }
        if let Some(wave) = self.done.last_mut() {
            wave.steps.push(step);
        }
        name
    }
}

/// A step that changes one field, and can be swapped back.
pub(crate) fn change(name: String, change: Change, because: &str) -> Step {
    let Change { target, field, to, .. } = &change;
    let establishes = vec![Condition::FieldEquals { target: target.clone(), field: field.clone(), value: to.clone() }];
    Step {
        name,
        verb: Verb::Change(change),
        after: BTreeMap::new(),
        because: because.to_owned(),
        requires: Vec::new(),
        establishes,
        undo: Undo::Swap,
        side_effects: Vec::new(),
        deadline: CHANGE_DEADLINE,
        outages: 0,
        holds: BTreeSet::new(),
    }
}

/// The change of a `NoSchedule` taint on a node.
pub(crate) fn taint(node: &str, key: &str, from: Option<&str>, to: Option<&str>) -> Change {
    Change {
        target: ObjectRef::node(node),
        field: Field::NoScheduleTaint { key: key.to_owned() },
        from: from.map(str::to_owned),
        to: to.map(str::to_owned),
    }
}
