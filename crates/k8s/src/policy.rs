//! Policies and settings: budgets, autoscalers, priorities, quotas, limits, webhooks, namespaces.

use std::collections::{BTreeMap, BTreeSet};

use crate::meta::Meta;
use crate::node::Resources;
use crate::percent::IntOrPercent;
use crate::selector::Selector;

/// A PodDisruptionBudget.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PodDisruptionBudget {
    /// Names, labels, generation.
    pub meta: Meta,
    /// `spec.selector`. In `policy/v1` an empty one matches every pod of the namespace, an absent one none.
    pub selector: Selector,
    /// `spec.minAvailable`.
    pub min_available: Option<IntOrPercent>,
    /// `spec.maxUnavailable`.
    pub max_unavailable: Option<IntOrPercent>,
    /// `spec.unhealthyPodEvictionPolicy: AlwaysAllow`; otherwise `IfHealthyBudget`.
    pub always_allow_unhealthy: bool,
    /// The status; `None` where a file has none.
    pub status: Option<BudgetStatus>,
}

/// `status` of a PodDisruptionBudget.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct BudgetStatus {
    /// `observedGeneration`.
    pub observed_generation: i64,
    /// `disruptionsAllowed`.
    pub disruptions_allowed: i64,
    /// `currentHealthy`.
    pub current_healthy: i64,
    /// `desiredHealthy`.
    pub desired_healthy: i64,
    /// `expectedPods`.
    pub expected_pods: i64,
    /// Names in `disruptedPods`: evictions that the controller has not seen through.
    pub disrupted_pods: BTreeSet<String>,
    /// The message of the condition `DisruptionAllowed` when its reason is `SyncFailed`.
    pub sync_failed: Option<String>,
}

/// A HorizontalPodAutoscaler.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Hpa {
    /// Names.
    pub meta: Meta,
    /// `spec.scaleTargetRef`: kind and name.
    pub target: (String, String),
    /// `spec.minReplicas`, 1 where absent.
    pub min: i64,
    /// `spec.maxReplicas`.
    pub max: i64,
}

/// A namespace.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Namespace {
    /// Names and labels. `meta.deleting` is set while it terminates.
    pub meta: Meta,
}

/// A PriorityClass.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PriorityClass {
    /// Names.
    pub meta: Meta,
    /// `value`.
    pub value: i64,
    /// `globalDefault`.
    pub global_default: bool,
    /// `preemptionPolicy: Never`.
    pub never_preempts: bool,
}

/// A ResourceQuota.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ResourceQuota {
    /// Names.
    pub meta: Meta,
    /// `status.hard`, or `spec.hard` where there is no status.
    pub hard: Resources,
    /// `status.used`.
    pub used: Resources,
}

/// A LimitRange: what the API server fills in for containers that say nothing, and what it refuses.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LimitRange {
    /// Names.
    pub meta: Meta,
    /// `spec.limits`, less those of kinds that play no part in a move.
    pub limits: Vec<Limit>,
}

/// One entry of `spec.limits`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Limit {
    /// What it limits.
    pub scope: LimitScope,
    /// `default`: limits of containers that have none.
    pub default_limits: Resources,
    /// `defaultRequest`: requests of containers that have none.
    pub default_requests: Resources,
    /// `min`.
    pub min: Resources,
    /// `max`.
    pub max: Resources,
    /// `maxLimitRequestRatio`, in thousandths.
    pub max_ratio: Resources,
}

/// `type` of a limit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum LimitScope {
    /// Each container and each init container.
    #[default]
    Container,
    /// The pod as a whole.
    Pod,
}

/// A Validating- or MutatingWebhookConfiguration.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct WebhookConfiguration {
    /// Names.
    pub meta: Meta,
    /// Its webhooks.
    pub webhooks: Vec<Webhook>,
}

/// One webhook.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Webhook {
    /// The name.
    pub name: String,
    /// Namespace and name of the Service that answers; `None` for a URL.
    pub service: Option<(String, String)>,
    /// `failurePolicy: Fail` (the default): if nobody answers, the request is denied.
    pub fails_closed: bool,
    /// Resources that it sees: `pods`, `pods/eviction`, `*`.
    pub resources: Vec<String>,
    /// `namespaceSelector`; an absent one matches all.
    pub namespaces: BTreeMap<String, String>,
}
