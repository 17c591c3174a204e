//! The filters that look at claims and their volumes.

use crate::cluster::{fits, model, node, pod, record, says, view, zoned};
use rehome_k8s::{Kind, View};
use rehome_model::snapshot::{Gap, GapReason};
use rehome_sched::Chance;
use serde_json::{Value, json};

fn claim(name: &str, spec: Value) -> Value {
    json!({"apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": {"name": name, "namespace": "a"}, "spec": spec})
}

fn class(name: &str, mode: &str, provisioner: &str, zones: Value) -> Value {
    let topologies = if zones.is_null() {
        json!([])
    } else {
        json!([{"matchLabelExpressions": [{"key": "topology.kubernetes.io/zone", "values": zones}]}])
    };
    json!({"apiVersion": "storage.k8s.io/v1", "kind": "StorageClass", "metadata": {"name": name},
        "provisioner": provisioner, "volumeBindingMode": mode, "allowedTopologies": topologies})
}

fn volume(name: &str, more: Value) -> Value {
    let mut spec = json!({"csi": {"driver": "disk", "volumeHandle": name}, "accessModes": ["ReadWriteOnce"]});
    if let (Some(spec), Value::Object(more)) = (spec.as_object_mut(), more) {
        spec.extend(more);
    }
    json!({"apiVersion": "v1", "kind": "PersistentVolume", "metadata": {"name": name}, "spec": spec})
}

fn in_zone(zone: &str) -> Value {
    json!({"required": {"nodeSelectorTerms": [{"matchExpressions": [
        {"key": "topology.kubernetes.io/zone", "operator": "In", "values": [zone]}]}]}})
}

fn mounts(name: &str, claims: &[&str]) -> Value {
    let volumes: Vec<Value> =
        claims.iter().map(|claim| json!({"name": claim, "persistentVolumeClaim": {"claimName": claim}})).collect();
    pod(name, json!({"spec": {"volumes": volumes}}))
}

fn sentence(view: &View, pod: &Value) -> String {
    model(view).choose(&record(pod), &mut Chance::new(0)).unwrap_or_else(|refused| refused.message)
}

#[test]
fn a_bound_volume_draws_its_pod_to_its_zone() {
    let view = view(&[
        zoned("n1", "z1"),
        zoned("n2", "z2"),
        volume("v", json!({"nodeAffinity": in_zone("z2")})),
        claim("data", json!({"volumeName": "v"})),
    ]);
    assert_eq!(fits(&view, &mounts("p", &["data"])), ["n2"]);
    assert_eq!(
        says(&view, &mounts("p", &["data"]), "n1"),
        "VolumeBinding: node(s) didn't match PersistentVolume's node affinity"
    );
}

#[test]
fn zone_labels_of_a_volume_count_too_and_may_name_several_zones() {
    let mut labelled = volume("v", json!({}));
    labelled["metadata"]["labels"] = json!({"failure-domain.beta.kubernetes.io/zone": "z1__z3"});
    let view = view(&[
        zoned("n1", "z1"),
        zoned("n2", "z2"),
        zoned("n3", "z3"),
        node("bare", json!({})),
        labelled,
        claim("data", json!({"volumeName": "v"})),
    ]);
    assert_eq!(fits(&view, &mounts("p", &["data"])), ["bare", "n1", "n3"]);
    assert_eq!(says(&view, &mounts("p", &["data"]), "n2"), "VolumeZone: node(s) had no available volume zone");
}

#[test]
fn what_claims_say_before_any_node_is_looked_at() {
    let mut leaving = claim("leaving", json!({"volumeName": "v"}));
    leaving["metadata"]["deletionTimestamp"] = json!("2026-01-01T00:00:00Z");
    let mut lost = claim("lost", json!({"volumeName": "gone"}));
    lost["status"] = json!({"phase": "Lost"});
    let mut known = view(&[
        zoned("n1", "z1"),
        node("n2", json!({"spec": {"unschedulable": true}})),
        class("now", "Immediate", "disk", Value::Null),
        claim("waiting", json!({"storageClassName": "now"})),
        claim("classless", json!({})),
        leaving,
        lost,
    ]);
    for (name, reason) in [
        ("waiting", "pod has unbound immediate PersistentVolumeClaims"),
        ("classless", "pod has unbound immediate PersistentVolumeClaims"),
        ("absent", "persistentvolumeclaim \"absent\" not found"),
        ("leaving", "persistentvolumeclaim \"leaving\" is being deleted"),
        ("lost", "persistentvolumeclaim \"lost\" bound to non-existent persistentvolume \"gone\""),
    ] {
        assert_eq!(sentence(&known, &mounts("p", &[name])), format!("0/2 nodes are available: {reason}."), "{name}");
    }
    // A kind that could not be read rejects nothing.
    let gap = Gap { source: "PersistentVolumeClaim".to_owned(), reason: GapReason::Forbidden, message: String::new() };
    known.set_gap(Kind::PersistentVolumeClaim, gap);
    assert_eq!(sentence(&known, &mounts("p", &["absent"])), "n1");
}

#[test]
fn a_claim_that_waits_for_its_first_pod() {
    let mut pinned = claim("pinned", json!({"storageClassName": "later"}));
    pinned["metadata"]["annotations"] = json!({"volume.kubernetes.io/selected-node": "n2"});
    let mut local = volume("local", json!({"storageClassName": "by-hand", "nodeAffinity": in_zone("z2")}));
    local["status"] = json!({"phase": "Available"});
    let view = view(&[
        zoned("n1", "z1"),
        zoned("n2", "z2"),
        zoned("n3", "z3"),
        class("later", "WaitForFirstConsumer", "disk", Value::Null),
        class("narrow", "WaitForFirstConsumer", "disk", json!(["z1", "z3"])),
        class("by-hand", "WaitForFirstConsumer", "kubernetes.io/no-provisioner", Value::Null),
        local,
        pinned,
        claim("anywhere", json!({"storageClassName": "later"})),
        claim("narrow", json!({"storageClassName": "narrow"})),
        claim("by-hand", json!({"storageClassName": "by-hand", "accessModes": ["ReadWriteOnce"]})),
    ]);
    for (name, nodes) in [
        ("anywhere", vec!["n1", "n2", "n3"]),
        ("narrow", vec!["n1", "n3"]),
        ("pinned", vec!["n2"]),
        ("by-hand", vec!["n2"]),
    ] {
        assert_eq!(fits(&view, &mounts("p", &[name])), nodes, "{name}");
    }
    assert_eq!(
        says(&view, &mounts("p", &["narrow"]), "n2"),
        "VolumeBinding: node(s) didn't find available persistent volumes to bind"
    );
    // The second pod on a claim follows the first.
    let pods = [record(&mounts("p0", &["anywhere"])), record(&mounts("p1", &["anywhere"]))];
    for seed in 0..8 {
        let placed = model(&view).place(&pods, seed);
        assert_eq!(placed[0], placed[1], "seed {seed}");
    }
}

#[test]
fn one_pod_at_a_time_on_a_read_write_once_pod_claim() {
    let holder = |phase: &str| {
        let mut holder = mounts("holder", &["data"]);
        holder["spec"]["nodeName"] = json!("n1");
        holder["status"] = json!({"phase": phase});
        holder
    };
    let cluster = |phase: &str| {
        view(&[
            zoned("n1", "z1"),
            zoned("n2", "z2"),
            volume("v", json!({})),
            claim("data", json!({"volumeName": "v", "accessModes": ["ReadWriteOncePod"]})),
            holder(phase),
        ])
    };
    assert_eq!(
        sentence(&cluster("Running"), &mounts("p", &["data"])),
        "0/2 nodes are available: 2 node(s) unavailable due to PersistentVolumeClaim with ReadWriteOncePod access mode already in-use by another pod."
    );
    assert_eq!(fits(&cluster("Succeeded"), &mounts("p", &["data"])).len(), 2);
    assert_eq!(fits(&cluster("Running"), &mounts("holder", &["data"])).len(), 2);
}

#[test]
fn a_node_takes_as_many_volumes_as_its_csi_node_says() {
    let mut objects = vec![node("n", json!({})), node("free", json!({}))];
    objects.push(json!({"apiVersion": "storage.k8s.io/v1", "kind": "CSINode", "metadata": {"name": "n"},
        "spec": {"drivers": [{"name": "disk", "nodeID": "n", "topologyKeys": null, "allocatable": {"count": 2}}]}}));
    for name in ["v0", "v1", "v2"] {
        objects.push(volume(name, json!({})));
        objects.push(claim(name, json!({"volumeName": name})));
    }
    let mut holder = mounts("holder", &["v0"]);
    holder["spec"]["nodeName"] = json!("n");
    objects.push(holder);
    let cluster = view(&objects);
    assert_eq!(fits(&cluster, &mounts("p", &["v0", "v1"])), ["free", "n"]);
    assert_eq!(says(&cluster, &mounts("p", &["v1", "v2"]), "n"), "NodeVolumeLimits: node(s) exceed max volume count");
    // An attachment counts although its pod is gone.
    objects.push(json!({"apiVersion": "storage.k8s.io/v1", "kind": "VolumeAttachment", "metadata": {"name": "a"},
        "spec": {"attacher": "disk", "nodeName": "n", "source": {"persistentVolumeName": "v2"}}}));
    assert_eq!(fits(&view(&objects), &mounts("p", &["v1"])), ["free"]);
    // It counts even against a pod that brings the very same volume: only what other pods hold is known to be there.
    assert_eq!(fits(&view(&objects), &mounts("p", &["v2"])), ["free"]);
}
