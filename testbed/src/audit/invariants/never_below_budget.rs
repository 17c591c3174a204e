//! `never-below-budget`: no deletion of a healthy pod leaves fewer healthy pods than its PodDisruptionBudgets ask for,
//! unless the plan names the operator's consent.

use rehome_model::verb::Verb;

use super::{Evidence, Found};
use crate::audit::evidence::Disruption;

pub(super) fn find(evidence: &Evidence<'_>) -> Vec<Found> {
    evidence
        .disruptions()
        .filter(|disruption| !consented(evidence, disruption))
        .flat_map(|disruption| below(evidence, &disruption))
        .collect()
}

fn consented(evidence: &Evidence<'_>, disruption: &Disruption<'_>) -> bool {
    let step = evidence.intent(&disruption.deletion.audit_id).and_then(|intent| evidence.plan.step(intent.step));
    disruption.by_us && step.is_some_and(|step| matches!(step.verb, Verb::Delete(_)))
}

fn below(evidence: &Evidence<'_>, disruption: &Disruption<'_>) -> Vec<Found> {
    let Disruption { pod, deletion, .. } = disruption;
    let at = deletion.at;
    let healthy_before = pod.ready.iter().any(|interval| interval.from <= at && interval.to.is_none_or(|to| at <= to));
    if !healthy_before {
        // It was not counted as healthy, so its going takes nothing from the budget.
        return Vec::new();
    }
    let namespace = pod.pod.namespace.clone().unwrap_or_default();
    let budgets = evidence.timeline.budgets();
    budgets
        .filter(|(key, budget)| key.namespace == namespace && budget.selector.matches(&pod.labels))
        .filter_map(|(key, budget)| {
            let desired = budget.desired_at(at)?;
            let selected = evidence.timeline.pods().filter(|other| {
                other.pod.namespace.as_ref() == Some(&namespace) && budget.selector.matches(&other.labels)
            });
            let healthy = i64::try_from(selected.filter(|other| other.serves(at)).count()).unwrap_or(i64::MAX);
            let wrong = || format!("expected at least {desired} healthy pods under budget {key}, found {healthy}");
            (healthy < desired).then(|| (at, format!("after {} was deleted by {}: {}", pod.pod, deletion.by, wrong())))
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use crate::audit::invariants::cases::{Case, RS_CONTROLLER};

    const NAME: &str = "never-below-budget";

    #[test]
    fn an_eviction_at_the_limit_passes_and_one_below_it_fails() {
        let mut case = Case::good();
        case.budget("web", "web", 1);
        assert_eq!(case.broken(), "");
        case.budget("web", "web", 2);
        assert_eq!(case.broken(), NAME);
    }

    #[test]
    fn a_rollout_below_the_budget_fails() {
        let mut case = Case::good();
        case.budget("api", "api", 2);
        assert_eq!(case.broken(), "");
        case.budget("api", "api", 3);
        assert_eq!(case.broken(), NAME);
    }

    #[test]
    fn a_consented_delete_may_go_below_and_an_eviction_of_the_same_pod_may_not() {
        let mut case = Case::good();
        case.budget("db", "db", 1);
        assert_eq!(case.broken(), "");
        case.plan_without_consent();
        assert_eq!(case.broken(), NAME);
    }

    #[test]
    fn a_pod_that_was_not_ready_takes_nothing_from_the_budget() {
        let mut case = Case::good();
        case.budget("other", "other", 1);
        case.unready_pod("other-1", "Deployment/other", "old-2");
        case.pod("other-2", "Deployment/other", "new-1");
        case.delete("other-1", RS_CONTROLLER);
        assert!(!case.broken().contains(NAME));
    }
}
