//! Drift: what the run has put in place, or rests on, is not so any more.
//!
//! Somebody takes a fence away, cordons a target, deletes a node; a target is not Ready. While that lasts nothing is
//! begun and nothing is sent: a pod that is evicted now could land where it must not. If it does not pass, the run stops
//! and names it. What a step needs besides (its workload as planned, its budget) it looks at itself.

use std::collections::BTreeMap;

use rehome_k8s::{View, field};
use rehome_model::ObjectRef;
use rehome_model::plan::Plan;
use rehome_model::time::Seconds;
use rehome_model::verb::{Change, FENCE_TAINT, Field, HOLD_TAINT};

/// How long something that a person or a program did may take to be put right before the run stops: a slip is mended at
/// once, and a reverted fence must not wait for the next eviction.
const UNDONE_BY_SOMEBODY: Seconds = Seconds::new(10);
/// How long a node may be not Ready: a kubelet that restarts is back within a minute or two, and after five the pods of a
/// lost node begin to be evicted. Source: `pkg/controller/nodelifecycle`, the default toleration of 300 s.
const NOT_READY: Seconds = Seconds::new(300);

/// Fields that this run has set, and the values that they must keep until it sets them anew.
#[derive(Clone, Debug, Default)]
pub(crate) struct Standing(BTreeMap<(ObjectRef, Field), Option<String>>);

impl Standing {
    /// A change is done, or was found done.
    pub(crate) fn set(&mut self, change: &Change) {
        let key = (change.target.clone(), change.field.clone());
        match &change.to {
            Some(to) if guarded(&change.field) => _ = self.0.insert(key, Some(to.clone())),
            _ => _ = self.0.remove(&key),
        }
    }

    /// A change of the same field is about to be made.
    pub(crate) fn release(&mut self, change: &Change) {
        self.0.remove(&(change.target.clone(), change.field.clone()));
    }
}

/// A cordon is for other tools; what keeps pods away is the fence.
fn guarded(field: &Field) -> bool {
    matches!(field, Field::NoScheduleTaint { key } if key == FENCE_TAINT || key == HOLD_TAINT)
}

/// Something that is not as it should be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Drift {
    pub(crate) subject: ObjectRef,
    pub(crate) expected: String,
    pub(crate) found: String,
    /// How long it may last.
    pub(crate) patience: Seconds,
}

/// The first thing that has drifted. `moving` says whether pods still have to move: only then do targets matter.
pub(crate) fn seen(plan: &Plan, standing: &Standing, view: &View, moving: bool) -> Option<Drift> {
    let drift = |node: &str, expected: &str, found: &str, patience| Drift {
        subject: ObjectRef::node(node),
        expected: expected.to_owned(),
        found: found.to_owned(),
        patience,
    };
    for ((target, name), value) in &standing.0 {
        match field::read(view, target, name) {
            Some(found) if found == *value => {}
            // A node that is gone needs no fence.
            None => {}
            Some(found) => {
                let show = |value: Option<&String>| value.map_or("not set".to_owned(), |value| format!("{value:?}"));
                return Some(Drift {
                    subject: target.clone(),
                    expected: format!("{name} is {}", show(value.as_ref())),
                    found: show(found.as_ref()),
                    patience: UNDONE_BY_SOMEBODY,
                });
            }
        }
    }
    for target in plan.targets.iter().filter(|_| moving) {
        match view.node(target) {
            None => return Some(drift(target, "a node to move to", "it does not exist any more", UNDONE_BY_SOMEBODY)),
            Some(node) if node.unschedulable => {
                return Some(drift(target, "a node to move to", "it is cordoned", UNDONE_BY_SOMEBODY));
            }
            Some(node) if node.ready != Some(true) => {
                return Some(drift(target, "a node to move to", "it is not Ready", NOT_READY));
            }
            Some(_) => {}
        }
    }
    None
}
