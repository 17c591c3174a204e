//! Records from JSON: whole, sparse, of other versions, and hostile.

use proptest::prelude::*;
use rehome_k8s::pod::{Phase, Volume};
use rehome_k8s::selector::Selector;
use rehome_k8s::{Record, ingest};
use serde_json::{Value, json};

use crate::cluster::{pod_record, record};

fn whole_pod() -> Value {
    json!({
        "apiVersion": "v1", "kind": "Pod",
        "metadata": {
            "name": "p", "namespace": "a", "uid": "u", "creationTimestamp": "2026-01-01T00:00:00Z",
            "annotations": {"kubectl.kubernetes.io/last-applied-configuration": "secret", "kept": "yes"},
            "managedFields": [{"manager": "z"}, {"manager": "a"}, {"manager": "z"}]
        },
        "spec": {
            "nodeName": "n", "hostNetwork": true,
            "initContainers": [{"name": "side", "restartPolicy": "Always",
                "resources": {"requests": {"cpu": "50m"}}, "ports": [{"containerPort": 9000}]}],
            "containers": [{"name": "c", "resources": {"requests": {"cpu": "100m"}, "limits": {"memory": "1Gi"}},
                "ports": [{"containerPort": 80}], "lifecycle": {"preStop": {"exec": {"command": ["sleep"]}}}}],
            "volumes": [
                {"name": "e", "ephemeral": {"volumeClaimTemplate": {"spec": {}}}},
                {"name": "m", "emptyDir": {"medium": "Memory"}}, {"name": "h", "hostPath": {"path": "/data"}},
                {"name": "d", "persistentVolumeClaim": {"claimName": "data"}}, {"name": "x", "configMap": {"name": "x"}},
                {"name": "r", "rbd": {"image": "i", "monitors": []}}
            ],
            "topologySpreadConstraints": [{"topologyKey": "zone", "maxSkew": 1, "whenUnsatisfiable": "DoNotSchedule",
                "nodeTaintsPolicy": "Honor", "matchLabelKeys": ["pod-template-hash"], "minDomains": 2}]
        },
        "status": {
            "phase": "Running",
            "conditions": [
                {"type": "Ready", "status": "True", "lastTransitionTime": "2026-01-01T00:00:09Z"},
                {"type": "PodScheduled", "status": "False", "reason": "Unschedulable", "message": "0/1 nodes"}
            ],
            "containerStatuses": [{"name": "c", "restartCount": 3, "image": "", "imageID": "", "ready": true,
                "allocatedResources": {"cpu": "300m"}, "resources": {"requests": {"cpu": "200m"}},
                "state": {"waiting": {"reason": "PodInitializing"}}}],
            "initContainerStatuses": [{"name": "side", "restartCount": 1, "image": "", "imageID": "", "ready": false,
                "state": {"waiting": {"reason": "CrashLoopBackOff"}}}]
        }
    })
}

#[test]
fn a_pod_with_everything() {
    let pod = pod_record(&whole_pod());
    assert_eq!(pod.meta.managers, ["a", "z"]);
    assert_eq!(pod.meta.annotations.keys().collect::<Vec<_>>(), ["kept"]);
    assert_eq!((pod.node.as_deref(), pod.phase, pod.ready, pod.restarts), (Some("n"), Phase::Running, true, 3));
    assert_eq!(pod.unschedulable.as_deref(), Some("0/1 nodes"));
    assert_eq!(pod.reason.as_deref(), Some("CrashLoopBackOff"));
    // A resize under way counts the largest of asked, allocated and in force; the sidecar is added.
    assert_eq!((pod.requests()["cpu"], pod.requests()["memory"]), (350, 1 << 30));
    assert!(pod.spec.requests["cpu"] < 350, "the next pod of the template asks what the template says");
    assert_eq!(
        (pod.spec.scheduler.as_str(), pod.spec.grace.as_millis(), pod.spec.pre_stop),
        ("default-scheduler", 30_000, true)
    );
    assert_eq!(pod.spec.host_ports.iter().map(|(_, _, port)| *port).collect::<Vec<_>>(), [80, 9000]);
    assert_eq!(pod.claims().collect::<Vec<_>>(), ["p-e", "data"]);
    assert!(pod.spec.volumes.contains(&Volume::EmptyDir { memory: true }));
    assert!(pod.spec.volumes.contains(&Volume::Other { kind: "rbd".to_owned() }));
    assert_eq!(pod.spec.volumes.len(), 5);
    let spread = &pod.spec.spread[0];
    assert!(spread.hard && spread.honor_node_affinity && spread.honor_node_taints && spread.min_domains == Some(2));
}

#[test]
fn sparse_objects_of_every_kind_are_records_and_nulls_are_absent_fields() {
    for kind in rehome_k8s::Kind::ALL {
        for metadata in [json!({"name": "x"}), Value::Null] {
            let sparse = json!({"apiVersion": kind.api_version(), "kind": kind.name(), "metadata": metadata,
                "spec": null, "status": null});
            assert!(matches!(ingest::object(&sparse.to_string()), Ok(Some(found)) if found.kind() == *kind), "{kind}");
        }
    }
}

#[test]
fn other_versions_are_read_and_other_groups_are_not() {
    let budget = |version: &str| json!({"apiVersion": version, "kind": "PodDisruptionBudget", "metadata": {"name": "b"}, "spec": {"selector": {}}});
    let selector = |version| match record(&budget(version)) {
        Record::PodDisruptionBudget(budget) => budget.selector.clone(),
        other => panic!("expected a budget, found {other:?}"),
    };
    assert_eq!(selector("policy/v1"), Selector::All(Vec::new()));
    assert_eq!(selector("policy/v1beta1"), Selector::Nothing);
    let hpa = json!({"apiVersion": "autoscaling/v2beta2", "kind": "HorizontalPodAutoscaler", "metadata": {"name": "h"},
        "spec": {"maxReplicas": 4, "scaleTargetRef": {"kind": "Deployment", "name": "d"}, "metrics": [{"type": "Resource"}]}});
    assert!(matches!(record(&hpa), Record::HorizontalPodAutoscaler(hpa) if (hpa.min, hpa.max) == (1, 4)));
    for (version, kind) in [("serving.knative.dev/v1", "Service"), ("v1", "Secret"), ("x/v1", "Pod")] {
        let other = json!({"apiVersion": version, "kind": kind, "metadata": {"name": "x"}});
        assert!(matches!(ingest::object(&other.to_string()), Ok(None)), "{version} {kind}");
    }
}

#[test]
fn what_cannot_be_read_is_refused_by_name() {
    let mut bad = whole_pod();
    bad["spec"]["containers"][0]["resources"]["requests"]["cpu"] = json!("a lot");
    let error = ingest::object(&bad.to_string()).unwrap_err().to_string();
    assert!(error.contains("a lot") && error.contains('p'), "{error}");
    bad["spec"]["containers"] = json!(7);
    assert!(
        matches!(ingest::object(&bad.to_string()), Err(ingest::IngestError::Malformed { object, .. }) if object.name == "p")
    );
    for text in ["", "[]", "null", "{}", "{\"kind\":\"Pod\"}", &"[".repeat(100_000)] {
        assert!(matches!(ingest::object(text), Err(ingest::IngestError::NotAnObject { .. })));
    }
}

/// Something that does not belong there.
fn intruder() -> impl Strategy<Value = Value> {
    prop_oneof![
        Just(Value::Null),
        any::<i64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        any::<bool>().prop_map(Value::from),
        "[-0-9eEKMGi%.]{0,12}".prop_map(Value::from),
        any::<String>().prop_map(Value::from),
        Just(json!([])),
        Just(json!({})),
        Just((0..200).fold(json!(1), |inner, _| json!([inner]))),
    ]
}

/// Puts a value at the `place`th position of a tree, counted in depth-first order.
fn put(value: &mut Value, place: &mut usize, intruder: &Value) {
    if *place == 0 {
        *value = intruder.clone();
    }
    *place = place.wrapping_sub(1);
    match value {
        Value::Array(items) => items.iter_mut().for_each(|item| put(item, place, intruder)),
        Value::Object(fields) => fields.values_mut().for_each(|field| put(field, place, intruder)),
        _ => {}
    }
}

proptest! {
    #[test]
    fn no_text_makes_it_panic(places in proptest::collection::vec((0..120_usize, intruder()), 1..4), cut in 0..3000_usize) {
        let mut pod = whole_pod();
        for (mut place, intruder) in places {
            put(&mut pod, &mut place, &intruder);
        }
        let mut deployment = json!({"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "d"}});
        deployment["spec"] = json!({"replicas": -3, "template": {"metadata": pod["metadata"], "spec": pod["spec"]}});
        for object in [pod.to_string(), deployment.to_string()] {
            let _ = ingest::object(&object);
            let _ = ingest::object(object.get(..cut).unwrap_or(&object));
        }
    }
}
