//! The filters that look at a node, and at what its pods hold: one table each.

use crate::cluster::{model, node, on, pod, record, says, view};
use rehome_sched::Chance;
use serde_json::{Value, json};

/// What one node says to pods whose specs differ.
fn table(node_more: Value, pods: &[(Value, &str)]) {
    let view = view(&[node("n", node_more)]);
    for (spec, expected) in pods {
        assert_eq!(says(&view, &pod("p", json!({"spec": spec})), "n"), *expected, "{spec}");
    }
}

#[test]
fn node_unschedulable() {
    let no = "NodeUnschedulable: node(s) were unschedulable";
    table(
        json!({"spec": {"unschedulable": true}}),
        &[
            (json!({}), no),
            (json!({"tolerations": [{"key": "node.kubernetes.io/unschedulable", "operator": "Exists"}]}), ""),
            (json!({"tolerations": [{"operator": "Exists"}]}), ""),
            (json!({"tolerations": [{"operator": "Exists", "effect": "NoExecute"}]}), no),
            (json!({"tolerations": [{"key": "other", "operator": "Exists"}]}), no),
        ],
    );
}

#[test]
fn taint_toleration() {
    let no = "TaintToleration: node(s) had untolerated taint(s)";
    table(
        json!({"spec": {"taints": [
            {"key": "soft", "effect": "PreferNoSchedule"},
            {"key": "pool", "value": "gpu", "effect": "NoSchedule"}
        ]}}),
        &[
            (json!({}), no),
            (json!({"tolerations": [{"key": "pool", "value": "gpu", "effect": "NoSchedule"}]}), ""),
            (json!({"tolerations": [{"key": "pool", "value": "cpu"}]}), no),
            (json!({"tolerations": [{"key": "pool", "operator": "Exists", "effect": "NoExecute"}]}), no),
        ],
    );
    table(json!({"spec": {"taints": [{"key": "soft", "effect": "PreferNoSchedule"}]}}), &[(json!({}), "")]);
    table(json!({"spec": {"taints": [{"key": "hard", "effect": "NoExecute"}]}}), &[(json!({}), no)]);
}

#[test]
fn node_affinity() {
    let no = "NodeAffinity: node(s) didn't match Pod's node affinity/selector";
    let required = |terms: Value| {
        json!({"affinity": {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution":
            {"nodeSelectorTerms": terms}}}})
    };
    let expression = |key: &str, operator: &str, values: Value| json!([{"matchExpressions": [{"key": key, "operator": operator, "values": values}]}]);
    table(
        json!({"metadata": {"labels": {"pool": "old", "size": "8"}}}),
        &[
            (json!({"nodeSelector": {"pool": "old"}}), ""),
            (json!({"nodeSelector": {"pool": "new"}}), no),
            (json!({"nodeSelector": {"pool": "old", "dead": "x"}}), no),
            (required(expression("pool", "In", json!(["new", "old"]))), ""),
            (required(expression("pool", "NotIn", json!(["old"]))), no),
            (required(expression("absent", "NotIn", json!(["old"]))), ""),
            (required(expression("size", "Gt", json!(["7"]))), ""),
            (required(expression("size", "Lt", json!(["8"]))), no),
            (required(expression("absent", "DoesNotExist", json!([]))), ""),
            (required(json!([{"matchFields": [{"key": "metadata.name", "operator": "In", "values": ["n"]}]}])), ""),
            // Other nodes than those that are named are not even looked at.
            (
                required(json!([{"matchFields": [{"key": "metadata.name", "operator": "In", "values": ["m"]}]}])),
                "NodeAffinity: node(s) didn't satisfy plugin(s) [NodeAffinity]",
            ),
            // An empty term matches no node; one of several terms is enough.
            (required(json!([{}])), no),
            (required(json!([{}, {"matchExpressions": [{"key": "pool", "operator": "Exists"}]}])), ""),
        ],
    );
}

#[test]
fn node_ports() {
    let port = |ip: &str, protocol: &str, number: i32| json!([{"name": "c", "ports": [{"containerPort": 80, "hostPort": number, "hostIP": ip, "protocol": protocol}]}]);
    let holder = |more: Value| pod("holder", json!({"spec": more, "status": {"phase": "Running"}}));
    let view = view(&[
        node("n", json!({})),
        holder(json!({"nodeName": "n", "containers": port("10.0.0.1", "TCP", 443)})),
        pod(
            "gone",
            json!({"spec": {"nodeName": "n", "containers": port("", "TCP", 80)}, "status": {"phase": "Succeeded"}}),
        ),
    ]);
    let no = "NodePorts: node(s) didn't have free ports for the requested pod ports";
    for (ip, protocol, number, expected) in [
        ("10.0.0.1", "TCP", 443, no),
        ("", "TCP", 443, no),
        ("0.0.0.0", "TCP", 443, no),
        ("10.0.0.2", "TCP", 443, ""),
        ("10.0.0.1", "UDP", 443, ""),
        ("10.0.0.1", "TCP", 444, ""),
        ("", "TCP", 80, ""),
    ] {
        let wants = pod("p", json!({"spec": {"containers": port(ip, protocol, number)}}));
        assert_eq!(says(&view, &wants, "n"), expected, "{ip} {protocol} {number}");
    }
    // A pod that is in the view already does not clash with itself.
    assert_eq!(says(&view, &holder(json!({"containers": port("", "TCP", 443)})), "n"), "");
}

fn asks(requests: Value) -> Value {
    json!({"containers": [{"name": "c", "resources": {"requests": requests}}]})
}

#[test]
fn node_resources_fit() {
    let mut objects = vec![node("n", json!({"status": {"allocatable": {"pods": "3"}}}))];
    objects
        .push(pod("big", json!({"spec": {"nodeName": "n", "containers": asks(json!({"cpu": "3"}))["containers"]}, "status": {"phase": "Running"}})));
    // Terminating pods still hold what they ask for, finished ones do not.
    objects.push(pod(
        "leaving",
        json!({"metadata": {"deletionTimestamp": "2026-01-01T00:00:00Z"}, "spec": {"nodeName": "n", "containers": asks(json!({"memory": "6Gi"}))["containers"]}, "status": {"phase": "Running"}}),
    ));
    objects.push(pod(
        "done",
        json!({"spec": {"nodeName": "n", "containers": asks(json!({"cpu": "4"}))["containers"]}, "status": {"phase": "Failed"}}),
    ));
    let view = view(&objects);
    for (requests, expected) in [
        (json!({}), ""),
        (json!({"cpu": "1", "memory": "2Gi"}), ""),
        (json!({"cpu": "1001m"}), "NodeResourcesFit: Insufficient cpu"),
        (json!({"cpu": "2", "memory": "3Gi"}), "NodeResourcesFit: Insufficient cpu, Insufficient memory"),
        (json!({"nvidia.com/gpu": "1"}), "NodeResourcesFit: Insufficient nvidia.com/gpu"),
        (json!({"nvidia.com/gpu": "0"}), ""),
    ] {
        assert_eq!(says(&view, &pod("p", json!({"spec": asks(requests.clone())})), "n"), expected, "{requests}");
    }
    assert_eq!(says(&view, &pod("big", json!({"spec": asks(json!({"cpu": "4"}))})), "n"), "");

    let mut full = view.clone();
    full.insert(rehome_k8s::Record::Pod(std::sync::Arc::new(record(&on("third", "n", json!({}))))));
    assert_eq!(
        says(&full, &pod("p", json!({"spec": asks(json!({"cpu": "2"}))})), "n"),
        "NodeResourcesFit: Too many pods, Insufficient cpu"
    );
    let wants = record(&pod("p", json!({"spec": asks(json!({"cpu": "4"}))})));
    assert_eq!(model(&full).verdict_on_empty(&wants, "n"), Ok(()));
}

#[test]
fn the_first_plugin_that_rejects_is_reported_and_the_sentence_counts_reasons() {
    let view = view(&[
        node("cordoned", json!({"spec": {"unschedulable": true, "taints": [{"key": "x", "effect": "NoSchedule"}]}})),
        node("small", json!({"status": {"allocatable": {"cpu": "1", "memory": "1Gi"}}})),
        node("small-too", json!({"status": {"allocatable": {"cpu": "1"}}})),
        node("tainted", json!({"spec": {"taints": [{"key": "x", "effect": "NoSchedule"}]}})),
    ]);
    let wants = record(&pod("p", json!({"spec": asks(json!({"cpu": "2", "memory": "2Gi"}))})));
    let refused = model(&view).choose(&wants, &mut Chance::new(0)).unwrap_err();
    assert_eq!(
        refused.message,
        "0/4 nodes are available: 1 Insufficient memory, 1 node(s) had untolerated taint(s), \
         1 node(s) were unschedulable, 2 Insufficient cpu."
    );
    assert_eq!(refused.reasons["Insufficient cpu"], 2);
    let nothing = rehome_k8s::View::default();
    let refused = model(&nothing).choose(&wants, &mut Chance::new(0)).unwrap_err();
    assert_eq!(refused.message, "no nodes available to schedule pods");
}
