//! What a move cost, whoever did it: the same figures for a run of ours and for `kubectl drain` node by node.

use std::collections::BTreeMap;

use rehome_model::{ObjectRef, Seconds, Timestamp};

use super::pod_history::PodHistory;
use super::probe::probe;
use super::timeline::Timeline;

/// What happened to one workload between two times, or to several together.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Figures {
    /// How many pods stood on source nodes at the beginning.
    pub pods: usize,
    /// How many of these were deleted.
    pub left: usize,
    /// How many pods that were made during the move were deleted again.
    pub moved_again: usize,
    /// How many pods that stood elsewhere at the beginning were deleted.
    pub restarted_elsewhere: usize,
    /// For how long there was no Ready endpoint; over several workloads the sum.
    pub without_ready: Seconds,
}

impl Figures {
    /// Deletions per pod that had to move: 1.0 is as few as can be. Restarts elsewhere are not moves.
    #[must_use]
    #[expect(clippy::cast_precision_loss, reason = "2^53 pods are more than there are")]
    pub fn moves_per_pod(&self) -> f64 {
        if self.pods == 0 { 0.0 } else { (self.left + self.moved_again) as f64 / self.pods as f64 }
    }

    /// The figures of several workloads together.
    #[must_use]
    pub fn sum<'f>(figures: impl IntoIterator<Item = &'f Self>) -> Self {
        figures.into_iter().fold(Self::default(), |sum, one| Self {
            pods: sum.pods + one.pods,
            left: sum.left + one.left,
            moved_again: sum.moved_again + one.moved_again,
            restarted_elsewhere: sum.restarted_elsewhere + one.restarted_elsewhere,
            without_ready: sum.without_ready + one.without_ready,
        })
    }
}

/// The figures of each of these workloads between two times.
#[must_use]
pub fn figures<'w>(
    timeline: &Timeline,
    workloads: impl IntoIterator<Item = &'w ObjectRef>,
    sources: &[String],
    from: Timestamp,
    to: Timestamp,
) -> BTreeMap<ObjectRef, Figures> {
    let on_source = |pod: &PodHistory| pod.node.as_ref().is_some_and(|node| sources.contains(node));
    workloads
        .into_iter()
        .map(|workload| {
            let without_ready = probe(timeline, [workload], from, to).values().map(|found| found.total()).sum();
            let mut figures = Figures { without_ready, ..Figures::default() };
            for pod in timeline.pods_of(workload).filter(|pod| pod.node.is_some() && !pod.finished_before(from)) {
                let deleted = pod.deletion().map(|deletion| deletion.received);
                if deleted.is_some_and(|at| at < from) {
                    continue;
                }
                let leaves = deleted.is_some_and(|at| at <= to && !pod.finished_before(at));
                let (count, stood) = match (pod.created > from, on_source(pod)) {
                    (true, _) => (&mut figures.moved_again, false),
                    (false, true) => (&mut figures.left, true),
                    (false, false) => (&mut figures.restarted_elsewhere, false),
                };
                *count += usize::from(leaves);
                figures.pods += usize::from(stood);
            }
            (workload.clone(), figures)
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::audit::invariants::cases::Case;

    fn of(case: &Case, workload: &str) -> Figures {
        let mut events = case.events.clone();
        events.sort_by_key(|event| event.stage_timestamp);
        let (kind, name) = workload.split_once('/').unwrap();
        let workload = ObjectRef::namespaced(kind, "x", name);
        let at = |seconds: i64| Timestamp::from_millis(seconds * 1000);
        figures(&Timeline::of(&events), [&workload], &case.plan.sources, at(100), at(400))[&workload]
    }

    #[test]
    fn a_good_run_moves_each_pod_once_and_counts_what_a_restart_touches_besides() {
        let case = Case::good();
        let (web, api) = (of(&case, "Deployment/web"), of(&case, "Deployment/api"));
        assert_eq!((web.pods, web.left, web.moved_again, web.restarted_elsewhere), (2, 2, 0, 0));
        assert_eq!((api.pods, api.left, api.moved_again, api.restarted_elsewhere), (1, 1, 0, 1));
        assert!((Figures::sum([&web, &api]).moves_per_pod() - 1.0).abs() < 1e-9);
        // One replica that was deleted before its successor came: the case makes none.
        assert!(of(&case, "StatefulSet/db").without_ready > Seconds::new(200));
        assert_eq!(web.without_ready, Seconds::ZERO);
    }

    #[test]
    fn a_successor_that_is_moved_again_costs_a_move() {
        let mut case = Case::good();
        case.evict("web-1b");
        let web = of(&case, "Deployment/web");
        assert_eq!((web.left, web.moved_again), (2, 1));
        assert!((web.moves_per_pod() - 1.5).abs() < 1e-9);
    }
}
