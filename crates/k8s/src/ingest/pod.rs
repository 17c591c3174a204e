//! Pods.

use std::sync::Arc;

use k8s_openapi::api::core::v1 as core;

use super::hostile;
use super::pod_spec::pod_spec;
use super::requests;
use super::{BadField, meta, time};
use crate::parts::KeptParts;
use crate::pod::{Phase, Pod, Timing};

/// Reasons for waiting that every pod gives on its way up.
const UNREMARKABLE: [&str; 2] = ["PodInitializing", "ContainerCreating"];

pub(super) fn pod(pod: core::Pod) -> Result<Pod, BadField> {
    let status = pod.status.unwrap_or_default();
    let spec = pod.spec.unwrap_or_default();
    let resized = requests::resized(&spec, &status)?.map(Arc::new);
    let conditions = status.conditions.unwrap_or_default();
    let containers = status.container_statuses.unwrap_or_default();
    let inits = status.init_container_statuses.unwrap_or_default();
    let mut spec = pod_spec(spec)?;
    let condition = |kind: &str| conditions.iter().find(|condition| condition.type_ == kind);
    let since = |kind: &str| {
        condition(kind).filter(|c| c.status == "True").and_then(|c| c.last_transition_time.clone()).map(time)
    };
    let unschedulable = condition("PodScheduled")
        .filter(|condition| condition.status == "False")
        .map(|condition| hostile::one_line(condition.message.as_deref().unwrap_or_default()));
    // An init container that waits says more than the containers that wait for it.
    let waiting = inits
        .iter()
        .chain(&containers)
        .filter_map(|container| container.state.as_ref()?.waiting.as_ref()?.reason.clone())
        .reduce(|first, next| if UNREMARKABLE.contains(&first.as_str()) { next } else { first });
    let running = containers
        .iter()
        .filter_map(|container| container.state.as_ref()?.running.as_ref()?.started_at.clone().map(time))
        .max();
    // Bound pods name their node in spec.nodeName, too; only in a template does it mean "never ask the scheduler".
    let node = spec.node_name.take().filter(|node| !node.is_empty());
    if node.is_some() {
        spec.parts = KeptParts::default();
    }
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
        resized,
        nominated: status.nominated_node_name.filter(|node| !node.is_empty()),
    })
}
