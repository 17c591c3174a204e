//! Putting back what we changed and still own; what is left is listed with its reason.

use rehome_k8s::{View, field};
use rehome_model::Timestamp;
use rehome_model::journal::{Event, Verdict};
use rehome_model::plan::Undo;
use rehome_model::request::Request;
use rehome_model::verb::{Change, Verb};

use crate::machine::{Action, Machine};
use crate::verbs::answer::{Reaction, reaction};

/// The next thing to put back, the last step first.
pub(crate) fn next(machine: &Machine, now: Timestamp) -> Action {
    let steps: Vec<_> = machine.plan.steps().collect();
    for step in steps.into_iter().rev() {
        let Some(state) = machine.state.step(&step.name) else { continue };
        if state.unwound || state.found_done {
            continue;
        }
        match (&step.verb, &step.undo) {
            (Verb::Change(change), Undo::Swap) => {
                let request = Request::SetField(change.clone());
                if machine.state.sent_by(&step.name).any(|sent| sent.request == request && sent.took_effect()) {
                    return put_back(machine, &step.name, change, now);
                }
            }
            (_, Undo::LeftInPlace { why }) if machine.state.touched(&step.name) => {
                return left(&step.name, why.clone());
            }
            (_, Undo::Swap) if machine.state.touched(&step.name) => {
                return left(&step.name, format!("a {} is not undone by a swap", step.verb.word()));
            }
            _ => {}
        }
    }
    Action::Record(Event::Finished { verdict: Verdict::RolledBack })
}

fn left(step: &str, why: String) -> Action {
    Action::Record(Event::Left { step: step.to_owned(), why })
}

fn put_back(machine: &Machine, step: &str, change: &Change, now: Timestamp) -> Action {
    let swapped = Change { from: change.to.clone(), to: change.from.clone(), ..change.clone() };
    let request = Request::SetField(swapped.clone());
    let looked = || -> Action {
        let Some(read) = machine.moment(step).reads.get(&change.target) else {
            return Action::Read { step: step.to_owned(), target: change.target.clone() };
        };
        let mut view = View::default();
        if let Some(object) = &read.object {
            view.insert(object.clone());
        }
        match field::read(&view, &change.target, &change.field) {
            None => left(step, format!("{} does not exist any more", change.target)),
            Some(found) if found == change.to => machine.announce(step, request.clone()),
            Some(found) if found == change.from => {
                left(step, format!("{} of {} has its old value already", change.field, change.target))
            }
            Some(found) => left(
                step,
                format!(
                    "{} of {} was changed by somebody else: we set {}, found {}",
                    change.field,
                    change.target,
                    change.to.as_deref().unwrap_or("nothing"),
                    found.as_deref().unwrap_or("nothing")
                ),
            ),
        }
    };
    match reaction(&machine.state, step, &request, now) {
        Reaction::Over => Action::Record(Event::Undone { step: step.to_owned() }),
        Reaction::Send | Reaction::Look | Reaction::Budget(_) => looked(),
        Reaction::Pause { until, reason } => Action::Wait { until, step: step.to_owned(), reason },
        Reaction::Stuck { cause, .. } => left(step, cause),
    }
}
