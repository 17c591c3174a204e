//! The scheduler's queue: which pod is next, and when one that found no node is tried again.
//!
//! Whether and where a pod fits is `rehome-sched`'s. Source: `k8s.io/kubernetes/pkg/scheduler/backend/queue`. One
//! scheduler stands for all: `spec.schedulerName` is not looked at. Not modelled: queueing hints (any change
//! of a node, a pod or a volume makes all waiting pods worth another try).

use std::collections::BTreeMap;

use rehome_k8s::{Key, Record};
use rehome_model::Timestamp;
use rehome_model::time::Seconds;

use crate::controllers::Change;

/// Pods without a node.
#[derive(Clone, Debug, Default)]
pub(crate) struct Waiting {
    pods: BTreeMap<Key, Attempt>,
}

#[derive(Clone, Copy, Debug, Default)]
struct Attempt {
    failures: u32,
    /// Not tried again before this, however much changes.
    not_before: Option<Timestamp>,
    /// Nothing has changed since it failed.
    hopeless: bool,
    priority: i64,
    created: Option<Timestamp>,
}

/// Source: `kubescheduler.config.k8s.io/v1`, `podInitialBackoffSeconds` and `podMaxBackoffSeconds`.
const FIRST_BACKOFF: Seconds = Seconds::new(1);
const LONGEST_BACKOFF: Seconds = Seconds::new(10);

impl Waiting {
    /// Follows a change; whether the scheduler has something to do.
    pub(crate) fn follow(&mut self, change: &Change) -> bool {
        match change.newest() {
            Some(Record::Pod(pod)) => {
                let key = pod.meta.key();
                let waits =
                    change.after.is_some() && pod.node.is_none() && pod.spec.gates.is_empty() && !pod.finished();
                if !waits {
                    self.pods.remove(&key);
                } else if change.before.is_none() || !self.pods.contains_key(&key) {
                    let attempt =
                        Attempt { priority: pod.spec.priority, created: pod.meta.created, ..Attempt::default() };
                    self.pods.insert(key, attempt);
                    return true;
                }
                // Room and labels matter to others, a status does not.
                let shape = |record: &Option<Record>| match record {
                    Some(Record::Pod(pod)) => {
                        Some((pod.node.clone(), pod.meta.labels.clone(), pod.finished(), pod.meta.deleting.is_some()))
                    }
                    _ => None,
                };
                if shape(&change.before) == shape(&change.after) {
                    return false;
                }
            }
            Some(
                Record::Node(_)
                | Record::PersistentVolume(_)
                | Record::PersistentVolumeClaim(_)
                | Record::StorageClass(_)
                | Record::CSINode(_)
                | Record::VolumeAttachment(_),
            ) => {}
            _ => return false,
        }
        for attempt in self.pods.values_mut() {
            attempt.hopeless = false;
        }
        !self.pods.is_empty()
    }

    /// The next pod to try: the highest priority first, then the oldest.
    pub(crate) fn next(&self, now: Timestamp) -> Option<Key> {
        self.pods
            .iter()
            .filter(|(_, attempt)| !attempt.hopeless && attempt.not_before.is_none_or(|at| at <= now))
            .min_by_key(|(key, attempt)| (std::cmp::Reverse(attempt.priority), attempt.created, (*key).clone()))
            .map(|(key, _)| key.clone())
    }

    /// When a pod may be tried next.
    pub(crate) fn next_at(&self, now: Timestamp) -> Option<Timestamp> {
        let eligible = self.pods.values().filter(|attempt| !attempt.hopeless);
        eligible.map(|attempt| attempt.not_before.unwrap_or(now).max(now)).min()
    }

    /// A pod found no node.
    pub(crate) fn failed(&mut self, key: &Key, now: Timestamp) {
        if let Some(attempt) = self.pods.get_mut(key) {
            attempt.failures = attempt.failures.saturating_add(1);
            let doubled = FIRST_BACKOFF.as_millis().saturating_mul(1 << (attempt.failures - 1).min(10));
            attempt.not_before = Some(now + Seconds::from_millis(doubled.min(LONGEST_BACKOFF.as_millis())));
            attempt.hopeless = true;
        }
    }

    /// A pod is no longer the queue's concern.
    pub(crate) fn forget(&mut self, key: &Key) {
        self.pods.remove(key);
    }
}
