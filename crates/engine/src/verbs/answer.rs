//! What to do about a refused request.
//!
//! Source: the client table in §2.2 of the notes on drain and eviction, each row contract-tested on the real API server.

use rehome_model::Timestamp;
use rehome_model::request::{Cause, Outcome, Request};
use rehome_model::time::Seconds;

use crate::state::State;

/// How often a webhook may deny a request before a person is asked.
const DENIALS: u32 = 5;
/// How often the server may fail before a person is asked.
const SERVER_ERRORS: u32 = 20;
/// Longest pause between two attempts.
const LONGEST_PAUSE: Seconds = Seconds::new(30);

/// What a request's last outcome asks for.
pub(crate) enum Reaction {
    /// It took effect, or its object is gone as it should be.
    Over,
    /// Send it (again).
    Send,
    /// Send it again, but not before.
    Pause { until: Timestamp, reason: String },
    /// A budget refuses: what the cluster shows of it says for how long.
    Budget(Refused),
    /// The field has changed under us: read it again and decide.
    Look,
    /// Asking again is of no use.
    Stuck { cause: String, instructions: Vec<String> },
}

/// A request that a budget refused.
pub(crate) struct Refused {
    /// When the answer was written down.
    pub(crate) at: Timestamp,
    /// How often in a row.
    pub(crate) in_a_row: u32,
    /// `Retry-After`.
    pub(crate) retry_after: Option<Seconds>,
    /// What the server said.
    pub(crate) said: String,
}

/// What a request's last outcome asks for.
pub(crate) fn reaction(state: &State, step: &str, request: &Request, now: Timestamp) -> Reaction {
    let Some(sent) = state.last(step, request) else { return Reaction::Send };
    if sent.took_effect() {
        return Reaction::Over;
    }
    let Some((at, Outcome::Rejected { cause })) = &sent.answer else { return Reaction::Send };
    let pause = |seconds: Seconds| {
        if now >= *at + seconds {
            Reaction::Send
        } else {
            Reaction::Pause { until: *at + seconds, reason: cause.to_string() }
        }
    };
    // 1 s, 2 s, 4 s, … up to the longest pause.
    let backoff = Seconds::from_millis(LONGEST_PAUSE.as_millis().min(1000 << sent.in_a_row.saturating_sub(1).min(10)));
    let stuck = |instructions: &[&str]| Reaction::Stuck {
        cause: format!("{}: {cause}", sent.request),
        instructions: instructions.iter().map(|text| (*text).to_owned()).collect(),
    };
    match cause {
        Cause::NotFound | Cause::OtherIncarnation { .. } if !matches!(sent.request, Request::SetField(_)) => {
            Reaction::Over
        }
        Cause::NamespaceTerminating { .. } => Reaction::Over,
        Cause::Conflict { .. } => Reaction::Look,
        // A person has looked at it since: ask again.
        _ if sent.intent < state.resumed => Reaction::Send,
        Cause::NotFound | Cause::OtherIncarnation { .. } => {
            stuck(&["the object is gone: make a new plan from a new capture"])
        }
        Cause::Budget { retry_after, .. } => Reaction::Budget(Refused {
            at: *at,
            in_a_row: sent.in_a_row,
            retry_after: *retry_after,
            said: cause.to_string(),
        }),
        Cause::Throttled { retry_after } => pause(*retry_after),
        Cause::Server { .. } if sent.in_a_row < SERVER_ERRORS => pause(backoff),
        Cause::Denied { .. } if sent.in_a_row < DENIALS => pause(backoff),
        Cause::Server { .. } => stuck(&["look at the API server's health, then: rehome resume"]),
        Cause::Denied { .. } => stuck(&["ask the owner of the webhook or policy named above, then: rehome resume"]),
        Cause::SeveralBudgets { .. } => {
            stuck(&["leave one PodDisruptionBudget over the pod (kubectl get pdb -n NAMESPACE), then: rehome resume"])
        }
        Cause::Forbidden { .. } => stuck(&["grant the permission (deploy/rbac.yaml lists all), then: rehome resume"]),
        Cause::Invalid { .. } => stuck(&["this is a fault of rehome: please report it with the journal"]),
    }
}
