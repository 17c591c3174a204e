//! Faults: what goes wrong between the engine and the API server, and when.
//!
//! Only requests of the engine are hit. A schedule is data, so that a sweep is a list of schedules.

use rehome_model::request::{Cause, Request};
use rehome_model::time::Seconds;

/// Something that goes wrong with one request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Fault {
    /// The server refuses.
    Refused(Cause),
    /// The connection breaks before the answer comes.
    LostAnswer {
        /// Whether the request took effect.
        applied: bool,
    },
    /// No answer comes, and the request takes effect later: a read made before that does not show it.
    LandsLate {
        /// How long after it was sent. The server ends its work at `?timeout=`: a later time is brought forward to it.
        delay: Seconds,
    },
    /// The request is answered, and from then on the watches bring nothing for some time.
    WatchCut {
        /// For how long.
        lasts: Seconds,
    },
}

/// Which request is hit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum When {
    /// The one with this number, counted from 1 over all that change something.
    Nth(u64),
    /// The one with this number among those to objects of this kind.
    NthTo(String, u64),
    /// The one with this number among evictions.
    NthEviction(u64),
}

/// What goes wrong in a run.
#[derive(Clone, Debug, Default)]
pub struct Faults {
    scheduled: Vec<(When, Fault)>,
    requests: u64,
    evictions: u64,
    by_kind: std::collections::BTreeMap<String, u64>,
}

impl Faults {
    /// A schedule.
    #[must_use]
    pub fn new(scheduled: Vec<(When, Fault)>) -> Self {
        Self { scheduled, ..Self::default() }
    }

    /// Adds a fault; numbers count from the beginning of the run, requests already sent included.
    pub fn add(&mut self, when: When, fault: Fault) {
        self.scheduled.push((when, fault));
    }

    /// How many requests were sent.
    #[must_use]
    pub fn requests(&self) -> u64 {
        self.requests
    }

    /// Counts a request; the fault that hits it.
    pub(crate) fn hit(&mut self, request: &Request) -> Option<Fault> {
        self.requests += 1;
        let kind = request.target().kind.clone();
        let of_kind = self.by_kind.entry(kind.clone()).or_default();
        *of_kind += 1;
        let of_kind = *of_kind;
        let eviction = matches!(request, Request::Evict { .. });
        self.evictions += u64::from(eviction);
        let (requests, evictions) = (self.requests, self.evictions);
        let found = self.scheduled.iter().position(|(when, _)| match when {
            When::Nth(number) => *number == requests,
            When::NthTo(name, number) => *name == kind && *number == of_kind,
            When::NthEviction(number) => eviction && *number == evictions,
        })?;
        Some(self.scheduled.remove(found).1)
    }
}
