//! The capture of a real server.

use rehome_k8s::{Kind, snapshot};
use rehome_kube::access::{self, Permission};
use rehome_kube::capture;
use rehome_kube::{Connection, ConnectionError, ConnectionFlags};
use rehome_model::document;
use rehome_model::snapshot::{GapReason, Snapshot};
use rehome_testbed::control_plane::{CLUSTER_NAME, ControlPlane, everything, rule};
use serde_json::json;

use super::connect;
use crate::workload::{home, web};

#[test]
fn a_capture_holds_every_kind_and_nothing_that_must_not_be_kept() {
    let plane = ControlPlane::shared().unwrap();
    home(plane, "captured");
    plane.apply(&web("captured", 1, Some(1))).unwrap();
    let marker = "SECRET-9d1f";
    let secret = json!({
        "apiVersion": "v1", "kind": "Secret", "metadata": {"name": "s", "namespace": "captured"}, "stringData": {"a": marker},
    });
    let pod = json!({
        "apiVersion": "v1", "kind": "Pod", "metadata": {"name": "bare", "namespace": "captured"},
        "spec": {"nodeSelector": {"test": "captured"}, "containers": [
            {"name": "c", "image": "example.test/web:1", "command": [marker], "env": [{"name": "A", "value": marker}]},
        ]},
    });
    plane.apply(&json!({"apiVersion": "v1", "kind": "List", "items": [secret, pod]}).to_string()).unwrap();
    let connection = connect(plane.admin_kubeconfig(), None);
    let described = connection.describe();
    assert_eq!(described.cluster.as_deref(), Some(CLUSTER_NAME));
    assert_eq!(described.server, plane.server());
    assert!(described.uid.is_some() && described.server_version.starts_with("v1."), "{described:?}");

    let mut kinds = Vec::new();
    let captured = capture::capture(&connection, &mut |progress| kinds.push(progress.kind)).unwrap();
    assert_eq!(captured.gaps, []);
    kinds.dedup();
    assert_eq!(kinds, Kind::ALL);
    let text = document::to_pretty(&captured).unwrap();
    assert!(!text.contains(marker));
    assert!(!text.contains("\"Secret\"") && !text.contains("fieldsV1"));
    let read = Snapshot::read(&text).unwrap();
    assert_eq!(read.digest, captured.digest().unwrap());
    let view = snapshot::view(&read.document).unwrap();
    assert!(view.node("captured-a").is_some());
    assert!(view.pods_in("captured").any(|pod| pod.meta.name == "bare"));
    assert_eq!(view.of_kind(Kind::PodDisruptionBudget).filter(|pdb| pdb.meta().namespace == "captured").count(), 1);
    let keys: Vec<_> = view.records().map(|record| (record.kind().name(), record.key())).collect();
    let unique: std::collections::BTreeSet<_> = keys.iter().cloned().collect();
    assert_eq!(keys.len(), unique.len());
}

#[test]
fn what_the_credentials_may_not_list_is_a_gap_and_what_they_may_not_do_is_told() {
    let plane = ControlPlane::shared().unwrap();
    let rules = [rule("", &["nodes", "pods"], &["get", "list", "watch"])];
    let reader = plane.identity("reader", &rules).unwrap();
    let connection = connect(reader.kubeconfig(), None);
    assert_eq!(connection.describe().uid, None, "kube-system may not be read");
    let captured = capture::capture(&connection, &mut |_| {}).unwrap();
    assert_eq!(captured.gaps.len(), Kind::ALL.len() - 2, "{:?}", captured.gaps);
    assert!(captured.gaps.iter().all(|gap| gap.reason == GapReason::Forbidden));
    let view = snapshot::view(&captured).unwrap();
    assert!(view.gap(Kind::PodDisruptionBudget).is_some() && view.gap(Kind::Node).is_none());

    let list = Permission::new("list", "", "pods");
    let evict = Permission::new("create", "", "pods/eviction").in_namespace("default");
    let denied = access::denied(&connection, [list.clone(), evict.clone()]).unwrap();
    assert_eq!(denied.iter().map(|denied| &denied.permission).collect::<Vec<_>>(), [&evict]);
    let mighty = plane.identity("mighty", &everything()).unwrap();
    assert_eq!(access::denied(&connect(mighty.kubeconfig(), None), [list, evict]).unwrap(), []);
}

#[test]
fn credentials_that_are_not_accepted_and_a_certificate_that_is_not_trusted_are_told_apart() {
    let plane = ControlPlane::shared().unwrap();
    let folder = tempfile::tempdir().unwrap();
    let write = |authority: bool| {
        let mut cluster = json!({"server": plane.server()});
        cluster["insecure-skip-tls-verify"] = json!(!authority);
        let content = json!({
            "apiVersion": "v1", "kind": "Config", "current-context": "c",
            "clusters": [{"name": "c", "cluster": cluster}],
            "users": [{"name": "u", "user": {"token": "expired"}}],
            "contexts": [{"name": "c", "context": {"cluster": "c", "user": "u"}}],
        });
        let path = folder.path().join(authority.to_string());
        fs_err::write(&path, content.to_string()).unwrap();
        ConnectionFlags { kubeconfig: Some(path), ..ConnectionFlags::default() }
    };
    let error = Connection::open(&write(false), "rehome/test").unwrap_err();
    assert!(matches!(error, ConnectionError::Unauthorized { .. }), "{error}");
    let error = Connection::open(&write(true), "rehome/test").unwrap_err();
    assert!(matches!(error, ConnectionError::Tls { .. }), "{error}");
}
