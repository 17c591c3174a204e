//! Pods.

use std::sync::Arc;

use k8s_openapi::api::core::v1 as core;

use super::pod_spec::pod_spec;
use super::{BadField, meta, time};
use crate::pod::{Phase, Pod, Timing};

pub(super) fn pod(pod: core::Pod) -> Result<Pod, BadField> {
    let status = pod.status.unwrap_or_default();
    let spec = pod_spec(pod.spec.unwrap_or_default())?;
    let conditions = status.conditions.unwrap_or_default();
    let condition = |kind: &str| conditions.iter().find(|condition| condition.type_ == kind);
    let since = |kind: &str| {
        condition(kind).filter(|c| c.status == "True").and_then(|c| c.last_transition_time.clone()).map(time)
    };
    let unschedulable = condition("PodScheduled")
        .filter(|condition| condition.status == "False")
        .map(|condition| condition.message.clone().unwrap_or_default());
    let containers = status.container_statuses.unwrap_or_default();
    let waiting = containers.iter().find_map(|container| container.state.as_ref()?.waiting.as_ref()?.reason.clone());
    let running = containers
        .iter()
        .filter_map(|container| container.state.as_ref()?.running.as_ref()?.started_at.clone().map(time))
        .max();
    let mut spec = spec;
    // Bound pods name their node in spec.nodeName, too; only in a template does it mean "never ask the scheduler".
    let node = spec.node_name.take();
    Ok(Pod {
        meta: meta(pod.metadata),
        node,
        phase: match status.phase.as_deref() {
            Some("Running") => Phase::Running,
            Some("Succeeded") => Phase::Succeeded,
            Some("Failed") => Phase::Failed,
            Some("Unknown") => Phase::Unknown,
            _ => Phase::Pending,
        },
        ready: condition("Ready").is_some_and(|condition| condition.status == "True"),
        unschedulable,
        reason: status.reason.or(waiting),
        restarts: containers.iter().map(|container| i64::from(container.restart_count)).sum(),
        timing: Timing {
            scheduled: since("PodScheduled"),
            started: status.start_time.map(time),
            running,
            ready: since("Ready"),
        },
        spec: Arc::new(spec),
    })
}
