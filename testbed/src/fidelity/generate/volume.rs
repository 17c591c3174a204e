//! Claims, volumes and mounts, as the volume controllers leave them.

use serde_json::{Value, json};

use super::draft::{Draft, name, namespace, push};
use crate::fidelity::dice::Dice;

/// The annotation that the volume controller sets when both sides are bound.
/// Source: `k8s.io/component-helpers/storage/volume/pv_helpers.go`, `AnnBindCompleted`.
const BIND_COMPLETED: &str = "pv.kubernetes.io/bind-completed";

/// A claim that is not bound.
pub(super) fn claim(namespace: &str, name: &str, class: &str, storage: &str) -> Value {
    json!({
        "apiVersion": "v1", "kind": "PersistentVolumeClaim",
        "metadata": {"namespace": namespace, "name": name, "uid": format!("uid-{namespace}-{name}")},
        "spec": {"accessModes": ["ReadWriteOnce"], "storageClassName": class, "volumeMode": "Filesystem",
            "resources": {"requests": {"storage": storage}}},
        "status": {"phase": "Pending"},
    })
}

/// Marks a claim as bound to a volume of this name.
pub(super) fn bind(claim: &mut Value, volume: &str) {
    claim["metadata"]["annotations"][BIND_COMPLETED] = json!("yes");
    claim["spec"]["volumeName"] = json!(volume);
    claim["status"] = json!({"phase": "Bound"});
}

/// A volume of a CSI driver that is free.
pub(super) fn volume(name: &str, class: &str, storage: &str) -> Value {
    json!({
        "apiVersion": "v1", "kind": "PersistentVolume",
        "metadata": {"name": name, "uid": format!("uid-{name}")},
        "spec": {"capacity": {"storage": storage}, "accessModes": ["ReadWriteOnce"], "volumeMode": "Filesystem",
            "storageClassName": class, "persistentVolumeReclaimPolicy": "Retain",
            "csi": {"driver": "csi.example.com", "volumeHandle": format!("handle-{name}")}},
        "status": {"phase": "Available"},
    })
}

/// Marks a volume as bound to a claim.
pub(super) fn hold(volume: &mut Value, claim: &Value) {
    volume["spec"]["claimRef"] = json!({"apiVersion": "v1", "kind": "PersistentVolumeClaim",
        "namespace": claim["metadata"]["namespace"], "name": claim["metadata"]["name"], "uid": claim["metadata"]["uid"]});
    volume["status"] = json!({"phase": "Bound"});
}

/// Binds a new claim in the pod's namespace to a new volume; gives both, to be changed and added.
pub(super) fn bound_pair(draft: &mut Draft, pod: &Value, class: &str) -> (Value, Value) {
    let number = draft.number();
    let mut claim = claim(&namespace(pod), &format!("claim-{number:03}"), class, "1Gi");
    let mut volume = volume(&format!("pv-{number:03}"), class, "1Gi");
    bind(&mut claim, &name(&volume));
    hold(&mut volume, &claim);
    (claim, volume)
}

/// Mounts a claim in a pod.
pub(super) fn mount(pod: &mut Value, claim: &str) {
    let number = pod["spec"]["volumes"].as_array().map_or(0, Vec::len);
    push(
        &mut pod["spec"]["volumes"],
        json!({"name": format!("v{number}"), "persistentVolumeClaim": {"claimName": claim}}),
    );
}

/// Mounts a generic ephemeral volume, whose claim is then named `<pod>-<volume>` and owned by the pod; gives that claim,
/// not bound, to be changed and added.
pub(super) fn mount_ephemeral(pod: &mut Value, class: &str, storage: &str) -> Value {
    let volume = format!("e{}", pod["spec"]["volumes"].as_array().map_or(0, Vec::len));
    push(
        &mut pod["spec"]["volumes"],
        json!({"name": volume, "ephemeral": {"volumeClaimTemplate": {"spec": {
            "accessModes": ["ReadWriteOnce"], "storageClassName": class,
            "resources": {"requests": {"storage": storage}}}}}}),
    );
    let mut claim = claim(&namespace(pod), &format!("{}-{volume}", name(pod)), class, storage);
    claim["metadata"]["ownerReferences"] = json!([{"apiVersion": "v1", "kind": "Pod", "name": name(pod),
        "uid": pod["metadata"]["uid"], "controller": true, "blockOwnerDeletion": true}]);
    claim
}

/// A storage class.
pub(super) fn class(name: &str, provisioner: &str, mode: &str) -> Value {
    json!({"apiVersion": "storage.k8s.io/v1", "kind": "StorageClass", "metadata": {"name": name},
        "provisioner": provisioner, "reclaimPolicy": "Delete", "volumeBindingMode": mode})
}

/// A volume's node affinity with one requirement.
pub(super) fn affinity(key: &str, values: &[&str]) -> Value {
    json!({"required": {"nodeSelectorTerms": [{"matchExpressions": [{"key": key, "operator": "In", "values": values}]}]}})
}

/// A volume's node affinity of any shape.
pub(super) fn any_affinity(draft: &Draft, dice: &mut Dice) -> Value {
    let host = draft.any_node(dice);
    match dice.below(8) {
        0 => affinity("kubernetes.io/hostname", &[&host]),
        1 => json!({"required": {"nodeSelectorTerms": [
            {"matchExpressions": [{"key": super::draft::RACK, "operator": "Exists"}]},
            {"matchExpressions": [{"key": super::draft::ZONE, "operator": "In", "values": ["z1"]}]}]}}),
        2 => json!({"required": {"nodeSelectorTerms": [{"matchExpressions": [
            {"key": super::draft::ZONE, "operator": "NotIn", "values": ["z2"]},
            {"key": "pool", "operator": "In", "values": ["old", "new"]}]}]}}),
        3 => json!({"required": {"nodeSelectorTerms": [{"matchExpressions": [
            {"key": "cpus", "operator": "Gt", "values": ["3"]}]}]}}),
        _ => affinity(super::draft::ZONE, &[dice.pick(&super::draft::ZONES), dice.pick(&super::draft::ZONES)]),
    }
}
