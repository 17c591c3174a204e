//! Budgets, autoscalers, namespaces, priorities, quotas, limits and webhooks.

use k8s_openapi::api::admissionregistration::v1 as admission;
use k8s_openapi::api::autoscaling::v1 as autoscaling;
use k8s_openapi::api::policy::v1 as policy;
use k8s_openapi::api::{core::v1 as core, scheduling::v1 as scheduling};

use super::selectors::{int_or_none, int_or_percent, labels, resources, thousandths};
use super::{BadField, meta};
use crate::node::Resources;
use crate::policy::{
    BudgetStatus, Hpa, Limit, LimitRange, LimitScope, Namespace, PodDisruptionBudget, PriorityClass, ResourceQuota,
    Webhook, WebhookConfiguration,
};
use crate::selector::Selector;

pub(super) fn namespace(object: core::Namespace) -> Result<Namespace, BadField> {
    Ok(Namespace { meta: meta(object.metadata) })
}

/// In `policy/v1beta1` an empty selector matches no pod, in `policy/v1` every pod of the namespace.
/// Source: `k8s.io/api/policy/v1beta1/types.go`, `PodDisruptionBudgetSpec.Selector`.
pub(super) fn budget(object: policy::PodDisruptionBudget, beta: bool) -> Result<PodDisruptionBudget, BadField> {
    let spec = object.spec.unwrap_or_default();
    let limit = |field: &str, value: Option<_>| value.map(|value| int_or_percent(field, value)).transpose();
    let mut selector = labels(spec.selector)?;
    if beta && selector == Selector::All(Vec::new()) {
        selector = Selector::Nothing;
    }
    Ok(PodDisruptionBudget {
        meta: meta(object.metadata),
        selector,
        min_available: limit("minAvailable", spec.min_available)?,
        max_unavailable: limit("maxUnavailable", spec.max_unavailable)?,
        always_allow_unhealthy: spec.unhealthy_pod_eviction_policy.as_deref() == Some("AlwaysAllow"),
        status: object.status.map(|status| BudgetStatus {
            observed_generation: status.observed_generation.unwrap_or_default(),
            disruptions_allowed: status.disruptions_allowed.unwrap_or_default().into(),
            current_healthy: status.current_healthy.unwrap_or_default().into(),
            desired_healthy: status.desired_healthy.unwrap_or_default().into(),
            expected_pods: status.expected_pods.unwrap_or_default().into(),
            disrupted_pods: status.disrupted_pods.unwrap_or_default().into_keys().collect(),
            sync_failed: status
                .conditions
                .unwrap_or_default()
                .into_iter()
                .find(|condition| condition.reason == "SyncFailed")
                .map(|condition| condition.message),
        }),
    })
}

pub(super) fn hpa(object: autoscaling::HorizontalPodAutoscaler) -> Result<Hpa, BadField> {
    let spec = object.spec;
    Ok(Hpa {
        meta: meta(object.metadata),
        target: (spec.scale_target_ref.kind, spec.scale_target_ref.name),
        min: int_or_none(spec.min_replicas).unwrap_or(1),
        max: spec.max_replicas.into(),
    })
}

pub(super) fn priority_class(object: scheduling::PriorityClass) -> Result<PriorityClass, BadField> {
    Ok(PriorityClass {
        meta: meta(object.metadata),
        value: object.value.unwrap_or_default().into(),
        global_default: object.global_default == Some(true),
        never_preempts: object.preemption_policy.as_deref() == Some("Never"),
    })
}

pub(super) fn quota(object: core::ResourceQuota) -> Result<ResourceQuota, BadField> {
    let status = object.status.unwrap_or_default();
    let hard = status.hard.or(object.spec.and_then(|spec| spec.hard));
    Ok(ResourceQuota { meta: meta(object.metadata), hard: resources(hard)?, used: resources(status.used)? })
}

pub(super) fn limit_range(object: core::LimitRange) -> Result<LimitRange, BadField> {
    let limits = object.spec.map(|spec| spec.limits).unwrap_or_default();
    let limits = limits.into_iter().filter_map(|item| limit(item).transpose()).collect::<Result<_, _>>()?;
    Ok(LimitRange { meta: meta(object.metadata), limits })
}

/// Amounts that are left out follow from others; the API server stores them so, files may lack them.
/// Source: `k8s.io/kubernetes/pkg/apis/core/v1/defaults.go`, `SetDefaults_LimitRangeItem`.
fn limit(item: core::LimitRangeItem) -> Result<Option<Limit>, BadField> {
    let scope = match item.type_.as_str() {
        "Container" => LimitScope::Container,
        "Pod" => LimitScope::Pod,
        _ => return Ok(None),
    };
    let mut limit = Limit {
        scope,
        default_limits: resources(item.default)?,
        default_requests: resources(item.default_request)?,
        min: resources(item.min)?,
        max: resources(item.max)?,
        max_ratio: thousandths(item.max_limit_request_ratio)?,
    };
    if scope == LimitScope::Container {
        fill(&mut limit.default_limits, &limit.max);
        fill(&mut limit.default_requests, &limit.default_limits);
        fill(&mut limit.default_requests, &limit.min);
    }
    Ok(Some(limit))
}

fn fill(amounts: &mut Resources, from: &Resources) {
    for (name, amount) in from {
        amounts.entry(name.clone()).or_insert(*amount);
    }
}

pub(super) fn validating(object: admission::ValidatingWebhookConfiguration) -> Result<WebhookConfiguration, BadField> {
    let webhooks = object.webhooks.unwrap_or_default().into_iter();
    let webhooks = webhooks
        .map(|hook| webhook(hook.name, hook.client_config, hook.failure_policy, hook.rules, hook.namespace_selector))
        .collect();
    Ok(WebhookConfiguration { meta: meta(object.metadata), webhooks })
}

pub(super) fn mutating(object: admission::MutatingWebhookConfiguration) -> Result<WebhookConfiguration, BadField> {
    let webhooks = object.webhooks.unwrap_or_default().into_iter();
    let webhooks = webhooks
        .map(|hook| webhook(hook.name, hook.client_config, hook.failure_policy, hook.rules, hook.namespace_selector))
        .collect();
    Ok(WebhookConfiguration { meta: meta(object.metadata), webhooks })
}

fn webhook(
    name: String,
    client: admission::WebhookClientConfig,
    failure_policy: Option<String>,
    rules: Option<Vec<admission::RuleWithOperations>>,
    namespaces: Option<k8s_openapi::apimachinery::pkg::apis::meta::v1::LabelSelector>,
) -> Webhook {
    let mut resources: Vec<String> =
        rules.unwrap_or_default().into_iter().flat_map(|rule| rule.resources.unwrap_or_default()).collect();
    resources.sort();
    resources.dedup();
    Webhook {
        name,
        service: client.service.map(|service| (service.namespace, service.name)),
        fails_closed: failure_policy.as_deref() != Some("Ignore"),
        resources,
        namespaces: namespaces.and_then(|selector| selector.match_labels).unwrap_or_default(),
    }
}
