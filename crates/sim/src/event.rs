//! What is going to happen, in the order of the simulated clock.

use std::collections::{BTreeMap, BTreeSet};

use rehome_k8s::{Key, Kind};
use rehome_model::request::Request;
use rehome_model::{Timestamp, Uid};

/// Something that is due at a time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Event {
    /// A controller looks at an object.
    Sync {
        /// Which controller, by its place in the world's list.
        controller: usize,
        /// The kind of the object.
        kind: Kind,
        /// The object.
        key: Key,
    },
    /// The scheduler takes the next pod.
    Schedule,
    /// A kubelet has work to do for a pod.
    Kubelet {
        /// The pod.
        pod: Key,
        /// Its incarnation.
        uid: Uid,
        /// What is due.
        step: KubeletStep,
    },
    /// A request whose answer was lost takes effect after all.
    Land {
        /// The request.
        request: Box<Request>,
        /// Its `Audit-ID`.
        audit_id: String,
    },
    /// The watches catch up.
    Thaw,
}

/// What a kubelet does next for a pod.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum KubeletStep {
    /// Its containers begin to run.
    Start,
    /// Its readiness probes succeed.
    Ready,
    /// Its last container has ended: the kubelet confirms the deletion.
    Gone,
}

/// Events by time; those of one time in the order in which they were added.
#[derive(Clone, Debug, Default)]
pub(crate) struct Queue {
    events: BTreeMap<(Timestamp, u64), Event>,
    added: u64,
    /// Syncs that are already due, as a work queue holds a key only once.
    waiting: BTreeSet<(usize, Kind, Key)>,
    /// The earliest time at which the scheduler is due.
    scheduler: Option<(Timestamp, u64)>,
}

impl Queue {
    /// Adds an event.
    pub(crate) fn add(&mut self, at: Timestamp, event: Event) {
        if let Event::Sync { controller, kind, key } = &event
            && !self.waiting.insert((*controller, *kind, key.clone()))
        {
            return;
        }
        self.added += 1;
        let place = (at, self.added);
        if event == Event::Schedule {
            match self.scheduler {
                Some(earlier) if earlier.0 <= at => return,
                Some(later) => {
                    self.events.remove(&later);
                }
                None => {}
            }
            self.scheduler = Some(place);
        }
        self.events.insert(place, event);
    }

    /// Adds a sync even though one is due already: the later one is for something that time alone brings.
    pub(crate) fn add_later(&mut self, at: Timestamp, controller: usize, kind: Kind, key: Key) {
        self.added += 1;
        self.events.insert((at, self.added), Event::Sync { controller, kind, key });
    }

    /// When the next event is due.
    pub(crate) fn next_at(&self) -> Option<Timestamp> {
        self.events.keys().next().map(|(at, _)| *at)
    }

    /// Takes the next event.
    pub(crate) fn pop(&mut self) -> Option<(Timestamp, Event)> {
        let (place, event) = self.events.pop_first()?;
        match &event {
            Event::Sync { controller, kind, key } => {
                self.waiting.remove(&(*controller, *kind, key.clone()));
            }
            Event::Schedule => self.scheduler = None,
            _ => {}
        }
        Some((place.0, event))
    }
}
