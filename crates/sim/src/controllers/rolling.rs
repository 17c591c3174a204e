//! The arithmetic of a rolling update.
//!
//! Source: `k8s.io/kubernetes/pkg/controller/deployment/rolling.go` and `util.NewRSNewReplicas`.

use std::sync::Arc;

use rehome_k8s::percent::rolling_update_limits;
use rehome_k8s::workload::{Workload, WorkloadStrategy};

use super::Mutation;
use super::deployment::scaled;

fn limits(deployment: &Workload) -> (i64, i64) {
    let replicas = deployment.replicas.unwrap_or(1);
    match deployment.strategy {
        WorkloadStrategy::Rolling { max_surge, max_unavailable } if replicas > 0 => {
            let (surge, unavailable) = rolling_update_limits(max_surge, max_unavailable, replicas);
            (surge, unavailable.min(replicas))
        }
        _ => (0, 0),
    }
}

fn size(set: &Workload) -> i64 {
    set.replicas.unwrap_or(1)
}

/// How many pods a ReplicaSet that is created now is asked for.
pub(super) fn first_size(deployment: &Workload, sets: &[&Arc<Workload>]) -> i64 {
    let wanted = deployment.replicas.unwrap_or(1);
    match deployment.strategy {
        WorkloadStrategy::Rolling { .. } => {
            let current = sets.iter().map(|set| size(set)).sum::<i64>();
            (wanted + limits(deployment).0 - current).clamp(0, wanted)
        }
        _ => wanted,
    }
}

/// One step of a rolling update: first up, and only when nothing is to be scaled up, down.
pub(super) fn step(deployment: &Workload, new: &Arc<Workload>, old: &[Arc<Workload>]) -> Vec<Mutation> {
    let wanted = deployment.replicas.unwrap_or(1);
    let (surge, max_unavailable) = limits(deployment);
    let total = size(new) + old.iter().map(|set| size(set)).sum::<i64>();
    if size(new) > wanted {
        return vec![scaled(new, wanted)];
    }
    if size(new) < wanted && total < wanted + surge {
        let up = (wanted + surge - total).min(wanted - size(new));
        return vec![scaled(new, size(new) + up)];
    }
    let minimum = wanted - max_unavailable;
    let new_unavailable = size(new) - new.status.available;
    let most = total - minimum - new_unavailable;
    if most <= 0 || old.iter().all(|set| size(set) == 0) {
        return Vec::new();
    }
    // Pods that are not available anyway go first (`cleanupUnhealthyReplicas`), then available ones as far as the
    // minimum holds (`scaleDownOldReplicaSetsForRollingUpdate`).
    let mut sizes: Vec<i64> = old.iter().map(|set| size(set)).collect();
    let mut cleaned = 0;
    for (set, size) in old.iter().zip(&mut sizes) {
        let down = (*size - set.status.available).min(most - cleaned).max(0);
        *size -= down;
        cleaned += down;
    }
    let available = new.status.available + old.iter().map(|set| set.status.available).sum::<i64>();
    let mut left = (available - minimum).max(0);
    for size in &mut sizes {
        let down = left.min(*size);
        *size -= down;
        left -= down;
    }
    old.iter().zip(sizes).filter(|(set, to)| size(set) != *to).map(|(set, to)| scaled(set, to)).collect()
}
