//! Whom the scheduler would delete for a pod of higher priority.

use serde_json::json;

use super::cluster::{ZONE, ask, pod, with};

#[test]
fn the_pod_of_lower_priority_would_go() {
    let fields = json!({"priority": 100, "nodeSelector": {ZONE: "z1"}});
    for (_, verdict) in ask(&with(pod("urgent", "3500m"), &fields), &[]) {
        let preemption = verdict.preemption.unwrap();
        assert_eq!((preemption.node.as_str(), preemption.ties.as_slice()), ("a", ["a".to_owned()].as_slice()));
        // `web-0` is reprieved: the pod fits beside it.
        assert_eq!(preemption.victims, ["default/batch"]);
        assert_eq!(preemption.candidates.len(), 1);
        assert!(verdict.message.unwrap().contains("1 Insufficient cpu"));
    }
}

#[test]
fn a_budget_is_counted_but_does_not_forbid() {
    let budget = json!({"apiVersion": "policy/v1", "kind": "PodDisruptionBudget",
        "metadata": {"name": "batch", "namespace": "default"},
        "spec": {"minAvailable": 1, "selector": {"matchLabels": {"app": "batch"}}},
        "status": {"disruptionsAllowed": 0, "currentHealthy": 1, "desiredHealthy": 1, "expectedPods": 1}});
    let fields = json!({"priority": 100, "nodeSelector": {ZONE: "z1"}});
    for (_, verdict) in ask(&with(pod("urgent", "3500m"), &fields), &[budget]) {
        let preemption = verdict.preemption.unwrap();
        assert_eq!((preemption.victims.len(), preemption.candidates[0].violations), (1, 1));
    }
}

#[test]
fn a_pod_that_never_preempts_preempts_nobody() {
    let fields = json!({"priority": 100, "nodeSelector": {ZONE: "z1"}, "preemptionPolicy": "Never"});
    for (_, verdict) in ask(&with(pod("patient", "3500m"), &fields), &[]) {
        assert_eq!(verdict.preemption, None);
    }
}
