//! What a budget allows.

use rehome_k8s::budget::{compute, ignored_for, structural};
use serde_json::{Value, json};

use crate::cluster::{budget, pod, pod_record, view, workload};

/// A StatefulSet with this many replicas, of which the first ones are ready.
fn replicas(number: i64, ready: i64) -> Vec<Value> {
    let mut objects = vec![workload("StatefulSet", "s", number, None)];
    objects.extend((0..number).map(|index| pod(&format!("s-{index}"), Some(("StatefulSet", "s")), index < ready)));
    objects
}

#[test]
fn numbers_and_percentages_round_up_and_decide_what_is_structural() {
    for (spec, number, ready, expected) in [
        // (desired, allowed, structural)
        (json!({"maxUnavailable": 1}), 3, 3, (2, 1, false)),
        (json!({"maxUnavailable": 1}), 3, 2, (2, 0, false)),
        (json!({"maxUnavailable": 0}), 3, 3, (3, 0, true)),
        (json!({"maxUnavailable": "0%"}), 3, 3, (3, 0, true)),
        (json!({"maxUnavailable": "1%"}), 3, 3, (2, 1, false)),
        (json!({"maxUnavailable": "34%"}), 3, 3, (1, 2, false)),
        (json!({"maxUnavailable": "100%"}), 3, 3, (0, 3, false)),
        (json!({"minAvailable": 3}), 3, 3, (3, 0, true)),
        (json!({"minAvailable": 2}), 3, 3, (2, 1, false)),
        (json!({"minAvailable": 2}), 3, 1, (2, 0, false)),
        (json!({"minAvailable": 1}), 1, 1, (1, 0, true)),
        (json!({"minAvailable": "50%"}), 3, 3, (2, 1, false)),
        (json!({"minAvailable": "90%"}), 3, 3, (3, 0, true)),
        (json!({"minAvailable": "100000000000%"}), 3, 3, (3_000_000_000, 0, true)),
        (json!({}), 3, 3, (0, 0, true)),
    ] {
        let view = view(&replicas(number, ready));
        let budget = budget(spec.clone());
        let status = compute(&view, &budget);
        let found = (status.desired_healthy, status.disruptions_allowed, structural(&view, &budget));
        assert_eq!(found, expected, "{spec} with {ready} of {number} ready");
    }
}

#[test]
fn each_controller_counts_once_and_a_deployment_stands_for_its_replica_sets() {
    let mut objects = replicas(2, 2);
    objects.push(workload("Deployment", "d", 3, None));
    for set in ["old", "new"] {
        objects.push(workload("ReplicaSet", set, 2, Some(("Deployment", "d"))));
        for index in 0..2 {
            objects.push(pod(&format!("{set}-{index}"), Some(("ReplicaSet", set)), true));
        }
    }
    let view = view(&objects);
    let status = compute(&view, &budget(json!({"maxUnavailable": 1})));
    assert_eq!((status.expected_pods, status.desired_healthy, status.disruptions_allowed), (5, 4, 2));
}

#[test]
fn bare_pods_count_for_a_number_only() {
    let view = view(&[pod("x", None, true), pod("y", None, true)]);
    let allowed = |spec: Value| {
        let budget = budget(spec);
        (compute(&view, &budget).disruptions_allowed, structural(&view, &budget))
    };
    assert_eq!(allowed(json!({"minAvailable": 1})), (1, false));
    assert_eq!(allowed(json!({"minAvailable": "50%"})), (0, true));
    assert_eq!(allowed(json!({"maxUnavailable": 1})), (0, true));
}

#[test]
fn pods_on_their_way_out_do_not_hide_that_a_budget_never_allows() {
    let mut objects = replicas(1, 1);
    let mut leaving = pod("s-old", Some(("StatefulSet", "s")), true);
    leaving["metadata"]["deletionTimestamp"] = json!("2026-01-01T00:00:00Z");
    objects.push(leaving);
    let view = view(&objects);
    let budget = budget(json!({"minAvailable": 1}));
    assert_eq!(compute(&view, &budget).current_healthy, 1);
    assert!(structural(&view, &budget));
}

/// An operator marks one pod of a set, say `role: primary`, and gives that pod a budget of its own.
#[test]
fn a_label_that_no_template_has_stays_on_the_pods_that_have_it() {
    let mut objects = replicas(3, 3);
    for replica in ["s-1", "s-2"] {
        let pod = objects.iter_mut().find(|object| object["metadata"]["name"] == replica).unwrap();
        pod["metadata"]["labels"] = json!({"role": "replica"});
    }
    let view = view(&objects);
    let found = |spec: Value| {
        let budget = budget(spec);
        (compute(&view, &budget).disruptions_allowed, structural(&view, &budget))
    };
    assert_eq!(found(json!({"minAvailable": 1})), (0, true));
    assert_eq!(found(json!({"maxUnavailable": 1})), (0, true), "two of three are wanted, and one is counted");
    // A template with the label makes all three count, even while one of them is not there yet.
    objects[0]["spec"]["template"] = json!({"metadata": {"labels": {"app": "web"}}});
    objects.retain(|object| object["metadata"]["labels"]["role"].is_null());
    let view = crate::cluster::view(&objects);
    assert!(!structural(&view, &budget(json!({"minAvailable": 1}))));
}

#[test]
fn controllers_without_a_scale_fail_the_budget_and_unseen_ones_are_stood_for_by_their_pods() {
    let daemons = view(&[
        json!({"apiVersion": "apps/v1", "kind": "DaemonSet", "metadata": {"name": "d", "namespace": "a", "uid": "d"}}),
        pod("d-x", Some(("DaemonSet", "d")), true),
    ]);
    let one = budget(json!({"maxUnavailable": 1}));
    let status = compute(&daemons, &one);
    assert_eq!(status.disruptions_allowed, 0);
    assert_eq!(status.sync_failed.as_deref(), Some("daemonsets.apps does not implement the scale subresource"));
    assert!(structural(&daemons, &one));
    assert_eq!(compute(&daemons, &budget(json!({"minAvailable": 0}))).disruptions_allowed, 1);

    let custom = view(&[pod("pg-1", Some(("Cluster", "pg")), true), pod("pg-2", Some(("Cluster", "pg")), true)]);
    assert_eq!(compute(&custom, &one).disruptions_allowed, 1);
}

#[test]
fn pending_finished_and_terminating_pods_are_not_asked_for() {
    let mut object = pod("p", None, true);
    assert!(!ignored_for(&pod_record(&object)));
    for phase in ["Pending", "Succeeded", "Failed"] {
        object["status"]["phase"] = json!(phase);
        assert!(ignored_for(&pod_record(&object)), "{phase}");
    }
}
