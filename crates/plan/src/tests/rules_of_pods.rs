//! Rules about single pods and their owners.

use rehome_k8s::Kind;
use rehome_model::ObjectRef;
use rehome_model::finding::Severity::{Blocking, Note, Unknown, Warning};
use rehome_model::intent::{Consent, ConsentTo};
use serde_json::json;

use crate::testing::Cluster;

#[test]
fn bare_pod_blocks_until_its_deletion_is_agreed_to() {
    let mut cluster = Cluster::new();
    cluster.bare_pod("shell", "new-1");
    assert_eq!(cluster.found("bare-pod"), [], "it does not have to leave");
    let mut cluster = Cluster::new();
    cluster.bare_pod("shell", "old-1");
    assert_eq!(cluster.found("bare-pod"), [Blocking]);
    let consent = Consent { to: ConsentTo::DeleteBarePod, object: ObjectRef::pod("shop", "shell") };
    cluster.intent.consents.insert(consent);
    assert_eq!(cluster.found("bare-pod"), [Warning]);
    let plan = cluster.plan();
    let step = plan.step(&plan.moves[0].step).unwrap();
    assert!(step.establishes.is_empty(), "nobody creates it again, so it never settles anywhere: {step:?}");
}

#[test]
fn pending_before_is_noted_for_pods_that_no_node_will_take() {
    let mut cluster = Cluster::new();
    cluster.deployment("web", &["old-1"]).bare_pod("waits", "");
    assert_eq!(cluster.found("pending-before"), [], "a node takes it");
    cluster.patch("Pod", "waits", &json!({"spec": {"nodeSelector": {"pool": "gpu"}}}));
    assert_eq!(cluster.found("pending-before"), [Note]);
    let plan = cluster.plan();
    assert_eq!(plan.pending.len(), 1);
    assert_eq!(plan.pending[0].reasons["node(s) didn't match Pod's node affinity/selector"], 2);
}

#[test]
fn local_data_is_noted_and_a_host_path_is_a_warning() {
    let mut cluster = Cluster::new();
    cluster.deployment("web", &["old-1"]);
    cluster.pod_spec_of("web", &json!({"volumes": [{"name": "tmp", "emptyDir": {"medium": "Memory"}}]}));
    assert_eq!(cluster.found("local-data"), []);
    cluster.pod_spec_of("web", &json!({"volumes": [{"name": "tmp", "emptyDir": {}}]}));
    assert_eq!(cluster.found("local-data"), [Note]);
    cluster.pod_spec_of("web", &json!({"volumes": [{"name": "tmp", "hostPath": {"path": "/data"}}]}));
    assert_eq!(cluster.found("local-data"), [Warning]);
}

#[test]
fn owner_unseen_is_a_warning() {
    let mut cluster = Cluster::new();
    cluster.deployment("web", &["old-1"]).bare_pod("pg-1", "old-1");
    assert_eq!(cluster.found("owner-unseen"), []);
    let owner = json!([{"apiVersion": "postgresql.cnpg.io/v1", "kind": "Cluster", "name": "pg", "uid": "pg", "controller": true}]);
    cluster.patch("Pod", "pg-1", &json!({"metadata": {"ownerReferences": owner}}));
    assert_eq!(cluster.found("owner-unseen"), [Warning]);
    assert_eq!(cluster.found("bare-pod"), []);
    cluster.gap(Kind::StatefulSet);
    assert_eq!(cluster.found("owner-unseen"), [Unknown]);
}

#[test]
fn singleton_outage_is_a_warning_where_nothing_can_surge() {
    let mut cluster = Cluster::new();
    cluster.workload("StatefulSet", "db", &["old-1"]);
    assert_eq!(cluster.found("singleton-outage"), [Warning]);
    let mut cluster = Cluster::new();
    cluster.workload("StatefulSet", "db", &["old-1", "old-2"]).deployment("web", &["old-1"]);
    assert_eq!(cluster.found("singleton-outage"), []);
}

#[test]
fn no_strategy_is_left_for_a_pair_under_a_structural_budget() {
    let mut cluster = Cluster::new();
    cluster.deployment("wiki", &["old-1"]).deployment("search", &["old-1"]);
    cluster.claim("data", "ReadWriteOnce", "*").mount("wiki", "data").mount("search", "data");
    assert_eq!(cluster.found("no-strategy"), []);
    cluster.budget("wiki", "wiki", &json!({"maxUnavailable": 0}));
    assert_eq!(cluster.found("no-strategy"), [Blocking]);
}

#[test]
fn a_pod_that_is_being_deleted_stays_until_it_is_gone() {
    let mut cluster = Cluster::new();
    cluster.deployment("web", &["old-1", "old-2"]);
    cluster.patch("Pod", "web-1-0", &json!({"metadata": {"deletionTimestamp": "2026-12-01T00:00:00Z"}}));
    let plan = cluster.plan();
    assert_eq!(plan.stays.len(), 1, "{:?}", plan.stays);
}
