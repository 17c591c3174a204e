//! No pod waits for a node that did not wait before. What was Pending before is not blamed on the move.

use std::collections::BTreeMap;

use rehome_k8s::pod::{Phase, Pod};
use rehome_k8s::{Kind, View, owner};
use rehome_model::ObjectRef;

use super::{Compared, Found, offender};

pub(super) fn check(compared: &Compared<'_>) -> Found {
    let before = waiting(compared.before);
    let after = waiting(compared.after);
    let mut offenders = Vec::new();
    for (workload, pods) in &after {
        let earlier = before.get(workload).map_or(0, Vec::len);
        for pod in pods.iter().skip(earlier) {
            let why = pod.unschedulable.clone().unwrap_or_else(|| "Pending".to_owned());
            offenders.push(offender(pod.meta.key().reference(Kind::Pod), why));
        }
    }
    let pods = |map: &BTreeMap<ObjectRef, Vec<&Pod>>| map.values().map(Vec::len).sum::<usize>();
    Found { message: format!("{} pods are Pending, {} were before", pods(&after), pods(&before)), offenders }
}

/// Pods without a node, by workload: a pod that was made again has another name.
fn waiting(view: &View) -> BTreeMap<ObjectRef, Vec<&Pod>> {
    let mut waiting: BTreeMap<ObjectRef, Vec<&Pod>> = BTreeMap::new();
    for pod in view.pods().filter(|pod| pod.node.is_none() && pod.phase == Phase::Pending) {
        waiting.entry(owner::of_pod(view, pod).reference(pod)).or_default().push(pod);
    }
    waiting
}
