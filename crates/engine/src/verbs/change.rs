//! Change: one field of one object, from an expected value to another.

use rehome_k8s::{View, field};
use rehome_model::Timestamp;
use rehome_model::plan::Step;
use rehome_model::request::Request;
use rehome_model::verb::Change;

use super::Next;
use super::answer::{Reaction, reaction};
use crate::machine::{Action, LOOK_AGAIN, Machine};

pub(super) fn next(machine: &Machine, step: &Step, change: &Change, view: &View, now: Timestamp) -> Next {
    match set(machine, &step.name, change, now) {
        // The steps after this one look at the view: it has to have caught up with us. And somebody who puts the field
        // back at once (a GitOps tool, an operator) is found here, not three steps later.
        Next::Done => match field::read(view, &change.target, &change.field) {
            Some(found) if found == change.to => Next::Done,
            found => {
                let found = found.flatten().map_or("not set".to_owned(), |found| format!("{found:?}"));
                let reason = format!(
                    "{} of {} was set, but the watch shows {found}: it is behind, or somebody put it back",
                    change.field, change.target
                );
                Next::Wait { reason, until: now + LOOK_AGAIN }
            }
        },
        other => other,
    }
}

/// Sets a field until it has its value, or somebody else gave it another.
pub(crate) fn set(machine: &Machine, step: &str, change: &Change, now: Timestamp) -> Next {
    let request = Request::SetField(change.clone());
    match reaction(&machine.state, step, &request, now) {
        Reaction::Over => Next::Done,
        // Only an eviction is refused by a budget.
        Reaction::Send | Reaction::Budget(_) => Next::act(machine.announce(step, request)),
        Reaction::Pause { until, reason } => Next::Wait { reason, until },
        Reaction::Stuck { cause, instructions } => Next::Stuck { cause, instructions },
        Reaction::Look => {
            let Some(read) = machine.moment(step).reads.get(&change.target) else {
                return Next::act(Action::Read { step: step.to_owned(), target: change.target.clone() });
            };
            let mut view = View::default();
            if let Some(object) = &read.object {
                view.insert(object.clone());
            }
            let found = field::read(&view, &change.target, &change.field);
            if found == Some(change.to.clone()) {
                Next::Done
            } else if found == Some(change.from.clone()) {
                Next::act(machine.announce(step, request))
            } else {
                let show = |value: &Option<String>| value.clone().map_or("not set".to_owned(), |v| format!("{v:?}"));
                let found = found.map_or_else(|| "no such object".to_owned(), |found| show(&found));
                Next::Stuck {
                    cause: format!(
                        "{} of {} was changed by somebody else: expected {}, found {found}",
                        change.field,
                        change.target,
                        show(&change.from)
                    ),
                    instructions: vec!["find out who changed it, put it back, then: rehome resume".to_owned()],
                }
            }
        }
    }
}
