//! Rules about where successors can go.

use rehome_k8s::Kind;
use rehome_model::finding::Severity::{Blocking, Unknown};
use rehome_model::verb::Verb;
use serde_json::json;

use crate::testing::Cluster;

/// Two StatefulSets of one pod that asks for this much memory.
fn two_of(memory: &str) -> Cluster {
    let mut cluster = Cluster::new();
    let asks = json!({"containers": [{"name": "main", "resources": {"requests": {"cpu": "100m", "memory": memory}}}]});
    for (app, node) in [("one", "old-1"), ("two", "old-2")] {
        cluster.workload("StatefulSet", app, &[node]).pod_spec_of(app, &asks);
    }
    cluster
}

#[test]
fn no_room_on_targets_counts_all_pods_together() {
    let mut cluster = two_of("5Gi");
    assert_eq!(cluster.found("no-room-on-targets"), [], "each has a target to itself");
    cluster.intent.to = "new-1".to_owned();
    assert_eq!(cluster.found("no-room-on-targets"), [Blocking]);
    assert_eq!(cluster.found("no-matching-target"), []);
}

#[test]
fn no_room_on_targets_for_workloads_that_must_meet_on_one() {
    let mut cluster = two_of("5Gi");
    cluster.intent.from = "old-1".to_owned();
    cluster.patch("Pod", "two-0", &json!({"spec": {"nodeName": "old-1"}}));
    cluster.claim("data", "ReadWriteOnce", "*").mount("one", "data").mount("two", "data");
    assert_eq!(cluster.found("no-room-on-targets"), [Blocking], "each would fit, but on different targets");
    let mut cluster = two_of("3Gi");
    cluster.claim("data", "ReadWriteOnce", "*").mount("one", "data").mount("two", "data");
    assert_eq!(cluster.found("no-room-on-targets"), []);
}

#[test]
fn a_unit_meets_where_there_is_room_once_the_others_are_there() {
    // The least loaded node first: "aaa" moves onto the target that is first by name; there is no room for the pair beside it.
    let mut cluster = two_of("3Gi");
    let asks = json!({"containers": [{"name": "main", "resources": {"requests": {"cpu": "100m", "memory": "4Gi"}}}]});
    cluster.workload("StatefulSet", "aaa", &["old-2"]).pod_spec_of("aaa", &asks);
    cluster.patch("Pod", "two-0", &json!({"spec": {"nodeName": "old-1"}}));
    cluster.claim("data", "ReadWriteOnce", "*").mount("one", "data").mount("two", "data");
    let plan = cluster.plan();
    let pair = plan.steps().find_map(|step| match &step.verb {
        Verb::Evict(evict) if evict.lineages.len() == 2 => Some(evict.onto.clone()),
        _ => None,
    });
    assert_eq!(pair.unwrap(), ["new-2"]);
}

#[test]
fn no_matching_target_blocks_when_even_an_empty_one_would_not_do() {
    let mut cluster = Cluster::new();
    cluster.deployment("web", &["old-1"]).pod_spec_of("web", &json!({"nodeSelector": {"pool": "old"}}));
    assert_eq!(cluster.found("no-matching-target"), [Blocking]);
    cluster.pod_spec_of("web", &json!({"nodeSelector": {"pool": "new"}}));
    assert_eq!(cluster.found("no-matching-target"), []);
}

#[test]
fn volume_cannot_follow_out_of_its_pool() {
    let mut cluster = Cluster::new();
    cluster.workload("StatefulSet", "db", &["old-1"]).claim("data", "ReadWriteOnce", "old").mount("db", "data");
    assert_eq!(cluster.found("volume-cannot-follow"), [Blocking]);
    assert_eq!(cluster.found("no-matching-target"), []);
    cluster.patch(
        "PersistentVolume",
        "pv-data",
        &json!({"spec": {"nodeAffinity": {"required": {"nodeSelectorTerms": [
            {"matchExpressions": [{"key": "pool", "operator": "In", "values": ["new"]}]}]}}}}),
    );
    assert_eq!(cluster.found("volume-cannot-follow"), []);
    cluster.gap(Kind::PersistentVolume);
    assert_eq!(cluster.found("volume-cannot-follow"), [Unknown]);
}

#[test]
fn volume_cannot_follow_from_the_disk_of_a_node_but_by_a_copy() {
    let mut cluster = Cluster::new();
    cluster.workload("StatefulSet", "db", &["old-1"]).claim("data", "ReadWriteOnce", "old").mount("db", "data");
    let remedies = |cluster: &Cluster| -> Vec<String> {
        let findings = cluster.findings().into_iter().filter(|finding| finding.rule == "volume-cannot-follow");
        findings.flat_map(|finding| finding.remedies).collect()
    };
    assert!(remedies(&cluster)[0].starts_with("add a target"), "{:?}", remedies(&cluster));
    cluster.patch(
        "PersistentVolume",
        "pv-data",
        &json!({"spec": {"nodeAffinity": {"required": {"nodeSelectorTerms": [
            {"matchExpressions": [{"key": "kubernetes.io/hostname", "operator": "In", "values": ["old-1"]}]}]}}}}),
    );
    let found = remedies(&cluster);
    assert!(found.len() == 1 && found[0].starts_with("copy the data"), "no target can be added there: {found:?}");
}

#[test]
fn volume_cannot_follow_while_two_pods_of_one_workload_hold_it() {
    let mut cluster = Cluster::new();
    cluster.deployment("wiki", &["old-1", "old-1"]).claim("data", "ReadWriteOnce", "*").mount("wiki", "data");
    assert_eq!(cluster.found("volume-cannot-follow"), [Blocking]);
    let mut cluster = Cluster::new();
    cluster.deployment("wiki", &["old-1", "old-1"]).claim("data", "ReadWriteMany", "*").mount("wiki", "data");
    assert_eq!(cluster.found("volume-cannot-follow"), []);
}

#[test]
fn spread_with_fenced_domains_blocks_unless_taints_are_honoured() {
    let spread = |policy: &str| {
        json!({"topologySpreadConstraints": [{
            "maxSkew": 1, "topologyKey": "kubernetes.io/hostname", "whenUnsatisfiable": "DoNotSchedule",
            "nodeTaintsPolicy": policy, "labelSelector": {"matchLabels": {"app": "web"}},
        }]})
    };
    let mut cluster = Cluster::new();
    cluster.node("old-3", "old");
    cluster.deployment("web", &["old-1", "old-2", "old-3"]).pod_spec_of("web", &spread("Ignore"));
    assert_eq!(cluster.found("spread-with-fenced-domains"), [Blocking]);
    cluster.pod_spec_of("web", &spread("Honor"));
    assert_eq!(cluster.found("spread-with-fenced-domains"), []);
    cluster.node("new-3", "new").pod_spec_of("web", &spread("Ignore"));
    assert_eq!(cluster.found("spread-with-fenced-domains"), [], "one pod on each target keeps a skew of one");
}

fn apart(app: &str) -> serde_json::Value {
    json!({"affinity": {"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [
        {"topologyKey": "kubernetes.io/hostname", "labelSelector": {"matchLabels": {"app": app}}}]}}})
}

#[test]
fn pod_affinity_unmet_where_three_keep_apart_on_two_targets() {
    let mut cluster = Cluster::new();
    cluster.node("old-3", "old").workload("StatefulSet", "db", &["old-1", "old-2", "old-3"]);
    cluster.pod_spec_of("db", &apart("db"));
    assert_eq!(cluster.found("pod-affinity-unmet"), [Blocking]);
    assert_eq!(cluster.found("no-room-on-targets"), []);
    cluster.node("new-3", "new");
    assert_eq!(cluster.found("pod-affinity-unmet"), []);
}

#[test]
fn csi_driver_missing_blocks_where_no_target_has_it_and_warns_where_one_lacks_it() {
    let csi = |node: &str, drivers: serde_json::Value| {
        json!({"apiVersion": "storage.k8s.io/v1", "kind": "CSINode", "metadata": {"name": node},
               "spec": {"drivers": drivers}})
    };
    let driver = json!([{"name": "csi.example.org", "nodeID": "1", "topologyKeys": []}]);
    let mut cluster = Cluster::new();
    cluster.workload("StatefulSet", "db", &["old-1"]).claim("data", "ReadWriteOnce", "*").mount("db", "data");
    assert_eq!(cluster.found("csi-driver-missing"), [], "it registers nowhere");
    cluster.add(csi("old-1", driver.clone())).add(csi("new-1", json!([])));
    assert_eq!(cluster.found("csi-driver-missing"), [Blocking, Blocking]);
    cluster.add(csi("new-2", driver.clone()));
    assert_eq!(cluster.found("csi-driver-missing"), [rehome_model::finding::Severity::Warning]);
    cluster.patch("CSINode", "new-1", &json!({"spec": {"drivers": driver}}));
    assert_eq!(cluster.found("csi-driver-missing"), []);
    cluster.gap(Kind::CSINode);
    assert_eq!(cluster.found("csi-driver-missing"), [Unknown]);
}

#[test]
fn successor_refused_by_a_limit_range_that_is_younger_than_the_pod() {
    let range = |max: &str| {
        json!({"apiVersion": "v1", "kind": "LimitRange", "metadata": {"namespace": "shop", "name": "limits"},
               "spec": {"limits": [{"type": "Container", "max": {"memory": max}}]}})
    };
    let mut cluster = Cluster::new();
    cluster.deployment("web", &["old-1"]).add(range("64Mi"));
    assert_eq!(cluster.found("successor-refused"), [Blocking]);
    let mut cluster = Cluster::new();
    cluster.deployment("web", &["old-1"]).add(range("128Mi"));
    assert_eq!(cluster.found("successor-refused"), []);
}

#[test]
fn daemonsets_fill_targets_from_35_percent_on_and_those_that_wait_count() {
    let agent = |memory: &str| {
        let mut cluster = Cluster::new();
        cluster.workload("DaemonSet", "agent", &["new-1"]).bare_pod("agent-waits", "");
        let asks = json!({"containers": [{"name": "main", "resources": {"requests": {"memory": memory}}}]});
        let on_new_2 = json!({"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [
            {"matchFields": [{"key": "metadata.name", "operator": "In", "values": ["new-2"]}]}]}}});
        cluster.pod_spec_of("agent", &asks).patch(
            "Pod",
            "agent-waits",
            &json!({"metadata": {"ownerReferences": [{"apiVersion": "apps/v1", "kind": "DaemonSet", "name": "agent",
                "uid": "daemonset-agent", "controller": true}]},
                "spec": {"affinity": on_new_2, "containers": asks["containers"]}}),
        );
        cluster.found("daemonsets-fill-targets")
    };
    let warning = rehome_model::finding::Severity::Warning;
    assert_eq!(agent("3Gi"), [warning, warning], "37 % of 8 GiB, on both targets");
    assert_eq!(agent("2800Mi"), []);
}
