//! Steps from decisions, in waves.

mod fence;
mod moving;
mod node;

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
    for batch in batches {
        waves.open(batch.title.clone());
        for index in &batch.decisions {
            moving::steps(facts, &mut decisions[*index], snapshot, &mut waves);
        }
        if let Some(name) = &batch.empties {
            node::close(facts, name, &mut waves);
        }
    }
    fence::lower(facts, &mut waves);
    waves.done.retain(|wave| !wave.steps.is_empty());
    waves.done
}

/// Waves in the making. Steps run one after the other, so each names the one before it.
#[derive(Default)]
pub(crate) struct Waves {
    done: Vec<Wave>,
    last: Option<String>,
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

    /// Adds a step after the one before, and says under which name: workloads of different kinds may share one.
    pub(crate) fn push(&mut self, mut step: Step, because_after: &str) -> String {
        let wanted = step.name.clone();
        let mut count = 1;
        while !self.taken.insert(step.name.clone()) {
            count += 1;
            step.name = format!("{wanted}~{count}");
        }
        let name = step.name.clone();
        if let Some(last) = &self.last {
            step.after.entry(last.clone()).or_insert_with(|| because_after.to_owned());
        }
        self.last = Some(step.name.clone());
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
