//! Wait: a condition that must hold, and have held for some time without a break.

use rehome_k8s::View;
use rehome_model::Timestamp;
use rehome_model::verb::Wait;

use super::Next;
use crate::condition;
use crate::machine::{LOOK_AGAIN, Machine};

pub(super) fn next(machine: &Machine, step: &str, wait: &Wait, view: &View, now: Timestamp) -> Next {
    if let Err(found) = condition::check(view, &wait.until) {
        return Next::Wait { reason: format!("{}; found: {found}", wait.until), until: now + LOOK_AGAIN };
    }
    let until = machine.moment(step).held_since.unwrap_or(now) + wait.stable_for;
    if now >= until {
        return Next::Done;
    }
    Next::Wait { reason: format!("{}, for {} without a break", wait.until, wait.stable_for), until }
}
