//! What the log says of Services and of the endpoints that their EndpointSlices list as ready.

use std::collections::{BTreeMap, BTreeSet};

use rehome_k8s::Key;
use rehome_k8s::selector::Selector;
use rehome_model::{Timestamp, Uid};
use serde_json::Value;

use super::pod_history::Interval;

/// A Service that has a selector.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ServiceHistory {
    /// `spec.selector`; [`Selector::Nothing`] where absent.
    pub selector: Selector,
    /// `spec.publishNotReadyAddresses`: then its endpoints say nothing about readiness.
    pub publishes_not_ready: bool,
    /// Its slices, by name: which pods were ready endpoints from when on.
    slices: BTreeMap<String, Vec<(Timestamp, BTreeSet<Uid>)>>,
}

impl ServiceHistory {
    /// Whether it selects a pod with these labels.
    #[must_use]
    pub fn selects(&self, labels: &BTreeMap<String, String>) -> bool {
        self.selector.matches(labels)
    }

    pub(super) fn set_slice(&mut self, slice: &str, ready: BTreeSet<Uid>, at: Timestamp) {
        let states = self.slices.entry(slice.to_owned()).or_default();
        if states.last().is_none_or(|(_, last)| *last != ready) {
            states.push((at, ready));
        }
    }

    /// When at least one of these pods was a ready endpoint.
    #[must_use]
    pub fn ready(&self, pods: &BTreeSet<Uid>) -> Vec<Interval> {
        let mut changes: Vec<(Timestamp, &str, bool)> = self
            .slices
            .iter()
            .flat_map(|(slice, states)| {
                states.iter().map(move |(at, ready)| (*at, slice.as_str(), ready.iter().any(|uid| pods.contains(uid))))
            })
            .collect();
        changes.sort_by_key(|change| change.0);
        let mut serving = BTreeSet::new();
        let mut intervals: Vec<Interval> = Vec::new();
        for (at, slice, ready) in changes {
            if ready {
                serving.insert(slice)
            } else {
                serving.remove(slice)
            };
            match intervals.last_mut() {
                Some(last) if last.to.is_none() && serving.is_empty() => last.to = Some(at),
                Some(last) if last.to.is_none() => {}
                _ if !serving.is_empty() => intervals.push(Interval { from: at, to: None }),
                _ => {}
            }
        }
        intervals
    }
}

/// The Service of an EndpointSlice.
pub(super) fn service_of(slice: &Value) -> Option<Key> {
    let metadata = &slice["metadata"];
    let service = metadata["labels"][rehome_k8s::service::SERVICE_NAME_LABEL].as_str()?;
    Some(Key::new(metadata["namespace"].as_str()?, service))
}

/// The pods that an EndpointSlice lists as ready. An absent condition counts as true.
/// Source: `k8s.io/api/discovery/v1/types.go`, `EndpointConditions.Ready`.
pub(super) fn ready_pods(slice: &Value) -> BTreeSet<Uid> {
    let endpoints = slice["endpoints"].as_array().into_iter().flatten();
    endpoints
        .filter(|endpoint| endpoint["conditions"]["ready"].as_bool().unwrap_or(true))
        .filter_map(|endpoint| Some(Uid::from(endpoint["targetRef"]["uid"].as_str()?)))
        .collect()
}
