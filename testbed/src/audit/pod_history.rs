//! What the log says of one incarnation of a pod.

use std::collections::BTreeMap;

use rehome_model::{ObjectRef, Timestamp, Uid};

/// A time during which something held. Without an end it still does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Interval {
    /// From.
    pub from: Timestamp,
    /// To, exclusive.
    pub to: Option<Timestamp>,
}

impl Interval {
    /// Whether it covers a point in time.
    #[must_use]
    pub fn covers(&self, at: Timestamp) -> bool {
        self.from <= at && self.to.is_none_or(|to| at < to)
    }
}

/// One incarnation of a pod.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PodHistory {
    /// The pod.
    pub pod: ObjectRef,
    /// The incarnation.
    pub uid: Uid,
    /// Its labels when it was last seen.
    pub labels: BTreeMap<String, String>,
    /// Kind, name and UID of its controller.
    pub controller: Option<(String, String, Uid)>,
    /// When it was first seen.
    pub created: Timestamp,
    /// Where it was bound.
    pub node: Option<String>,
    /// When it was Ready.
    pub ready: Vec<Interval>,
    /// When its phase became Succeeded or Failed.
    pub finished: Option<Timestamp>,
    /// Who asked for its deletion, in the order of the requests. Those that only finish it (a kubelet's, once the
    /// containers have ended) are among them.
    pub deletions: Vec<Deletion>,
    /// When the object was gone.
    pub gone: Option<Timestamp>,
    pub(super) version: u64,
}

/// A request after which a pod was on its way out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Deletion {
    /// Who asked.
    pub by: String,
    /// The id of the request.
    pub audit_id: String,
    /// How.
    pub how: How,
    /// When the server received it.
    pub received: Timestamp,
    /// When the server had done it.
    pub at: Timestamp,
    /// Whether it only ends what another began: grace period 0, by the kubelet.
    pub finishing: bool,
}

/// How a pod was deleted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum How {
    /// Through the eviction subresource.
    Evicted,
    /// By a delete.
    Deleted,
}

impl PodHistory {
    pub(super) fn new(pod: ObjectRef, uid: Uid, created: Timestamp) -> Self {
        Self {
            pod,
            uid,
            labels: BTreeMap::new(),
            controller: None,
            created,
            node: None,
            ready: Vec::new(),
            finished: None,
            deletions: Vec::new(),
            gone: None,
            version: 0,
        }
    }

    pub(super) fn set_ready(&mut self, ready: bool, at: Timestamp) {
        match self.ready.last_mut() {
            Some(last) if last.to.is_none() && !ready => last.to = Some(at),
            Some(last) if last.to.is_none() => {}
            _ if ready => self.ready.push(Interval { from: at, to: None }),
            _ => {}
        }
    }

    pub(super) fn set_gone(&mut self, at: Timestamp) {
        self.set_ready(false, at);
        self.gone.get_or_insert(at);
    }

    /// The deletion that put it on its way out: the one that was asked for first and that is no mere finishing.
    #[must_use]
    pub fn deletion(&self) -> Option<&Deletion> {
        let began = self.deletions.iter().filter(|deletion| !deletion.finishing).min_by_key(|d| d.received);
        began.or_else(|| self.deletions.first())
    }

    /// Whether it was Ready and not on its way out.
    #[must_use]
    pub fn serves(&self, at: Timestamp) -> bool {
        let leaving = self.deletion().is_some_and(|deletion| deletion.at <= at);
        !leaving && self.ready.iter().any(|interval| interval.covers(at))
    }

    /// Whether it had ended by itself before this time.
    #[must_use]
    pub fn finished_before(&self, at: Timestamp) -> bool {
        self.finished.is_some_and(|finished| finished <= at)
    }
}
