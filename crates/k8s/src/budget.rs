//! PodDisruptionBudget arithmetic.
//!
//! Source: `k8s.io/kubernetes/pkg/controller/disruption` (`getExpectedPodCount`, `countHealthyPods`,
//! `updatePdbStatus`) and `registry/core/pod/storage/eviction.go`.

use std::collections::BTreeSet;
use std::sync::Arc;

use rehome_model::{Known, Uid};

use crate::meta::Key;
use crate::percent::IntOrPercent;
use crate::pod::{Phase, Pod};
use crate::policy::{BudgetStatus, PodDisruptionBudget};
use crate::record::{Kind, Record};
use crate::view::View;

/// The budgets that select a pod.
#[must_use]
pub fn of_pod<'v>(view: &'v View, pod: &Pod) -> Known<Vec<&'v Arc<PodDisruptionBudget>>> {
    of_labels(view, &pod.meta.namespace, &pod.meta.labels)
}

/// The budgets that select a pod with these labels in this namespace.
#[must_use]
pub fn of_labels<'v>(
    view: &'v View,
    namespace: &str,
    labels: &std::collections::BTreeMap<String, String>,
) -> Known<Vec<&'v Arc<PodDisruptionBudget>>> {
    if let Some(gap) = view.gap(Kind::PodDisruptionBudget) {
        return Known::Unknown(gap.clone());
    }
    let budgets = view.in_namespace(Kind::PodDisruptionBudget, namespace);
    let budgets =
        budgets.filter_map(|record| if let Record::PodDisruptionBudget(budget) = record { Some(budget) } else { None });
    Known::Known(budgets.filter(|budget| budget.selector.matches(labels)).collect())
}

/// The pods that a budget selects.
pub fn pods<'v>(view: &'v View, budget: &'v PodDisruptionBudget) -> impl Iterator<Item = &'v Arc<Pod>> {
    view.pods_matching(&budget.meta.namespace, &budget.selector).into_iter()
}

/// The status that the disruption controller would write for what the view holds.
///
/// Expected pods come from the scale of the pods' controllers, each counted once; for `minAvailable` as a number they
/// are simply the pods that it selects.
#[must_use]
pub fn compute(view: &View, budget: &PodDisruptionBudget) -> BudgetStatus {
    let disrupted = budget.status.as_ref().map(|status| status.disrupted_pods.clone()).unwrap_or_default();
    let selected: Vec<_> = pods(view, budget).collect();
    let healthy = selected
        .iter()
        .filter(|pod| pod.meta.deleting.is_none() && pod.ready && !disrupted.contains(&pod.meta.name))
        .count();
    let current_healthy = count(healthy);
    let scale = expected_by_scale(view, &selected);
    let known = scale.clone().unwrap_or_default();
    let (expected, desired, by_scale) = match (budget.max_unavailable, budget.min_available) {
        (Some(max), _) => (known, known.saturating_sub(max.of_rounded_up(known)).max(0), true),
        (None, Some(IntOrPercent::Int(min))) => {
            // Finished and terminating pods are still selected, as the controller's lister does.
            (count(selected.len()), min, false)
        }
        (None, Some(min)) => (known, min.of_rounded_up(known), true),
        (None, None) => (0, 0, false),
    };
    let sync_failed = scale.err().filter(|_| by_scale);
    let allowed = if expected <= 0 { 0 } else { current_healthy.saturating_sub(desired).max(0) };
    BudgetStatus {
        observed_generation: budget.meta.generation,
        disruptions_allowed: allowed,
        current_healthy,
        desired_healthy: desired,
        expected_pods: expected,
        disrupted_pods: disrupted,
        sync_failed,
    }
}

/// The budget's own status, or what it would be where a file has none.
#[must_use]
pub fn status(view: &View, budget: &PodDisruptionBudget) -> BudgetStatus {
    budget.status.clone().unwrap_or_else(|| compute(view, budget))
}

/// How many pods the controllers of these pods are asked to keep, each controller counted once.
///
/// Bare pods count for nothing. A controller that the view does not hold (a custom resource) may have a scale of its
/// own: its pods stand for it.
///
/// # Errors
/// The controller's sentence about a controller that has no scale: the budget is never computed.
fn expected_by_scale(view: &View, pods: &[&Arc<Pod>]) -> Result<i64, String> {
    let mut seen = BTreeSet::new();
    let mut expected: i64 = 0;
    for pod in pods {
        let Some(controller) = &pod.meta.controller else { continue };
        let Some(record) = scaled_by(view, &controller.uid) else {
            expected = expected.saturating_add(i64::from(!pod.finished() && pod.meta.deleting.is_none()));
            continue;
        };
        if matches!(record.kind(), Kind::DaemonSet | Kind::Job | Kind::CronJob) {
            let kind = record.kind();
            let group = kind.api_version().split('/').next().unwrap_or_default();
            return Err(format!("{}.{group} does not implement the scale subresource", kind.plural()));
        }
        if seen.insert(record.meta().uid.clone()) {
            let replicas = record.as_workload().and_then(|workload| workload.replicas).unwrap_or(0);
            expected = expected.saturating_add(replicas);
        }
    }
    Ok(expected)
}

/// The workload whose scale counts for pods of this controller; none for what the view does not hold.
fn scaled_by<'v>(view: &'v View, controller: &Uid) -> Option<&'v Record> {
    let record = view.by_uid(controller).filter(|record| record.kind().is_workload())?;
    if record.kind() != Kind::ReplicaSet {
        return Some(record);
    }
    let above = record.meta().controller.as_ref().and_then(|above| view.by_uid(&above.uid));
    Some(above.filter(|above| above.kind() == Kind::Deployment).unwrap_or(record))
}

/// How many pods a budget selects once everything is as its controllers want it. A label that no template has (the role
/// that an operator gives to one pod of a set) stays on as many pods as have it now, however large the set is.
fn stay_selected(view: &View, budget: &PodDisruptionBudget, living: &[&Arc<Pod>]) -> i64 {
    let mut seen = BTreeSet::new();
    let mut stay: i64 = 0;
    for pod in living {
        let workload = pod.meta.controller.as_ref().and_then(|controller| scaled_by(view, &controller.uid));
        let workload = workload.and_then(Record::as_workload);
        let more = match workload.filter(|workload| budget.selector.matches(&workload.template.labels)) {
            Some(workload) if seen.insert(&workload.meta.uid) => workload.replicas.unwrap_or(0),
            Some(_) => 0,
            None => 1,
        };
        stay = stay.saturating_add(more);
    }
    stay
}

/// Whether a budget can never allow a disruption of the pods that it selects while all of them are healthy: waiting
/// will not help. One that selects no living pod blocks nothing.
#[must_use]
pub fn structural(view: &View, budget: &PodDisruptionBudget) -> bool {
    let living: Vec<_> = pods(view, budget).filter(|pod| !pod.finished() && pod.meta.deleting.is_none()).collect();
    if living.is_empty() {
        return false;
    }
    let status = compute(view, budget);
    if status.sync_failed.is_some() {
        return true;
    }
    // A surge or a pod on its way out lets more pods be selected than will stay.
    let stay = stay_selected(view, budget, &living);
    status.expected_pods <= 0 || status.desired_healthy >= stay
}

fn count(number: usize) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}

/// What the eviction endpoint checks of a pod before it asks a budget.
/// Source: `eviction.go`, `canIgnorePDB`: Pending, finished and terminating pods are deleted without a budget.
#[must_use]
pub fn ignored_for(pod: &Pod) -> bool {
    matches!(pod.phase, Phase::Pending | Phase::Succeeded | Phase::Failed) || pod.meta.deleting.is_some()
}

/// The budget of a namespace by name.
#[must_use]
pub fn get<'v>(view: &'v View, key: &Key) -> Option<&'v Arc<PodDisruptionBudget>> {
    match view.get(Kind::PodDisruptionBudget, key)? {
        Record::PodDisruptionBudget(budget) => Some(budget),
        _ => None,
    }
}
