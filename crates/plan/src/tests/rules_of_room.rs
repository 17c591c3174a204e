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
