//! What users of the workloads would have noticed: for how long each had no pod that serves.

use std::collections::BTreeMap;

use rehome_k8s::{Record, View, owner, readiness};
use rehome_model::time::Seconds;
use rehome_model::{ObjectRef, Timestamp, Uid};

use crate::controllers::Change;

/// Counts serving pods of each workload as pods change.
#[derive(Clone, Debug, Default)]
pub(crate) struct Outages {
    workloads: BTreeMap<ObjectRef, Serving>,
    /// The workload of each pod that was seen: its owner may be gone before the pod is.
    of_pod: BTreeMap<Uid, ObjectRef>,
}

#[derive(Clone, Copy, Debug, Default)]
struct Serving {
    pods: usize,
    /// Since when there is none; `None` also before the first one: what never served had no outage.
    since: Option<Timestamp>,
    total: Seconds,
}

impl Outages {
    /// The state at the beginning.
    pub(crate) fn new(view: &View) -> Self {
        let mut outages = Self::default();
        for pod in view.pods() {
            let workload = outages.workload(view, pod);
            if readiness::serves(pod) {
                outages.workloads.entry(workload).or_default().pods += 1;
            }
        }
        outages
    }

    fn workload(&mut self, view: &View, pod: &rehome_k8s::pod::Pod) -> ObjectRef {
        if let Some(known) = self.of_pod.get(&pod.meta.uid) {
            return known.clone();
        }
        let workload = owner::of_pod(view, pod).reference(pod);
        self.of_pod.insert(pod.meta.uid.clone(), workload.clone());
        workload
    }

    /// Follows a change.
    pub(crate) fn follow(&mut self, view: &View, change: &Change, now: Timestamp) {
        let serves = |record: &Option<Record>| match record {
            Some(Record::Pod(pod)) => readiness::serves(pod),
            _ => false,
        };
        let Some(Record::Pod(pod)) = change.newest() else { return };
        let workload = self.workload(view, pod);
        if change.after.is_none() {
            self.of_pod.remove(&pod.meta.uid);
        }
        let (before, after) = (serves(&change.before), serves(&change.after));
        if before == after {
            return;
        }
        let serving = self.workloads.entry(workload).or_default();
        if after {
            serving.pods += 1;
            if let Some(since) = serving.since.take() {
                serving.total = serving.total + (now - since);
            }
        } else {
            serving.pods = serving.pods.saturating_sub(1);
            if serving.pods == 0 {
                serving.since = Some(now);
            }
        }
    }

    /// For how long each workload had no serving pod up to `now`; workloads that always had one are left out.
    pub(crate) fn until(&self, now: Timestamp) -> BTreeMap<ObjectRef, Seconds> {
        self.workloads
            .iter()
            .map(|(workload, serving)| {
                let open = serving.since.map_or(Seconds::ZERO, |since| now - since);
                (workload.clone(), serving.total + open)
            })
            .filter(|(_, total)| *total > Seconds::ZERO)
            .collect()
    }
}
