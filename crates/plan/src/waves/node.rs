//! A node whose pods have left: cordoned, and proved empty.
//!
//! The proof takes two looks some seconds apart, and what it shows changes nothing for the pods of the next node: those
//! move meanwhile. Only the end of the plan waits for all proofs.

use std::collections::{BTreeMap, BTreeSet};

use rehome_k8s::field;
use rehome_model::ObjectRef;
use rehome_model::plan::{Step, Undo};
use rehome_model::time::Seconds;
use rehome_model::verb::{Change, FENCE_TAINT, Field, ProveEmpty, Verb};

use super::{Waves, change};
use crate::facts::Facts;
use crate::facts::placement::FENCE_SOURCE;

/// How long a node may take to become empty after its last move: the longest that pods which nobody planned for are
/// given to end.
const PROOF_DEADLINE: Seconds = Seconds::new(600);

/// Cordons a node, unless somebody has, and proves that it is empty.
pub(super) fn close(facts: &Facts<'_>, node: &str, waves: &mut Waves) {
    if !facts.view.node(node).is_some_and(|node| node.unschedulable) {
        let cordon = Change {
            target: ObjectRef::node(node),
            field: Field::Unschedulable,
            from: None,
            to: Some("true".to_owned()),
        };
        let mut step = change(
            waves.name(&format!("cordon/{node}")),
            cordon,
            "other tools see a cordon, and keep off the node, too",
        );
        step.side_effects.push("operators and autoscalers that watch cordons react to it".to_owned());
        waves.push(step, "its pods have left");
    }
    let step = Step {
        name: waves.name(&format!("prove/{node}")),
        verb: Verb::ProveEmpty(ProveEmpty { node: node.to_owned() }),
        after: BTreeMap::new(),
        because: "empty is a fact that two fresh lists show, not the absence of an error".to_owned(),
        requires: Vec::new(),
        establishes: Vec::new(),
        undo: Undo::Nothing,
        side_effects: Vec::new(),
        deadline: PROOF_DEADLINE,
        outages: 0,
        holds: BTreeSet::new(),
    };
    waves.push_aside(step, "it is cordoned");
}

/// Whether a node is as a finished move leaves it: fenced as a source, and cordoned.
pub(super) fn closed(facts: &Facts<'_>, node: &str) -> bool {
    let fence = Field::NoScheduleTaint { key: FENCE_TAINT.to_owned() };
    field::read(facts.view, &ObjectRef::node(node), &fence).flatten().as_deref() == Some(FENCE_SOURCE)
        && facts.view.node(node).is_some_and(|node| node.unschedulable)
}
