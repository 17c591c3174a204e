//! Workloads, budgets and volumes, as small as they can be.

use serde_json::{Value, json};

use crate::home::Home;

/// Merges one object into another, as a merge patch does.
pub(crate) fn merge(into: &mut Value, patch: &Value) {
    match (into, patch) {
        (Value::Object(into), Value::Object(patch)) => {
            for (key, value) in patch {
                merge(into.entry(key.clone()).or_insert(Value::Null), value);
            }
        }
        (into, patch) => *into = patch.clone(),
    }
}

/// A pod's template: label `app`, the home's nodes only, a grace period of 10 s (pods stop sooner unless they are slow).
fn template(home: &Home, name: &str, patch: &Value) -> Value {
    let mut template = json!({
        "metadata": {"labels": {"app": name}},
        "spec": {
            "nodeSelector": {"home": home.name},
            "terminationGracePeriodSeconds": 10,
            "containers": [{"name": "main", "image": "example.test/main:1", "ports": [{"containerPort": 80}]}],
        },
    });
    merge(&mut template, patch);
    template
}

fn workload(home: &Home, kind: &str, name: &str, replicas: i64, patch: &Value) -> Value {
    json!({
        "apiVersion": "apps/v1", "kind": kind, "metadata": {"name": name, "namespace": home.name},
        "spec": {
            "replicas": replicas,
            "selector": {"matchLabels": {"app": name}},
            "template": template(home, name, patch),
        },
    })
}

/// A Deployment; `patch` is merged into its template.
pub(crate) fn deployment(home: &Home, name: &str, replicas: i64, patch: &Value) -> Value {
    workload(home, "Deployment", name, replicas, patch)
}

/// A Deployment that takes a pod away before it adds one: only an eviction moves it.
pub(crate) fn without_surge(home: &Home, name: &str, replicas: i64, patch: &Value) -> Value {
    let mut made = deployment(home, name, replicas, patch);
    made["spec"]["strategy"] = json!({"rollingUpdate": {"maxSurge": 0, "maxUnavailable": 1}});
    made
}

/// A StatefulSet, all of whose pods are made at once, and only anew when they are gone.
pub(crate) fn stateful_set(home: &Home, name: &str, replicas: i64, patch: &Value) -> Value {
    let mut made = workload(home, "StatefulSet", name, replicas, patch);
    made["spec"]["serviceName"] = json!(name);
    made["spec"]["podManagementPolicy"] = json!("Parallel");
    made["spec"]["updateStrategy"] = json!({"type": "OnDelete"});
    made
}

/// A pod without a controller, on a node, whatever the scheduler would say.
pub(crate) fn bound_pod(home: &Home, name: &str, node: &str) -> Value {
    let mut pod = template(home, name, &json!({"spec": {"nodeName": home.full(node)}}));
    pod["apiVersion"] = json!("v1");
    pod["kind"] = json!("Pod");
    pod["metadata"]["name"] = json!(name);
    pod["metadata"]["namespace"] = json!(home.name);
    pod
}

pub(crate) fn service(home: &Home, name: &str) -> Value {
    json!({
        "apiVersion": "v1", "kind": "Service", "metadata": {"name": name, "namespace": home.name},
        "spec": {"selector": {"app": name}, "ports": [{"port": 80}]},
    })
}

/// A budget over the pods with these labels; `rule` is `{"maxUnavailable": 1}`, say.
pub(crate) fn budget(home: &Home, name: &str, labels: &Value, rule: &Value) -> Value {
    let mut spec = json!({"selector": {"matchLabels": labels}});
    merge(&mut spec, rule);
    json!({
        "apiVersion": "policy/v1", "kind": "PodDisruptionBudget",
        "metadata": {"name": name, "namespace": home.name}, "spec": spec,
    })
}

/// Part of a template: this pace.
pub(crate) fn pace(value: &str) -> Value {
    json!({"metadata": {"labels": {crate::home::PACE: value}}})
}

/// Part of a template: only this node.
pub(crate) fn only_on(home: &Home, node: &str) -> Value {
    json!({"spec": {"nodeSelector": {"kubernetes.io/hostname": home.full(node)}}})
}

/// Part of a template: rather the nodes of this tier, where the scheduler has a choice.
pub(crate) fn rather(tier: &str) -> Value {
    json!({"spec": {"affinity": {"nodeAffinity": {"preferredDuringSchedulingIgnoredDuringExecution": [
        {"weight": 100, "preference": {"matchExpressions": [{"key": "tier", "operator": "In", "values": [tier]}]}},
    ]}}}})
}

/// Part of a template: mounts this claim.
pub(crate) fn mounts(claim: &str) -> Value {
    json!({"spec": {"volumes": [{"name": "data", "persistentVolumeClaim": {"claimName": claim}}]}})
}

/// A volume of a CSI driver and the claim that is bound to it; `patch` is merged into the volume's `spec`.
pub(crate) fn volume(home: &Home, name: &str, driver: &str, patch: &Value) -> Vec<Value> {
    let (full, size) = (home.full(name), json!({"storage": "1Gi"}));
    let mut spec = json!({
        "capacity": size, "accessModes": ["ReadWriteOnce"], "persistentVolumeReclaimPolicy": "Retain",
        "csi": {"driver": driver, "volumeHandle": full},
        "claimRef": {"apiVersion": "v1", "kind": "PersistentVolumeClaim", "namespace": home.name, "name": name},
    });
    merge(&mut spec, patch);
    if spec["csi"].is_null() {
        spec.as_object_mut().unwrap().remove("csi");
    }
    vec![
        json!({"apiVersion": "v1", "kind": "PersistentVolume", "metadata": {"name": full}, "spec": spec}),
        json!({
            "apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": {"name": name, "namespace": home.name},
            "spec": {"storageClassName": "", "volumeName": full, "accessModes": ["ReadWriteOnce"],
                "resources": {"requests": size}},
        }),
    ]
}

/// The object by which a volume is attached to a node.
pub(crate) fn attachment(home: &Home, name: &str, driver: &str, node: &str) -> Value {
    json!({
        "apiVersion": "storage.k8s.io/v1", "kind": "VolumeAttachment", "metadata": {"name": home.full(name)},
        "spec": {"attacher": driver, "nodeName": home.full(node), "source": {"persistentVolumeName": home.full(name)}},
    })
}

pub(crate) fn attachment_path(home: &Home, name: &str) -> String {
    format!("/apis/storage.k8s.io/v1/volumeattachments/{}", home.full(name))
}
