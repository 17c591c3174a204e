//! Small clusters from JSON, and what the scheduler's model says about a pod in them.

use rehome_k8s::pod::Pod;
use rehome_k8s::{Record, View, ingest};
use rehome_sched::{Model, Profile};
use serde_json::{Value, json};

/// A view of these objects.
pub(crate) fn view(objects: &[Value]) -> View {
    let mut view = View::default();
    for object in objects {
        view.insert(ingest::object(&object.to_string()).unwrap().unwrap());
    }
    view
}

/// A node with 4 cores, 8 GiB and 10 pods; `more` is laid over it.
pub(crate) fn node(name: &str, more: Value) -> Value {
    let mut node = json!({
        "apiVersion": "v1", "kind": "Node", "metadata": {"name": name, "labels": {"kubernetes.io/hostname": name}},
        "status": {"allocatable": {"cpu": "4", "memory": "8Gi", "pods": "10"}}
    });
    merge(&mut node, more);
    node
}

/// A node in a zone.
pub(crate) fn zoned(name: &str, zone: &str) -> Value {
    node(name, json!({"metadata": {"labels": {"topology.kubernetes.io/zone": zone}}}))
}

/// A pod in the namespace `a`; `more` is laid over it.
pub(crate) fn pod(name: &str, more: Value) -> Value {
    let mut pod = json!({
        "apiVersion": "v1", "kind": "Pod", "metadata": {"name": name, "namespace": "a"},
        "spec": {"containers": [{"name": "c"}]}
    });
    merge(&mut pod, more);
    pod
}

/// A running pod on a node with these labels.
pub(crate) fn on(name: &str, node: &str, labels: Value) -> Value {
    pod(name, json!({"metadata": {"labels": labels}, "spec": {"nodeName": node}, "status": {"phase": "Running"}}))
}

/// The record of a pod.
pub(crate) fn record(pod: &Value) -> Pod {
    match ingest::object(&pod.to_string()).unwrap().unwrap() {
        Record::Pod(pod) => (*pod).clone(),
        other => panic!("expected a pod, found {other:?}"),
    }
}

/// The model of a view, by the newest profile.
pub(crate) fn model(view: &View) -> Model {
    Model::new(view, Profile::default())
}

/// What a node of the view says to a pod: empty, or plugin and reasons.
pub(crate) fn says(view: &View, pod: &Value, node: &str) -> String {
    match model(view).verdict(&record(pod), node) {
        Ok(()) => String::new(),
        Err(rejection) => format!("{}: {}", rejection.plugin, rejection.reasons.join(", ")),
    }
}

/// The nodes that would take a pod.
pub(crate) fn fits(view: &View, pod: &Value) -> Vec<String> {
    model(view).feasible(&record(pod)).iter().map(|node| node.name().to_owned()).collect()
}

/// Lays one value over another: objects are merged, everything else is replaced.
fn merge(under: &mut Value, over: Value) {
    match (under, over) {
        (Value::Object(under), Value::Object(over)) => {
            for (key, value) in over {
                merge(under.entry(key).or_insert(Value::Null), value);
            }
        }
        (under, over) => *under = over,
    }
}
