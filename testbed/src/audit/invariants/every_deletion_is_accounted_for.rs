//! `every-deletion-is-accounted-for`: whoever put a pod on its way out while the run was under way, the plan says so: the
//! run itself in a step that takes this workload off this node, or the ReplicaSet controller in a restart of the plan.
//! A taint manager, a preempting scheduler, a person, a test: all others are named.

use rehome_model::journal::Event;
use rehome_model::request::Request;
use rehome_model::verb::Verb;

use super::{Evidence, Found};
use crate::audit::evidence::{Disruption, takes_off};

/// The end of the name under which the controller that scales ReplicaSets acts.
/// Source: `k8s.io/kubernetes/cmd/kube-controller-manager/app/apps.go`: one service account per controller.
const REPLICA_SET_CONTROLLER: &str = "replicaset-controller";

pub(super) fn find(evidence: &Evidence<'_>) -> Vec<Found> {
    evidence
        .disruptions()
        .filter_map(|disruption| {
            let wrong = unaccounted(evidence, &disruption)?;
            let Disruption { pod, deletion, node, workload, .. } = &disruption;
            let message =
                format!("{} (uid {}) of {workload} on {node}, deleted by {}: {wrong}", pod.pod, pod.uid, deletion.by);
            Some((deletion.received, message))
        })
        .collect()
}

/// Why the plan does not account for it; `None` if it does.
fn unaccounted(evidence: &Evidence<'_>, disruption: &Disruption<'_>) -> Option<String> {
    let Disruption { pod, deletion, node, workload, .. } = disruption;
    if disruption.by_us {
        let Some(intent) = evidence.intent(&deletion.audit_id) else {
            return Some(format!("expected an intent with the Audit-ID {}, found none", deletion.audit_id));
        };
        let same =
            matches!(intent.request, Request::Evict { uid, .. } | Request::Delete { uid, .. } if *uid == pod.uid);
        if !same {
            return Some(format!("expected what the journal announced ({})", intent.request));
        }
        let Some(step) = evidence.plan.step(intent.step) else {
            return Some(format!("expected the step {} in the plan, found none", intent.step));
        };
        return (!takes_off(step, workload, node))
            .then(|| format!("expected a step that takes it off this node, found {}", step.name));
    }
    if landed_unanswered(evidence, disruption) {
        return None;
    }
    if !deletion.by.ends_with(REPLICA_SET_CONTROLLER) {
        return Some("expected the run or a rollout of the plan, found somebody else".to_owned());
    }
    let restarts = evidence
        .plan
        .steps()
        .filter(|step| matches!(&step.verb, Verb::Restart(restart) if restart.lineage.workload == *workload));
    let mut under_way = restarts.filter(|step| evidence.under_way(&step.name, deletion.received));
    under_way.next().is_none().then(|| "expected a restart of the plan that was under way, found none".to_owned())
}

/// Whether it is the end of a request of ours that lost its client: the process was killed while the server worked on
/// it, and the log shows no success for the request although it has landed (seen on 1.37.2: only the kubelet's part of
/// the deletion was logged). The journal announced it for this very incarnation before, and a fresh read found afterwards
/// that it had landed.
fn landed_unanswered(evidence: &Evidence<'_>, disruption: &Disruption<'_>) -> bool {
    let Disruption { pod, deletion, node, workload, .. } = disruption;
    let landed = |seq: u64| {
        evidence.journal.iter().any(|r| matches!(r.event, Event::Reread { intent, landed: true } if intent == seq))
    };
    evidence.intents().any(|intent| {
        let names =
            matches!(intent.request, Request::Evict { uid, .. } | Request::Delete { uid, .. } if *uid == pod.uid);
        let step = evidence.plan.step(intent.step);
        names
            && intent.at <= deletion.received
            && landed(intent.seq)
            && step.is_some_and(|s| takes_off(s, workload, node))
    })
}

#[cfg(test)]
mod tests {
    use crate::audit::invariants::cases::{Case, RS_CONTROLLER};
    use rehome_model::journal::Event;
    use rehome_model::request::Request;

    const NAME: &str = "every-deletion-is-accounted-for";

    #[test]
    fn a_deletion_by_somebody_else_on_a_source_node_fails_and_elsewhere_it_passes() {
        let mut case = Case::good();
        case.pod("other-1", "Deployment/other", "old-2");
        case.pod("other-2", "Deployment/other", "new-1");
        case.delete("other-2", "somebody");
        assert_eq!(case.broken(), "");
        case.delete("other-1", "system:serviceaccount:kube-system:taint-eviction-controller");
        assert_eq!(case.broken(), NAME);
    }

    #[test]
    fn a_rollout_that_is_no_restart_of_the_plan_fails() {
        let mut case = Case::good();
        case.pod("other-1", "Deployment/other", "old-2");
        case.delete("other-1", RS_CONTROLLER);
        assert_eq!(case.broken(), NAME);
    }

    #[test]
    fn a_rollout_outside_of_its_step_fails() {
        let mut case = Case::good();
        let done = case
            .journal
            .iter_mut()
            .find(|r| matches!(&r.event, Event::StepStarted { step, .. } if step == "restart/api"));
        done.unwrap().event = Event::Interrupted {};
        assert_eq!(case.broken(), NAME);
    }

    #[test]
    fn an_eviction_from_a_node_that_the_step_does_not_name_fails() {
        let mut case = Case::good();
        case.plan_evict().off = vec!["old-2".to_owned()];
        assert_eq!(case.broken(), NAME);
    }

    #[test]
    fn a_finished_pod_may_be_cleaned_up() {
        let mut case = Case::good();
        case.pod("job-1", "Job/job", "old-2");
        case.finish("job-1");
        case.delete("job-1", "system:serviceaccount:kube-system:ttl-after-finished-controller");
        assert_eq!(case.broken(), "");
    }

    #[test]
    fn a_request_that_the_log_shows_as_failed_is_accounted_for_only_if_a_read_found_it_landed() {
        let mut case = Case::good();
        let failed = case.request_of("web-1").clone();
        let received = failed.stage_timestamp;
        *case.request_of("web-1") = failed.answer(received, 504, None);
        case.delete("web-1", "kwok");
        assert!(case.broken().contains(NAME), "{}", case.broken());
        let names = |event: &Event| matches!(event, Event::Intent { request: Request::Evict { pod, .. }, .. } if pod.name == "web-1");
        let intent = case.journal.iter().find(|record| names(&record.event)).unwrap().seq;
        let answer = case.answer_to(intent);
        case.journal[answer].event = Event::Reread { intent, landed: false };
        assert!(case.broken().contains(NAME), "{}", case.broken());
        case.journal[answer].event = Event::Reread { intent, landed: true };
        assert!(!case.broken().contains(NAME), "{}", case.broken());
    }
}
