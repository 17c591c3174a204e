//! From a record back to the JSON of an API object, as far as records keep it.
//!
//! For audit events and for comparing the two worlds of the contract suite. It is no full object: what a record does not
//! hold is absent.

use rehome_k8s::pod::{Phase, Pod};
use rehome_k8s::service::Endpoint;
use rehome_k8s::workload::Workload;
use rehome_k8s::{Kind, Meta, Record};
use serde_json::{Map, Value, json};

/// The JSON of an object.
#[must_use]
pub fn object(record: &Record) -> Value {
    let kind = record.kind();
    let mut object = Map::new();
    object.insert("apiVersion".to_owned(), kind.api_version().into());
    object.insert("kind".to_owned(), kind.name().into());
    object.insert("metadata".to_owned(), metadata(record.meta()));
    let (spec, status) = body(record);
    for (name, part) in [("spec", spec), ("status", status), ("endpoints", endpoints(record))] {
        if !part.is_null() {
            object.insert(name.to_owned(), part);
        }
    }
    if let Record::Pod(pod) = record
        && pod.meta.deleting.is_some()
    {
        object["metadata"]["deletionGracePeriodSeconds"] = json!(pod.spec.grace.as_millis() / 1000);
    }
    if let Record::EndpointSlice(slice) = record {
        object.insert("endpoints".to_owned(), slice.endpoints.iter().map(endpoint).collect());
    }
    Value::Object(object)
}

fn metadata(meta: &Meta) -> Value {
    let mut out = Map::new();
    let mut put = |name: &str, value: Value| {
        let empty = match &value {
            Value::String(text) => text.is_empty(),
            Value::Object(map) => map.is_empty(),
            other => other.is_null(),
        };
        if !empty {
            out.insert(name.to_owned(), value);
        }
    };
    put("name", json!(meta.name));
    put("namespace", json!(meta.namespace));
    put("uid", json!(meta.uid));
    put("resourceVersion", json!(meta.resource_version));
    put("generation", if meta.generation > 0 { json!(meta.generation) } else { Value::Null });
    put("labels", json!(meta.labels));
    put("annotations", json!(meta.annotations));
    put("creationTimestamp", json!(meta.created));
    put("deletionTimestamp", json!(meta.deleting));
    if let Some(owner) = &meta.controller {
        let reference = json!({"apiVersion": owner.api_version, "kind": owner.kind, "name": owner.name,
            "uid": owner.uid, "controller": true});
        put("ownerReferences", json!([reference]));
    }
    Value::Object(out)
}

fn body(record: &Record) -> (Value, Value) {
    match record {
        Record::Pod(pod) => pod_body(pod),
        Record::Node(node) => {
            let taints: Vec<Value> = node
                .taints
                .iter()
                .map(|taint| json!({"key": taint.key, "value": taint.value, "effect": taint.effect.name()}))
                .collect();
            let ready = node.ready.map(|ready| json!([{"type": "Ready", "status": truth(ready)}]));
            (json!({"unschedulable": node.unschedulable, "taints": taints}), json!({"conditions": ready}))
        }
        Record::PodDisruptionBudget(budget) => {
            let status = budget.status.as_ref().map(|status| {
                json!({"observedGeneration": status.observed_generation,
                    "disruptionsAllowed": status.disruptions_allowed, "currentHealthy": status.current_healthy,
                    "desiredHealthy": status.desired_healthy, "expectedPods": status.expected_pods,
                    "disruptedPods": status.disrupted_pods.iter().map(|name| (name.clone(), json!(null))).collect::<Map<_, _>>()})
            });
            let text = |value: Option<rehome_k8s::percent::IntOrPercent>| value.map(|value| value.to_string());
            let spec =
                json!({"minAvailable": text(budget.min_available), "maxUnavailable": text(budget.max_unavailable)});
            (spec, json!(status))
        }
        other => match other.as_workload() {
            Some(workload) => workload_body(other.kind(), workload),
            None => (Value::Null, Value::Null),
        },
    }
}

/// The endpoints of an EndpointSlice, which stand beside its metadata.
fn endpoints(record: &Record) -> Value {
    let Record::EndpointSlice(slice) = record else { return Value::Null };
    let endpoints = slice.endpoints.iter().map(|endpoint| {
        let target = endpoint
            .pod
            .as_ref()
            .map(|(name, uid)| json!({"kind": "Pod", "namespace": slice.meta.namespace, "name": name, "uid": uid}));
        json!({"conditions": {"ready": endpoint.ready}, "targetRef": target, "nodeName": endpoint.node})
    });
    Value::Array(endpoints.collect())
}

fn endpoint(endpoint: &Endpoint) -> Value {
    let mut out = json!({"conditions": {"ready": endpoint.ready}, "nodeName": endpoint.node});
    if let Some((name, uid)) = &endpoint.pod {
        out["targetRef"] = json!({"kind": "Pod", "name": name, "uid": uid});
    }
    out
}

fn pod_body(pod: &Pod) -> (Value, Value) {
    let phase = match pod.phase {
        Phase::Pending => "Pending",
        Phase::Running => "Running",
        Phase::Succeeded => "Succeeded",
        Phase::Failed => "Failed",
        Phase::Unknown => "Unknown",
    };
    let scheduled = match &pod.unschedulable {
        Some(message) => {
            json!({"type": "PodScheduled", "status": "False", "reason": "Unschedulable", "message": message})
        }
        None => json!({"type": "PodScheduled", "status": truth(pod.node.is_some()),
            "lastTransitionTime": pod.timing.scheduled}),
    };
    let ready = json!({"type": "Ready", "status": truth(pod.ready), "lastTransitionTime": pod.timing.ready});
    let mut spec = json!({"priority": pod.spec.priority,
        "terminationGracePeriodSeconds": pod.spec.grace.as_millis() / 1000});
    if let Some(node) = &pod.node {
        spec["nodeName"] = json!(node);
    }
    let mut status = json!({"phase": phase, "conditions": [scheduled, ready]});
    if let Some(started) = pod.timing.started {
        status["startTime"] = json!(started);
    }
    (spec, status)
}

fn workload_body(kind: Kind, workload: &Workload) -> (Value, Value) {
    let status = &workload.status;
    let template =
        json!({"metadata": {"labels": workload.template.labels, "annotations": workload.template.annotations}});
    match kind {
        Kind::DaemonSet => (
            json!({"template": template}),
            json!({"observedGeneration": status.observed_generation, "desiredNumberScheduled": workload.replicas,
                "currentNumberScheduled": status.replicas, "numberReady": status.ready,
                "numberAvailable": status.available, "updatedNumberScheduled": status.updated}),
        ),
        Kind::Job => (
            json!({"parallelism": workload.replicas, "completions": workload.completions, "template": template}),
            json!({"active": status.replicas, "ready": status.ready, "succeeded": status.succeeded}),
        ),
        _ => (
            json!({"replicas": workload.replicas, "template": template}),
            json!({"observedGeneration": status.observed_generation, "replicas": status.replicas,
                "updatedReplicas": status.updated, "readyReplicas": status.ready,
                "availableReplicas": status.available}),
        ),
    }
}

fn truth(value: bool) -> &'static str {
    if value { "True" } else { "False" }
}
