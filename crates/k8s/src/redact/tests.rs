//! A marker planted in every place that must be emptied never survives, and what rules read does.

use proptest::prelude::*;
use serde_json::json;

use super::*;

fn container(name: &str, marker: &str) -> Value {
    let handler = json!({"exec": {"command": ["sh", "-c", marker]}});
    let http =
        json!({"httpGet": {"path": "/", "port": 80, "httpHeaders": [{"name": "Authorization", "value": marker}]}});
    json!({
        "name": name, "image": "registry.example/app:1", "command": [marker], "args": ["--password", marker],
        "env": [
            {"name": "PLAIN", "value": marker},
            {"name": "FROM", "valueFrom": {"secretKeyRef": {"name": "db", "key": "password"}}},
        ],
        "livenessProbe": http, "readinessProbe": handler, "startupProbe": handler,
        "lifecycle": {"preStop": handler, "postStart": http},
        "resources": {"requests": {"cpu": "100m"}},
    })
}

fn metadata(marker: &str) -> Value {
    json!({
        "name": "web", "namespace": "shop", "labels": {"app": "web", "command": "kept", "env": "prod"},
        "annotations": {
            LAST_APPLIED_ANNOTATION: marker, "example.com/blob": marker.repeat(ANNOTATION_LIMIT), "short": "kept",
        },
        "managedFields": [{
            "manager": "kubectl", "operation": "Update", "subresource": "scale", "time": "2026-01-01T00:00:00Z",
            "fieldsV1": {"f:spec": {marker: {}}},
        }],
    })
}

fn pod_template(containers: usize, marker: &str) -> Value {
    let list: Vec<Value> = (0..containers).map(|index| container(&format!("c{index}"), marker)).collect();
    json!({
        "metadata": metadata(marker),
        "spec": {"containers": list, "initContainers": list, "ephemeralContainers": list, "nodeSelector": {"pool": "old"}},
    })
}

fn objects(containers: usize, marker: &str) -> Vec<Value> {
    let template = pod_template(containers, marker);
    let mut pod = template.clone();
    pod["kind"] = json!("Pod");
    pod["status"] = json!({"containerStatuses": [
        {"name": "c0", "restartCount": 2, "lastState": {"terminated": {"exitCode": 1, "message": marker}}},
    ]});
    let meta = metadata(marker);
    let owner = |kind: &str| json!({"kind": kind, "metadata": meta, "spec": {"template": template}});
    let mut all = vec![
        pod,
        owner("Deployment"),
        owner("SomebodysDatabase"),
        json!({"kind": "SomebodysApp", "spec": {"env": {"PASSWORD": marker}}}),
        json!({"kind": "CronJob", "metadata": meta, "spec": {"jobTemplate": {"spec": {"template": template}}}}),
        json!({"kind": "Node", "metadata": meta, "status": {"images": [{"names": [marker], "sizeBytes": 1}]}}),
        json!({"kind": "ValidatingWebhookConfiguration", "metadata": meta,
            "webhooks": [{"name": "a.b.c", "clientConfig": {"caBundle": marker, "service": {"name": "s"}}}]}),
        json!({"kind": "Secret", "metadata": meta, "data": {"password": marker}, "stringData": {"a": marker}}),
        json!({"kind": "ConfigMap", "metadata": meta, "data": {"file": marker}, "binaryData": {"a": marker}}),
        json!({"kind": "SecretList", "items": [{"data": {"password": marker}}]}),
    ];
    all.push(json!({"kind": "List", "items": all}));
    all
}

proptest! {
    #[test]
    fn a_planted_marker_never_survives(marker in "SECRET-[a-zA-Z0-9+/=]{8,24}", containers in 1usize..4) {
        for mut object in objects(containers, &marker) {
            redact(&mut object);
            let text = object.to_string();
            prop_assert!(!text.contains("SECRET-"), "{}", text);
            let mut twice = object.clone();
            redact(&mut twice);
            prop_assert_eq!(twice, object);
        }
    }
}

#[test]
fn what_rules_read_stays() {
    let mut pod = objects(1, "SECRET").remove(0);
    redact(&mut pod);
    assert_eq!(pod["metadata"]["labels"], json!({"app": "web", "command": "kept", "env": "prod"}));
    assert_eq!(pod["metadata"]["annotations"], json!({"short": "kept"}));
    assert_eq!(
        pod["metadata"]["managedFields"],
        json!([{"manager": "kubectl", "operation": "Update", "subresource": "scale"}])
    );
    let container = &pod["spec"]["containers"][0];
    assert_eq!(
        container["env"],
        json!([{"name": "PLAIN"}, {"name": "FROM", "valueFrom": {"secretKeyRef": {"name": "db", "key": "password"}}}])
    );
    assert_eq!(container["lifecycle"]["preStop"], json!({"exec": {}}));
    assert_eq!(container["resources"], json!({"requests": {"cpu": "100m"}}));
    assert_eq!(pod["spec"]["nodeSelector"], json!({"pool": "old"}));
    assert_eq!(pod["status"]["containerStatuses"][0]["lastState"]["terminated"], json!({"exitCode": 1}));
}

#[test]
fn an_event_keeps_its_message() {
    let mut event = json!({"kind": "Event", "reason": "FailedScheduling", "message": "0/3 nodes are available"});
    let before = event.clone();
    redact(&mut event);
    assert_eq!(event, before);
}

#[test]
fn secrets_and_config_maps_are_never_kept() {
    for kind in ["Secret", "ConfigMap", "SecretList", "ConfigMapList"] {
        assert!(never_kept(&json!({"kind": kind})), "{kind}");
    }
    assert!(!never_kept(&json!({"kind": "Pod"})));
    let mut list = json!({"kind": "List", "items": [{"kind": "Secret", "data": {"a": "b"}}, {"kind": "Service"}]});
    redact(&mut list);
    assert_eq!(list["items"], json!([{"kind": "Service"}]));
}

/// A value with fields that the rules know by name, in places where nobody expects them.
fn odd() -> impl Strategy<Value = Value> {
    const NAMES: &[&str] = &[
        "command",
        "args",
        "httpHeaders",
        "caBundle",
        "env",
        "terminated",
        "annotations",
        "managedFields",
        "status",
        "images",
        "message",
        "name",
        "valueFrom",
        "manager",
        "fieldsV1",
        LAST_APPLIED_ANNOTATION,
    ];
    let leaf = prop_oneof![
        Just(json!("text")),
        Just(json!(7)),
        Just(Value::Null),
        Just(json!("l".repeat(ANNOTATION_LIMIT + 1))),
        Just(json!("l".repeat(ANNOTATION_LIMIT))),
    ];
    leaf.prop_recursive(6, 64, 6, |inner| {
        let member = (prop::sample::select(NAMES).prop_map(str::to_owned), inner.clone());
        prop_oneof![
            prop::collection::vec(inner, 0..4).prop_map(Value::Array),
            prop::collection::vec(member, 0..6).prop_map(|members| Value::Object(members.into_iter().collect())),
        ]
    })
}

/// The redacted text of an object, by way of the tree and in one pass.
fn both_ways(mut object: Value) -> (String, String) {
    use rehome_model::canonical::{self, rewrite};
    let (mut once, mut tree) = (String::new(), String::new());
    let root = Place::root(object["kind"].as_str().unwrap_or_default());
    rewrite::rewrite(&object.to_string(), &mut Redaction, root, &mut once).unwrap();
    redact(&mut object);
    canonical::write(&object, &mut tree);
    (once, tree)
}

proptest! {
    #[test]
    fn in_one_pass_the_same_goes(odd in odd(), node: bool) {
        let (once, tree) = both_ways(json!({"kind": if node { "Node" } else { "Pod" }, "spec": odd, "status": odd, "env": odd}));
        prop_assert_eq!(once, tree);
    }
}

#[test]
fn a_planted_marker_does_not_survive_one_pass() {
    for object in objects(2, "SECRET").into_iter().filter(|object| !never_kept(object) && object["kind"] != "List") {
        let (once, tree) = both_ways(object);
        assert!(!once.contains("SECRET"), "{once}");
        assert_eq!(once, tree);
    }
}
