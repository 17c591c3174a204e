//! What if: nodes drained, lost and added; and pods pushed out for a more important one. The cluster stays as it was.

use std::sync::Arc;

use rehome_k8s::View;
use rehome_k8s::pod::Pod;
use serde_json::{Value, json};

use crate::cluster::{model, node, pod, record, view};

/// A pod that asks for this much cpu, with a priority, on a node or on none.
fn asks(name: &str, cpu: &str, priority: i64, on: Option<&str>) -> Value {
    let mut pod = pod(
        name,
        json!({
            "metadata": {"labels": {"app": name}},
            "spec": {"priority": priority, "containers": [{"name": "c", "resources": {"requests": {"cpu": cpu}}}]}
        }),
    );
    if let Some(node) = on {
        pod["spec"]["nodeName"] = json!(node);
        pod["status"] = json!({"phase": "Running", "startTime": "2026-01-01T00:00:00Z"});
    }
    pod
}

fn names(pods: &[Arc<Pod>]) -> Vec<&str> {
    pods.iter().map(|pod| pod.meta.name.as_str()).collect()
}

/// Two nodes of four cores: `a` holds three pods of one core, `b` has this much in use.
fn half(in_use: &str) -> View {
    let mut objects = vec![node("a", json!({})), node("b", json!({})), asks("big", in_use, 0, Some("b"))];
    objects.extend(["x", "y", "z"].map(|name| asks(name, "1", 0, Some("a"))));
    view(&objects)
}

#[test]
fn a_node_is_drainable_if_the_others_have_room_for_each_of_its_pods() {
    let mut roomy = model(&half("1"));
    let answer = roomy.drainable("a", 1);
    assert!(answer.all_fit() && answer.placed.iter().all(|(_, node)| node == "b"));
    assert_eq!(roomy.used("a")["cpu"], 3000, "it is as it was");
    assert_eq!(roomy.used("b")["cpu"], 1000);

    let mut full = model(&half("2"));
    let answer = full.drainable("a", 1);
    assert_eq!((answer.placed.len(), answer.homeless.len()), (2, 1));
    let refused = &answer.homeless[0].1;
    assert_eq!(refused.message, "0/2 nodes are available: 1 Insufficient cpu, 1 node(s) were unschedulable.");
    assert!(full.feasible(&record(&asks("w", "1", 0, None))).iter().any(|node| node.name() == "a"), "not cordoned");
}

#[test]
fn what_daemon_sets_and_static_pods_hold_ends_with_the_node() {
    let mut agent = asks("agent", "1", 0, Some("a"));
    agent["metadata"]["ownerReferences"] =
        json!([{"apiVersion": "apps/v1", "kind": "DaemonSet", "name": "agent", "uid": "1", "controller": true}]);
    let view = view(&[node("a", json!({})), node("b", json!({})), agent, asks("x", "1", 0, Some("a"))]);
    let mut model = model(&view);
    let answer = model.what_if(&[], &["a".to_owned()], 1);
    assert_eq!(names(&answer.ended), ["agent"]);
    assert_eq!(answer.placed.len(), 1);
    assert_eq!(model.nodes().count(), 2);
    assert_eq!(model.used("a")["cpu"], 2000);
}

#[test]
fn a_node_that_is_added_takes_what_a_lost_one_leaves() {
    let cluster = half("4");
    let mut model = model(&cluster);
    assert_eq!(model.what_if(&[], &["a".to_owned()], 1).homeless.len(), 3);
    let spare = view(&[node("c", json!({}))]);
    let spare = Arc::clone(spare.node("c").unwrap());
    let answer = model.what_if(&[(spare, None)], &["a".to_owned()], 1);
    assert!(answer.all_fit() && answer.placed.iter().all(|(_, node)| node == "c"));
    assert_eq!(model.nodes().map(|node| node.name()).collect::<Vec<_>>(), ["a", "b"]);
}

#[test]
fn the_least_important_are_pushed_out_and_no_more_of_them_than_needed() {
    let view = view(&[
        node("a", json!({})),
        asks("high", "1", 50, Some("a")),
        asks("low", "1", 1, Some("a")),
        asks("lower", "1", 0, Some("a")),
        asks("equal", "1", 100, Some("a")),
    ]);
    let mut model = model(&view);
    let found = model.preempt(&record(&asks("p", "1", 100, None))).unwrap();
    assert_eq!((found.node.as_str(), names(&found.victims), found.violations), ("a", vec!["lower"], 0));
    assert_eq!(model.preempt(&record(&asks("p", "4", 100, None))), None, "an equal is not pushed out");
    assert_eq!(model.preempt(&record(&asks("p", "5", 200, None))), None, "the node is too small");
    let mut never = asks("p", "1", 100, None);
    never["spec"]["preemptionPolicy"] = json!("Never");
    assert_eq!(model.preempt(&record(&never)), None);
    assert_eq!(model.used("a")["cpu"], 4000, "it is as it was");
}

#[test]
fn a_budget_is_honoured_where_another_node_or_pod_will_do() {
    let budget = |app: &str, allowed: i64| {
        json!({"apiVersion": "policy/v1", "kind": "PodDisruptionBudget", "metadata": {"name": app, "namespace": "a"},
            "spec": {"selector": {"matchLabels": {"app": app}}}, "status": {"disruptionsAllowed": allowed,
            "currentHealthy": 1, "desiredHealthy": 1, "expectedPods": 1}})
    };
    let mut objects = vec![
        node("a", json!({})),
        node("b", json!({})),
        asks("guarded", "4", 0, Some("a")),
        asks("free", "4", 5, Some("b")),
        budget("guarded", 0),
    ];
    let found = model(&view(&objects)).preempt(&record(&asks("p", "4", 100, None))).unwrap();
    assert_eq!((found.node.as_str(), found.violations), ("b", 0), "although its pod is more important");
    objects.remove(3);
    objects.remove(1);
    let found = model(&view(&objects)).preempt(&record(&asks("p", "4", 100, None))).unwrap();
    assert_eq!((found.node.as_str(), found.violations), ("a", 1), "best effort only");
}
