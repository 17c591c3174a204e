//! A cluster of five nodes in two zones, and the pods that the tests ask about.
//!
//! | node | zone | cpu | besides |
//! |---|---|---|---|
//! | a | z1 | 4, of which `web-0` has 100m and `batch` 3500m | |
//! | b | z1 | 4 | a taint that nobody tolerates |
//! | c | z2 | 1 | |
//! | d | z2 | 4 | |
//! | e | none | 4 | cordoned |

use rehome_testbed::oracle::{NodeVerdict, Oracle, PodVerdict, Request, Response, Version};
use serde_json::{Value, json};

pub(crate) const ZONE: &str = "topology.kubernetes.io/zone";
pub(crate) const NODES: [&str; 5] = ["a", "b", "c", "d", "e"];

pub(crate) fn node(name: &str, zone: Option<&str>, cpu: &str) -> Value {
    let mut labels = json!({"kubernetes.io/hostname": name});
    if let Some(zone) = zone {
        labels[ZONE] = json!(zone);
    }
    let resources = json!({"cpu": cpu, "memory": "8Gi", "pods": "110"});
    json!({"apiVersion": "v1", "kind": "Node", "metadata": {"name": name, "labels": labels}, "spec": {},
        "status": {"capacity": resources, "allocatable": resources}})
}

/// An unbound pod of `default`.
pub(crate) fn pod(name: &str, cpu: &str) -> Value {
    json!({"apiVersion": "v1", "kind": "Pod",
        "metadata": {"name": name, "namespace": "default", "labels": {"app": "web"}},
        "spec": {"schedulerName": "default-scheduler", "priority": 0,
            "containers": [{"name": "c", "image": "c", "resources": {"requests": {"cpu": cpu}}}]},
        "status": {"phase": "Pending"}})
}

/// The pod with other fields in its spec.
pub(crate) fn with(mut pod: Value, fields: &Value) -> Value {
    for (key, value) in fields.as_object().unwrap() {
        pod["spec"][key] = value.clone();
    }
    pod
}

pub(crate) fn bound(pod: Value, node: &str) -> Value {
    let mut pod = with(pod, &json!({"nodeName": node}));
    pod["status"]["phase"] = json!("Running");
    pod
}

/// The cluster without unbound pods.
pub(crate) fn objects() -> Vec<Value> {
    let mut tainted = node("b", Some("z1"), "4");
    tainted["spec"]["taints"] = json!([{"key": "k", "value": "v", "effect": "NoSchedule"}]);
    let mut cordoned = node("e", None, "4");
    cordoned["spec"]["unschedulable"] = json!(true);
    cordoned["spec"]["taints"] = json!([{"key": "node.kubernetes.io/unschedulable", "effect": "NoSchedule"}]);
    let mut batch = bound(with(pod("batch", "3500m"), &json!({"priority": -5})), "a");
    batch["metadata"]["labels"] = json!({"app": "batch"});
    vec![
        json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "default"}}),
        node("a", Some("z1"), "4"),
        tainted,
        node("c", Some("z2"), "1"),
        node("d", Some("z2"), "4"),
        cordoned,
        bound(pod("web-0", "100m"), "a"),
        batch,
    ]
}

/// What both versions say about an unbound pod in the cluster with `more` objects.
pub(crate) fn ask(unbound: &Value, more: &[Value]) -> Vec<(Version, PodVerdict)> {
    let name = unbound["metadata"]["name"].as_str().unwrap();
    let mut request = Request { objects: objects(), pods: vec![format!("default/{name}")] };
    request.objects.push(unbound.clone());
    request.objects.extend_from_slice(more);
    Version::ALL
        .into_iter()
        .map(|version| {
            let Response { mut pods, .. } = Oracle::start(version).unwrap().ask(&request).unwrap();
            assert_eq!(pods.len(), 1);
            let verdict = pods.remove(0);
            assert_eq!(verdict.nodes.iter().map(|node| node.node.as_str()).collect::<Vec<_>>(), NODES);
            assert_eq!(verdict.error, None);
            (version, verdict)
        })
        .collect()
}

/// The plugin that rejects first and its reasons with commas; empty for a feasible node.
pub(crate) fn first(node: &NodeVerdict) -> (String, String) {
    node.first.as_ref().map_or_else(Default::default, |first| (first.plugin.clone(), first.reasons.join(", ")))
}

/// All nodes' first rejections as lines, which read well in a failed test.
pub(crate) fn firsts(verdict: &PodVerdict) -> Vec<String> {
    let line = |node: &NodeVerdict| {
        let (plugin, reasons) = first(node);
        if plugin.is_empty() { node.node.clone() } else { format!("{} {plugin}: {reasons}", node.node) }
    };
    verdict.nodes.iter().map(line).collect()
}
