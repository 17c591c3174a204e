//! For how long a workload had no Ready endpoint.

use std::collections::{BTreeMap, BTreeSet};

use rehome_k8s::Key;
use rehome_model::{ObjectRef, Seconds, Timestamp, Uid};

use super::pod_history::{Interval, PodHistory};
use super::timeline::Timeline;

/// What the probe found for one workload.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Availability {
    /// What was looked at.
    pub by: By,
    /// When no endpoint was Ready, within the times that were asked for.
    pub without: Vec<(Timestamp, Timestamp)>,
}

/// What tells whether a workload serves.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum By {
    /// The endpoints of a Service that selects it.
    Service(Key),
    /// Its pods' condition `Ready`: no Service selects it.
    Pods,
}

impl Availability {
    /// The sum of all times without a Ready endpoint.
    #[must_use]
    pub fn total(&self) -> Seconds {
        self.without.iter().map(|(from, to)| *to - *from).sum()
    }

    /// The longest time without a Ready endpoint.
    #[must_use]
    pub fn longest(&self) -> Seconds {
        self.without.iter().map(|(from, to)| *to - *from).max().unwrap_or(Seconds::ZERO)
    }
}

/// Probes these workloads between two times. Of several Services that select a workload, the one that was without
/// endpoints for longest counts.
#[must_use]
pub fn probe<'w>(
    timeline: &Timeline,
    workloads: impl IntoIterator<Item = &'w ObjectRef>,
    from: Timestamp,
    to: Timestamp,
) -> BTreeMap<ObjectRef, Availability> {
    workloads.into_iter().map(|workload| (workload.clone(), of_workload(timeline, workload, from, to))).collect()
}

fn of_workload(timeline: &Timeline, workload: &ObjectRef, from: Timestamp, to: Timestamp) -> Availability {
    let pods: Vec<&PodHistory> = timeline.pods_of(workload).collect();
    let uids: BTreeSet<Uid> = pods.iter().map(|pod| pod.uid.clone()).collect();
    let selected = |key: &Key| Some(&key.namespace) == workload.namespace.as_ref();
    let services = timeline
        .services()
        .filter(|(key, service)| selected(key) && !service.publishes_not_ready)
        .filter(|(_, service)| pods.iter().any(|pod| service.selects(&pod.labels)))
        .map(|(key, service)| Availability {
            by: By::Service(key.clone()),
            without: gaps(service.ready(&uids), from, to),
        });
    services.max_by_key(Availability::total).unwrap_or_else(|| Availability {
        by: By::Pods,
        without: gaps(pods.iter().flat_map(|pod| serving(pod)).collect(), from, to),
    })
}

/// When a pod was Ready and not on its way out.
fn serving(pod: &PodHistory) -> Vec<Interval> {
    let leaves = pod.deletion().map(|deletion| deletion.at);
    let earlier = |a: Option<Timestamp>, b: Option<Timestamp>| a.into_iter().chain(b).min();
    pod.ready
        .iter()
        .map(|interval| Interval { from: interval.from, to: earlier(interval.to, leaves) })
        .filter(|interval| interval.to.is_none_or(|to| interval.from < to))
        .collect()
}

/// The times between `from` and `to` that no interval covers.
fn gaps(mut covered: Vec<Interval>, from: Timestamp, to: Timestamp) -> Vec<(Timestamp, Timestamp)> {
    covered.sort_by_key(|interval| interval.from);
    let mut gaps = Vec::new();
    let mut reached = from;
    for interval in covered {
        if reached < interval.from.min(to) {
            gaps.push((reached, interval.from.min(to)));
        }
        reached = reached.max(interval.to.unwrap_or(to));
    }
    if reached < to {
        gaps.push((reached, to));
    }
    gaps
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(millis: i64) -> Timestamp {
        Timestamp::from_millis(millis)
    }

    fn interval(from: i64, to: Option<i64>) -> Interval {
        Interval { from: at(from), to: to.map(at) }
    }

    #[test]
    fn gaps_are_what_no_interval_covers() {
        let covered = vec![interval(30, Some(40)), interval(5, Some(20)), interval(15, Some(25))];
        assert_eq!(gaps(covered, at(10), at(60)), [(at(25), at(30)), (at(40), at(60))]);
        assert_eq!(gaps(vec![interval(0, None)], at(10), at(60)), []);
        assert_eq!(gaps(Vec::new(), at(10), at(60)), [(at(10), at(60))]);
        assert_eq!(gaps(vec![interval(70, None)], at(10), at(60)), [(at(10), at(60))]);
    }
}
