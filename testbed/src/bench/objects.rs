//! Objects of generated clusters as the API server would give them.

use std::collections::BTreeMap;
use std::sync::Arc;

use rehome_k8s::pod::Pod;
use rehome_k8s::{Record, View, ingest};
use serde_json::{Value, json};

use super::BenchError;

/// A node with these labels and its own hostname.
#[must_use]
pub fn node(name: &str, allocatable: &Value, labels: &[(&str, &str)]) -> Value {
    let mut all: BTreeMap<&str, &str> = labels.iter().copied().collect();
    all.insert("kubernetes.io/hostname", name);
    json!({
        "apiVersion": "v1", "kind": "Node",
        "metadata": {"name": name, "labels": all, "uid": format!("uid-{name}")},
        "status": {
            "allocatable": allocatable, "capacity": allocatable,
            "conditions": [{"type": "Ready", "status": "True"}],
        },
    })
}

/// A namespace with these labels.
#[must_use]
pub fn namespace(name: &str, labels: &Value) -> Value {
    json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name, "labels": labels, "uid": format!("uid-{name}")}})
}

/// An unbound pod. `requests` may be null.
#[must_use]
pub fn pod(namespace: &str, name: &str, labels: &Value, requests: &Value) -> Value {
    let resources = if requests.is_null() { json!({}) } else { json!({"requests": requests, "limits": requests}) };
    json!({
        "apiVersion": "v1", "kind": "Pod",
        "metadata": {"namespace": namespace, "name": name, "labels": labels, "uid": format!("uid-{namespace}-{name}")},
        "spec": {"containers": [{"name": "main", "image": "registry.example/main:1", "resources": resources}]},
        "status": {"phase": "Pending"},
    })
}

/// The same pod on a node.
#[must_use]
pub fn bound(mut pod: Value, node: &str) -> Value {
    pod["spec"]["nodeName"] = node.into();
    pod["status"]["phase"] = "Running".into();
    pod
}

/// The record of an object.
///
/// # Errors
/// It cannot be decoded, or is of a kind that has none.
pub fn record(object: &Value) -> Result<Record, BenchError> {
    ingest::object(&object.to_string())?.ok_or_else(|| BenchError::Otherwise {
        what: "an object of a generator".to_owned(),
        expected: "a kind that has records".to_owned(),
        found: object["kind"].to_string(),
    })
}

/// The records of pods.
///
/// # Errors
/// One cannot be decoded, or is no pod.
pub fn pods(objects: &[Value]) -> Result<Vec<Arc<Pod>>, BenchError> {
    let pod = |object: &Value| match record(object)? {
        Record::Pod(pod) => Ok(pod),
        other => Err(BenchError::Otherwise {
            what: "an object of a generator".to_owned(),
            expected: "a Pod".to_owned(),
            found: other.kind().name().to_owned(),
        }),
    };
    objects.iter().map(pod).collect()
}

/// The view of objects.
///
/// # Errors
/// One cannot be decoded.
pub fn view(objects: &[Value]) -> Result<View, BenchError> {
    let mut view = View::default();
    for object in objects {
        view.insert(record(object)?);
    }
    Ok(view)
}
