//! The fence: no new pod lands on a node that is emptied, nor on one that is no target.

use std::collections::{BTreeMap, BTreeSet};

use rehome_k8s::field;
use rehome_model::ObjectRef;
use rehome_model::condition::Condition;
use rehome_model::plan::{Step, Undo};
use rehome_model::time::Seconds;
use rehome_model::verb::{FENCE_TAINT, Field, Verb, Wait};

use super::{CHANGE_DEADLINE, Waves, change, taint};
use crate::facts::Facts;
use crate::facts::placement::{FENCE_BYSTANDER, FENCE_SOURCE};

fn value(facts: &Facts<'_>, node: &str) -> Option<String> {
    let field = Field::NoScheduleTaint { key: FENCE_TAINT.to_owned() };
    field::read(facts.view, &ObjectRef::node(node), &field).flatten()
}

/// Fences all sources and bystanders, and waits until the watch shows it.
pub(super) fn raise(facts: &Facts<'_>, waves: &mut Waves) {
    waves.open("fence: nothing new lands on the nodes to empty, nor on nodes that are no target".to_owned());
    let sources =
        facts.sources.iter().map(|node| (node, FENCE_SOURCE, "new pods must not land on a node that is emptied"));
    let bystanders = facts
        .bystanders
        .iter()
        .map(|node| (node, FENCE_BYSTANDER, "it is no target, and moving pods could land on it"));
    let mut fences = Vec::new();
    for (node, word, because) in sources.chain(bystanders) {
        fences.push(Condition::FieldEquals {
            target: ObjectRef::node(node),
            field: Field::NoScheduleTaint { key: FENCE_TAINT.to_owned() },
            value: Some(word.to_owned()),
        });
        let before = value(facts, node);
        if before.as_deref() == Some(word) {
            continue;
        }
        let name = waves.name(&format!("fence/{node}"));
        let mut step = change(name, taint(node, FENCE_TAINT, before.as_deref(), Some(word)), because);
        if waves.nothing_before() {
            step.requires = facts.targets.iter().map(|node| Condition::NodeReady { node: node.clone() }).collect();
        }
        if word == FENCE_BYSTANDER {
            let waits = format!("pods that belong on {node} and restart during the run wait until it is given back");
            step.side_effects.push(waits);
        }
        waves.push(step, "fences go up one after the other");
    }
    let step = Step {
        name: waves.name("fenced"),
        verb: Verb::Wait(Wait { until: Condition::All { of: fences.clone() }, stable_for: Seconds::ZERO }),
        after: BTreeMap::new(),
        because: "nothing moves before every fence stands".to_owned(),
        requires: Vec::new(),
        establishes: fences,
        undo: Undo::Nothing,
        side_effects: Vec::new(),
        deadline: CHANGE_DEADLINE,
        outages: 0,
        holds: BTreeSet::new(),
    };
    waves.push(step, "all fences must be up");
}

/// Gives the bystanders back.
pub(super) fn lower(facts: &Facts<'_>, waves: &mut Waves) {
    waves.with_asides();
    waves.open("give back the nodes that were only kept out of the way".to_owned());
    for node in &facts.bystanders {
        let name = waves.name(&format!("unfence/{node}"));
        let step = change(
            name,
            taint(node, FENCE_TAINT, Some(FENCE_BYSTANDER), None),
            "nothing moves any more, and it was only kept out of the way",
        );
        waves.push(step, "everything has moved");
    }
}
