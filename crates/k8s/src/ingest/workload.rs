//! Controllers of pods.

use std::sync::Arc;

use k8s_openapi::api::{apps::v1 as apps, batch::v1 as batch, core::v1 as core};

use super::pod_spec::pod_spec;
use super::selectors::{int_or_none, int_or_percent, labels};
use super::{BadField, meta};
use crate::percent::IntOrPercent;
use crate::selector::Selector;
use crate::template::Template;
use crate::workload::{Workload, WorkloadStatus, WorkloadStrategy};

/// `maxSurge` and `maxUnavailable` where absent. Source: `k8s.io/kubernetes/pkg/apis/apps/v1/defaults.go`.
const DEFAULT_ROLLING: IntOrPercent = IntOrPercent::Percent(25);

fn template(template: core::PodTemplateSpec) -> Result<Template, BadField> {
    let metadata = template.metadata.unwrap_or_default();
    Ok(Template {
        labels: metadata.labels.unwrap_or_default(),
        annotations: metadata.annotations.unwrap_or_default(),
        spec: Arc::new(pod_spec(template.spec.unwrap_or_default())?),
    })
}

/// A negative number of replicas is refused by the API server; a file can hold one.
fn replicas(replicas: Option<i32>) -> Option<i64> {
    Some(int_or_none(replicas).unwrap_or(1).max(0))
}

fn count(number: Option<i32>) -> i64 {
    int_or_none(number).unwrap_or_default()
}

pub(super) fn deployment(object: apps::Deployment) -> Result<Workload, BadField> {
    let spec = object.spec;
    let status = object.status.unwrap_or_default();
    let strategy = spec.strategy.unwrap_or_default();
    let strategy = if strategy.type_.as_deref() == Some("Recreate") {
        WorkloadStrategy::Recreate
    } else {
        let rolling = strategy.rolling_update.unwrap_or_default();
        let limit = |field: &str, value| match value {
            Some(value) => int_or_percent(field, value),
            None => Ok(DEFAULT_ROLLING),
        };
        WorkloadStrategy::Rolling {
            max_surge: limit("maxSurge", rolling.max_surge)?,
            max_unavailable: limit("maxUnavailable", rolling.max_unavailable)?,
        }
    };
    Ok(Workload {
        meta: meta(object.metadata),
        replicas: replicas(spec.replicas),
        selector: labels(Some(spec.selector))?,
        template: template(spec.template)?,
        strategy,
        paused: spec.paused == Some(true),
        min_ready_seconds: count(spec.min_ready_seconds),
        status: WorkloadStatus {
            observed_generation: status.observed_generation.unwrap_or_default(),
            replicas: count(status.replicas),
            updated: count(status.updated_replicas),
            ready: count(status.ready_replicas),
            available: count(status.available_replicas),
            succeeded: 0,
        },
        ..Workload::default()
    })
}

pub(super) fn replica_set(object: apps::ReplicaSet) -> Result<Workload, BadField> {
    let spec = object.spec;
    let status = object.status.unwrap_or_default();
    Ok(Workload {
        meta: meta(object.metadata),
        replicas: replicas(spec.replicas),
        selector: labels(Some(spec.selector))?,
        template: template(spec.template.unwrap_or_default())?,
        strategy: WorkloadStrategy::NotApplicable,
        min_ready_seconds: count(spec.min_ready_seconds),
        status: WorkloadStatus {
            observed_generation: status.observed_generation.unwrap_or_default(),
            replicas: status.replicas.into(),
            updated: status.replicas.into(),
            ready: count(status.ready_replicas),
            available: count(status.available_replicas),
            succeeded: 0,
        },
        ..Workload::default()
    })
}

pub(super) fn replication_controller(object: core::ReplicationController) -> Result<Workload, BadField> {
    let spec = object.spec.unwrap_or_default();
    let status = object.status.unwrap_or_default();
    Ok(Workload {
        meta: meta(object.metadata),
        replicas: replicas(spec.replicas),
        selector: spec.selector.map_or(Selector::Nothing, |labels| Selector::of_labels(&labels)),
        template: template(spec.template.unwrap_or_default())?,
        strategy: WorkloadStrategy::NotApplicable,
        status: WorkloadStatus {
            observed_generation: status.observed_generation.unwrap_or_default(),
            replicas: status.replicas.into(),
            updated: status.replicas.into(),
            ready: count(status.ready_replicas),
            available: count(status.available_replicas),
            succeeded: 0,
        },
        ..Workload::default()
    })
}

pub(super) fn stateful_set(object: apps::StatefulSet) -> Result<Workload, BadField> {
    let spec = object.spec;
    let status = object.status.unwrap_or_default();
    let claim_templates = spec.volume_claim_templates.unwrap_or_default();
    Ok(Workload {
        meta: meta(object.metadata),
        replicas: replicas(spec.replicas),
        selector: labels(Some(spec.selector))?,
        template: template(spec.template)?,
        strategy: if spec.pod_management_policy.as_deref() == Some("Parallel") {
            WorkloadStrategy::Parallel
        } else {
            WorkloadStrategy::Ordered
        },
        claim_templates: claim_templates.into_iter().filter_map(|claim| claim.metadata.name).collect(),
        service: spec.service_name,
        min_ready_seconds: count(spec.min_ready_seconds),
        status: WorkloadStatus {
            observed_generation: status.observed_generation.unwrap_or_default(),
            replicas: status.replicas.into(),
            updated: count(status.updated_replicas),
            ready: count(status.ready_replicas),
            available: count(status.available_replicas),
            succeeded: 0,
        },
        ..Workload::default()
    })
}

pub(super) fn daemon_set(object: apps::DaemonSet) -> Result<Workload, BadField> {
    let spec = object.spec;
    let status = object.status.unwrap_or_default();
    Ok(Workload {
        meta: meta(object.metadata),
        replicas: Some(status.desired_number_scheduled.into()),
        selector: labels(Some(spec.selector))?,
        template: template(spec.template)?,
        strategy: WorkloadStrategy::NotApplicable,
        min_ready_seconds: count(spec.min_ready_seconds),
        status: WorkloadStatus {
            observed_generation: status.observed_generation.unwrap_or_default(),
            replicas: status.current_number_scheduled.into(),
            updated: count(status.updated_number_scheduled),
            ready: status.number_ready.into(),
            available: count(status.number_available),
            succeeded: 0,
        },
        ..Workload::default()
    })
}

pub(super) fn job(object: batch::Job) -> Result<Workload, BadField> {
    let spec = object.spec.unwrap_or_default();
    let status = object.status.unwrap_or_default();
    Ok(Workload {
        meta: meta(object.metadata),
        replicas: replicas(spec.parallelism),
        selector: labels(spec.selector)?,
        template: template(spec.template)?,
        strategy: WorkloadStrategy::NotApplicable,
        paused: spec.suspend == Some(true),
        completions: Some(int_or_none(spec.completions).unwrap_or(1)),
        status: WorkloadStatus {
            replicas: count(status.active),
            ready: count(status.ready),
            succeeded: count(status.succeeded),
            ..WorkloadStatus::default()
        },
        ..Workload::default()
    })
}

pub(super) fn cron_job(object: batch::CronJob) -> Result<Workload, BadField> {
    let spec = object.spec;
    Ok(Workload {
        meta: meta(object.metadata),
        template: template(spec.job_template.spec.unwrap_or_default().template)?,
        strategy: WorkloadStrategy::NotApplicable,
        paused: spec.suspend == Some(true),
        ..Workload::default()
    })
}
