//! Which pods go first when a ReplicaSet has too many.
//!
//! Source: `k8s.io/kubernetes/pkg/controller/controller_utils.go`, `ActivePodsWithRanks.Less`.

use std::cmp::Ordering;
use std::collections::BTreeMap;
use std::sync::Arc;

use rehome_k8s::Key;
use rehome_k8s::pod::{Phase, Pod};
use rehome_model::Timestamp;

/// Source: `k8s.io/api/core/v1/annotation_key_constants.go`, `PodDeletionCost`.
const DELETION_COST: &str = "controller.kubernetes.io/pod-deletion-cost";

/// The `number` pods that go first.
pub(super) fn to_delete(pods: &[&Arc<Pod>], related: &[&Arc<Pod>], number: usize, now: Timestamp) -> Vec<Key> {
    let mut on_node: BTreeMap<&str, usize> = BTreeMap::new();
    for pod in related {
        *on_node.entry(pod.node.as_deref().unwrap_or_default()).or_default() += 1;
    }
    let crowd = |pod: &Pod| on_node.get(pod.node.as_deref().unwrap_or_default()).copied().unwrap_or(0);
    let mut ranked: Vec<&Arc<Pod>> = pods.to_vec();
    ranked.sort_by(|a, b| {
        a.node
            .is_some()
            .cmp(&b.node.is_some())
            .then_with(|| phase(a).cmp(&phase(b)))
            .then_with(|| a.ready.cmp(&b.ready))
            .then_with(|| cost(a).cmp(&cost(b)))
            .then_with(|| crowd(b).cmp(&crowd(a)))
            .then_with(|| younger(a, b, a.timing.ready, b.timing.ready, now))
            .then_with(|| b.restarts.cmp(&a.restarts))
            .then_with(|| younger(a, b, a.meta.created, b.meta.created, now))
            .then_with(|| a.meta.uid.cmp(&b.meta.uid))
    });
    ranked.into_iter().take(number).map(|pod| pod.meta.key()).collect()
}

fn phase(pod: &Pod) -> u8 {
    match pod.phase {
        Phase::Pending => 0,
        Phase::Unknown => 1,
        _ => 2,
    }
}

fn cost(pod: &Pod) -> i64 {
    pod.meta.annotations.get(DELETION_COST).and_then(|cost| cost.parse().ok()).unwrap_or(0)
}

/// The younger goes first, but ages are compared by their power of two only, so that which pod of about the same age
/// goes is a matter of its UID. Source: `logarithmicRankDiff` (gate `LogarithmicScaleDown`, on since 1.22).
fn younger(a: &Pod, b: &Pod, at: Option<Timestamp>, bt: Option<Timestamp>, now: Timestamp) -> Ordering {
    let (Some(at), Some(bt)) = (at, bt) else {
        // A zero time counts as later than any other (`afterOrZero`): without a time means younger.
        return at.is_some().cmp(&bt.is_some());
    };
    if at == bt {
        return Ordering::Equal;
    }
    let rank = |since: Timestamp| {
        // The controller's clock counts nanoseconds.
        let age = (now - since).as_millis().saturating_mul(1_000_000);
        if age > 0 { i64::from(age.ilog2()) } else { -1 }
    };
    rank(at).cmp(&rank(bt)).then_with(|| a.meta.uid.cmp(&b.meta.uid))
}
