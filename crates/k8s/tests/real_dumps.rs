//! Dumps from other people's clusters: every object in them is decoded, is of a kind that no rule reads, or is refused
//! with a reason. The files are third-party data and lie outside the tree.

#![expect(clippy::unwrap_used, clippy::type_complexity, reason = "a test fails by panicking; a table is read as it is")]

use std::collections::BTreeMap;
use std::path::PathBuf;

use rehome_k8s::ingest;
use serde_json::Value;

fn folder() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../../shared/cases/files")
}

/// The objects of a file: items of lists take kind and version from the list where they have none.
fn objects(name: &str) -> Vec<Value> {
    let text = std::fs::read_to_string(folder().join(name)).unwrap();
    let documents: Vec<Value> = if name.ends_with(".json") {
        vec![serde_json::from_str(&text).unwrap()]
    } else {
        serde_saphyr::from_multiple(&text).unwrap()
    };
    documents.into_iter().flat_map(flatten).collect()
}

fn flatten(document: Value) -> Vec<Value> {
    match document.get("items") {
        Some(Value::Array(items)) => items.iter().cloned().flat_map(flatten).collect(),
        Some(Value::Null) => Vec::new(),
        _ => vec![document],
    }
}

/// What became of the objects of a file: counts by kind, and what was refused.
fn outcome(name: &str) -> (BTreeMap<String, usize>, Vec<String>) {
    let (mut kinds, mut refused) = (BTreeMap::new(), Vec::new());
    for object in objects(name) {
        match ingest::object(&object.to_string()) {
            Ok(Some(record)) => *kinds.entry(record.kind().to_string()).or_default() += 1,
            Ok(None) => *kinds.entry("(not read)".to_owned()).or_default() += 1,
            Err(error) => refused.push(error.to_string()),
        }
    }
    (kinds, refused)
}

#[test]
fn every_object_of_the_dumps_is_decoded_or_refused_with_a_reason() {
    let expected: &[(&str, &[(&str, usize)], usize)] = &[
        ("F01-nodes-mixed-sizes.json", &[("Node", 7)], 0),
        ("F02-k3s-nodes.json", &[("Node", 1)], 0),
        ("F03-k3s-pods-all.json", &[("Pod", 13)], 0),
        ("F05-pods-pending-node-affinity.json", &[("Pod", 1)], 0),
        ("F09-ocp-nodes-gcp-3zones.json", &[("Node", 6)], 0),
        ("F10-ocp-pods.json", &[("Pod", 19)], 0),
        // Four dump files under one object, which is itself no Kubernetes object.
        ("F04-k3s-misc-and-collect-errors.json", &[], 1),
        ("F06-pods-unhealthy-mix.json", &[("Pod", 4)], 0),
        ("F07-events-failed-mount.json", &[("Event", 76)], 0),
        ("F08-statefulsets-and-pvcs.json", &[("PersistentVolumeClaim", 2), ("StatefulSet", 2)], 0),
        ("F11-ocp-pdb-pv-machines.json", &[("(not read)", 11), ("PersistentVolume", 2), ("PodDisruptionBudget", 1)], 0),
        ("F12-ocp-etcd-pod-and-nodes.json", &[("Node", 2), ("Pod", 1)], 0),
        (
            "F13-popeye-lint-objects.yaml",
            &[
                ("DaemonSet", 3),
                ("Deployment", 3),
                ("HorizontalPodAutoscaler", 6),
                ("Node", 5),
                ("PersistentVolume", 4),
                ("PersistentVolumeClaim", 3),
                ("Pod", 10),
                ("PodDisruptionBudget", 5),
                ("StatefulSet", 3),
            ],
            0,
        ),
        (
            "F14-open-simulator-demo.yaml",
            &[
                ("DaemonSet", 4),
                ("Deployment", 5),
                ("Job", 1),
                ("Node", 6),
                ("Pod", 2),
                ("ReplicaSet", 1),
                ("StatefulSet", 4),
                ("StorageClass", 3),
            ],
            0,
        ),
        ("F18-cnpg-clusters.yaml", &[("(not read)", 12)], 0),
        ("F24-gardener-machine-deployment.yaml", &[("(not read)", 1)], 0),
    ];
    for (name, kinds, refused) in expected {
        let (found, errors) = outcome(name);
        let kinds: BTreeMap<String, usize> = kinds.iter().map(|(kind, count)| ((*kind).to_owned(), *count)).collect();
        assert_eq!((found, errors.len()), (kinds, *refused), "{name}: {errors:?}");
    }
}
