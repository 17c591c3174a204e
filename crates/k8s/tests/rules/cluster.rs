//! Objects from JSON.

use std::sync::Arc;

use rehome_k8s::pod::Pod;
use rehome_k8s::policy::PodDisruptionBudget;
use rehome_k8s::{Record, View, ingest};
use serde_json::{Value, json};

/// The record of an object.
pub(crate) fn record(object: &Value) -> Record {
    ingest::object(&object.to_string()).unwrap().unwrap()
}

/// A view of these objects.
pub(crate) fn view(objects: &[Value]) -> View {
    let mut view = View::default();
    for object in objects {
        view.insert(record(object));
    }
    view
}

/// A controller with a UID like its name, and perhaps an owner.
pub(crate) fn workload(kind: &str, name: &str, replicas: i64, owner: Option<(&str, &str)>) -> Value {
    let version = if kind == "Job" || kind == "CronJob" { "batch/v1" } else { "apps/v1" };
    json!({"apiVersion": version, "kind": kind,
        "metadata": {"name": name, "namespace": "a", "uid": name, "ownerReferences": owners(owner)},
        "spec": {"replicas": replicas}})
}

fn owners(owner: Option<(&str, &str)>) -> Value {
    owner.map_or(
        json!([]),
        |(kind, name)| json!([{"apiVersion": "any/v1", "kind": kind, "name": name, "uid": name, "controller": true}]),
    )
}

/// A running pod labelled `app: web`.
pub(crate) fn pod(name: &str, owner: Option<(&str, &str)>, ready: bool) -> Value {
    let ready = if ready { "True" } else { "False" };
    json!({"apiVersion": "v1", "kind": "Pod",
        "metadata": {"name": name, "namespace": "a", "labels": {"app": "web"}, "ownerReferences": owners(owner)},
        "status": {"phase": "Running", "conditions": [{"type": "Ready", "status": ready}]}})
}

/// The record of a pod.
pub(crate) fn pod_record(object: &Value) -> Arc<Pod> {
    match record(object) {
        Record::Pod(pod) => pod,
        other => panic!("expected a pod, found {other:?}"),
    }
}

/// The record of a budget with this spec, over `app: web`.
pub(crate) fn budget(spec: Value) -> Arc<PodDisruptionBudget> {
    let mut object = json!({"apiVersion": "policy/v1", "kind": "PodDisruptionBudget",
        "metadata": {"name": "b", "namespace": "a"}, "spec": spec});
    object["spec"]["selector"] = json!({"matchLabels": {"app": "web"}});
    match record(&object) {
        Record::PodDisruptionBudget(budget) => budget,
        other => panic!("expected a budget, found {other:?}"),
    }
}
