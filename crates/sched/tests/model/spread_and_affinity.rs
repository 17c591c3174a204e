//! The filters that count pods over domains.

use crate::cluster::{fits, node, on, pod, says, view, zoned};
use serde_json::{Value, json};

const ZONE: &str = "topology.kubernetes.io/zone";

/// A pod labelled `app: web` with one hard zone constraint; `more` is laid over the constraint.
fn spread(more: Value) -> Value {
    let mut constraint = json!({"topologyKey": ZONE, "maxSkew": 1, "whenUnsatisfiable": "DoNotSchedule",
        "labelSelector": {"matchLabels": {"app": "web"}}});
    if let (Some(constraint), Value::Object(more)) = (constraint.as_object_mut(), more) {
        constraint.extend(more);
    }
    pod(
        "p",
        json!({"metadata": {"labels": {"app": "web", "hash": "new"}}, "spec": {"topologySpreadConstraints": [constraint]}}),
    )
}

#[test]
fn skew_counts_the_pod_itself_and_terminating_pods_not() {
    let web = json!({"app": "web"});
    let mut leaving = on("w2", "n2", web.clone());
    leaving["metadata"]["deletionTimestamp"] = json!("2026-01-01T00:00:00Z");
    let mut elsewhere = on("w3", "n2", web.clone());
    elsewhere["metadata"]["namespace"] = json!("b");
    let cluster =
        view(&[zoned("n1", "z1"), zoned("n2", "z2"), node("bare", json!({})), on("w1", "n1", web), leaving, elsewhere]);
    assert_eq!(fits(&cluster, &spread(json!({}))), ["n2"]);
    assert_eq!(
        says(&cluster, &spread(json!({})), "n1"),
        "PodTopologySpread: node(s) didn't match pod topology spread constraints"
    );
    assert_eq!(
        says(&cluster, &spread(json!({})), "bare"),
        "PodTopologySpread: node(s) didn't match pod topology spread constraints (missing required label)"
    );
    assert_eq!(fits(&cluster, &spread(json!({"maxSkew": 2}))), ["n1", "n2"]);
    assert_eq!(fits(&cluster, &spread(json!({"whenUnsatisfiable": "ScheduleAnyway"}))), ["bare", "n1", "n2"]);
    // A selector that does not match the pod itself adds nothing.
    let others = json!({"labelSelector": {"matchLabels": {"app": "other"}}});
    assert_eq!(fits(&cluster, &spread(others)), ["n1", "n2"]);
}

#[test]
fn a_cordoned_node_holds_the_minimum_at_zero_unless_taints_are_honoured() {
    let mut old = zoned("old", "z3");
    old["spec"] = json!({"taints": [{"key": "leaving", "effect": "NoSchedule"}]});
    let web = json!({"app": "web"});
    let cluster = view(&[zoned("n1", "z1"), zoned("n2", "z2"), old, on("w1", "n1", web.clone()), on("w2", "n2", web)]);
    assert!(fits(&cluster, &spread(json!({}))).is_empty());
    assert_eq!(fits(&cluster, &spread(json!({"nodeTaintsPolicy": "Honor"}))), ["n1", "n2"]);
}

#[test]
fn nodes_that_the_pod_may_not_use_are_left_out_unless_affinity_is_ignored() {
    let mut other = zoned("other", "z3");
    other["metadata"]["labels"]["pool"] = json!("other");
    let mut here = zoned("n1", "z1");
    here["metadata"]["labels"]["pool"] = json!("mine");
    let cluster = view(&[here, other, on("w1", "n1", json!({"app": "web"}))]);
    let with_pool = |more: Value| {
        let mut pod = spread(more);
        pod["spec"]["nodeSelector"] = json!({"pool": "mine"});
        pod
    };
    assert_eq!(fits(&cluster, &with_pool(json!({}))), ["n1"]);
    assert!(fits(&cluster, &with_pool(json!({"nodeAffinityPolicy": "Ignore"}))).is_empty());
}

#[test]
fn too_few_domains_count_as_an_empty_one_and_label_keys_part_old_from_new() {
    let old = json!({"app": "web", "hash": "old"});
    let cluster = view(&[zoned("n1", "z1"), zoned("n2", "z2"), on("w1", "n1", old.clone()), on("w2", "n2", old)]);
    assert_eq!(fits(&cluster, &spread(json!({"minDomains": 2}))), ["n1", "n2"]);
    assert!(fits(&cluster, &spread(json!({"minDomains": 3}))).is_empty());
    let keys = json!({"minDomains": 3, "matchLabelKeys": ["hash", "absent"]});
    assert_eq!(fits(&cluster, &spread(keys)), ["n1", "n2"]);
}

/// A pod labelled `app: web` with required terms.
fn with_terms(name: &str, kind: &str, terms: Value) -> Value {
    pod(
        name,
        json!({"metadata": {"labels": {"app": "web"}},
            "spec": {"affinity": {kind: {"requiredDuringSchedulingIgnoredDuringExecution": terms}}}}),
    )
}

fn term(app: &str, key: &str, more: Value) -> Value {
    let mut term = json!({"topologyKey": key, "labelSelector": {"matchLabels": {"app": app}}});
    if let (Some(term), Value::Object(more)) = (term.as_object_mut(), more) {
        term.extend(more);
    }
    json!([term])
}

#[test]
fn affinity_wants_company_and_the_first_of_a_group_may_land_anywhere() {
    let nodes = [zoned("n1", "z1"), zoned("n2", "z1"), zoned("n3", "z3"), node("bare", json!({}))];
    let mut objects = nodes.to_vec();
    objects.push(on("db", "n1", json!({"app": "db"})));
    let cluster = view(&objects);
    let near = |app: &str, more: Value| with_terms("p", "podAffinity", term(app, ZONE, more));
    assert_eq!(fits(&cluster, &near("db", json!({}))), ["n1", "n2"]);
    assert_eq!(
        says(&cluster, &near("db", json!({})), "n3"),
        "InterPodAffinity: node(s) didn't match pod affinity rules"
    );
    assert!(fits(&cluster, &near("nobody", json!({}))).is_empty());
    assert_eq!(fits(&cluster, &near("web", json!({}))), ["n1", "n2", "n3"]);
    assert!(fits(&cluster, &near("db", json!({"namespaces": ["b"]}))).is_empty());
    assert_eq!(fits(&cluster, &near("db", json!({"namespaceSelector": {}}))), ["n1", "n2"]);
    assert!(fits(&cluster, &near("db", json!({"namespaceSelector": {"matchLabels": {"team": "x"}}}))).is_empty());
    objects.push(json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "a", "labels": {"team": "x"}}}));
    let selected = near("db", json!({"namespaceSelector": {"matchLabels": {"team": "x"}}}));
    assert_eq!(fits(&view(&objects), &selected), ["n1", "n2"]);
}

#[test]
fn anti_affinity_works_in_both_directions() {
    let host = "kubernetes.io/hostname";
    let mut hermit = with_terms("hermit", "podAntiAffinity", term("web", host, json!({})));
    hermit["metadata"]["labels"] = json!({"app": "hermit"});
    hermit["spec"]["nodeName"] = json!("n1");
    hermit["status"] = json!({"phase": "Running"});
    let cluster = view(&[zoned("n1", "z1"), zoned("n2", "z2"), hermit, on("w1", "n2", json!({"app": "web"}))]);
    let plain = pod("p", json!({"metadata": {"labels": {"app": "web"}}}));
    assert_eq!(
        says(&cluster, &plain, "n1"),
        "InterPodAffinity: node(s) didn't satisfy existing pods anti-affinity rules"
    );
    assert_eq!(says(&cluster, &plain, "n2"), "");
    let apart = with_terms("p", "podAntiAffinity", term("web", host, json!({})));
    assert_eq!(says(&cluster, &apart, "n2"), "InterPodAffinity: node(s) didn't match pod anti-affinity rules");
    // A pod that is in the view already does not repel itself.
    let itself = with_terms("w1", "podAntiAffinity", term("web", host, json!({})));
    assert_eq!(says(&cluster, &itself, "n2"), "");
}
