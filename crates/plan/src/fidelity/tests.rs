//! The self-proof: each kind of evidence once, with the near miss beside it.

use rehome_k8s::Kind;
use rehome_model::fidelity::{Cause, Fidelity, Outcome};
use serde_json::{Value, json};

use crate::testing::Cluster;

/// A web workload of two pods, one on each old node.
fn web() -> Cluster {
    let mut cluster = Cluster::new();
    cluster.deployment("web", &["old-1", "old-2"]);
    cluster
}

fn of(cluster: &Cluster) -> Fidelity {
    super::of(&cluster.view())
}

fn causes(fidelity: &Fidelity) -> Vec<(Cause, &str)> {
    fidelity.exceptions.iter().map(|exception| (exception.cause, exception.pod.name.as_str())).collect()
}

fn plugins(fidelity: &Fidelity) -> Vec<&str> {
    fidelity.violations.iter().map(|violation| violation.plugin.as_str()).collect()
}

#[test]
fn pods_that_could_be_put_where_they_are_are_explained() {
    let fidelity = of(&web());
    assert_eq!((fidelity.running, fidelity.explained, fidelity.unjudged), (2, 2, 0));
    assert_eq!((plugins(&fidelity), causes(&fidelity)), (vec![], vec![]));
    assert_eq!((fidelity.waiting, fidelity.weaker), (vec![], vec![]));
}

#[test]
fn a_node_that_fits_exactly_is_full_and_one_pod_more_breaks_its_sum() {
    let mut cluster = web();
    cluster.pod_spec_of("web", &json!({"containers": [{"name": "main", "resources": {"requests": {"cpu": "4"}}}]}));
    assert_eq!(of(&cluster).explained, 2);
    cluster.bare_pod("more", "old-1");
    let fidelity = of(&cluster);
    assert_eq!(plugins(&fidelity), ["NodeResourcesFit"], "{:?}", fidelity.violations);
    let violation = &fidelity.violations[0];
    assert_eq!((violation.subject.name.as_str(), violation.field.as_str()), ("old-1", "status.allocatable[cpu]"));
    assert!(violation.expected.contains("4100") && violation.found.contains("4000"), "{violation:?}");
    assert!(fidelity.weaker.iter().any(|weaker| weaker.rule == "no-room-on-targets"));
    assert_eq!(cluster.found("model-contradicted").len(), 1);
    assert_eq!(web().found("model-contradicted"), []);
}

#[test]
fn a_sum_that_the_kubelet_may_still_refuse_is_no_violation() {
    let mut cluster = web();
    cluster.pod_spec_of("web", &json!({"containers": [{"name": "main", "resources": {"requests": {"cpu": "4"}}}]}));
    cluster.bare_pod("more", "old-1");
    cluster.patch("Pod", "more", &json!({"status": {"phase": "Pending"}}));
    let fidelity = of(&cluster);
    assert_eq!(plugins(&fidelity), [""; 0]);
    assert_eq!(causes(&fidelity), [(Cause::NotTakenUp, "more"), (Cause::NotTakenUp, "web-1-0")]);
}

#[test]
fn devices_come_and_go_under_pods_that_hold_them() {
    let mut cluster = web();
    let gpu = json!({"example.org/gpu": "1"});
    let resources = json!({"requests": gpu, "limits": gpu});
    cluster.pod_spec_of("web", &json!({"containers": [{"name": "main", "resources": resources}]}));
    let fidelity = of(&cluster);
    assert_eq!(plugins(&fidelity), [""; 0]);
    assert_eq!(causes(&fidelity), [(Cause::DeviceGone, "web-1-0"), (Cause::DeviceGone, "web-1-1")]);
}

#[test]
fn one_host_port_twice_on_a_node_is_a_violation() {
    let ports = json!({"containers": [{"name": "main", "ports": [{"containerPort": 80, "hostPort": 80}]}]});
    let mut cluster = web();
    cluster.pod_spec_of("web", &ports);
    assert_eq!(of(&cluster).explained, 2);
    cluster.bare_pod("web2", "old-1").pod_spec_of("web2", &ports);
    let fidelity = of(&cluster);
    assert_eq!(plugins(&fidelity), ["NodePorts", "NodePorts"]);
    assert!(fidelity.violations[0].found.contains("web"), "{:?}", fidelity.violations);
}

#[test]
fn a_volume_beyond_reach_is_a_violation() {
    let mut cluster = Cluster::new();
    cluster.workload("StatefulSet", "db", &["old-1"]).claim("data", "ReadWriteOnce", "old").mount("db", "data");
    assert_eq!(of(&cluster).explained, 1);
    let mut cluster = Cluster::new();
    cluster.workload("StatefulSet", "db", &["old-1"]).claim("data", "ReadWriteOnce", "new").mount("db", "data");
    let fidelity = of(&cluster);
    assert_eq!(plugins(&fidelity), ["VolumeBinding"]);
    assert!(fidelity.violations[0].field.contains("pv-data"), "{:?}", fidelity.violations);
    // The kubelet has not mounted it: then it waits for something that will not come, but nothing is wrong.
    cluster.patch("Pod", "db-0", &json!({"status": {"phase": "Pending"}}));
    assert_eq!((plugins(&of(&cluster)), causes(&of(&cluster))), (vec![], vec![(Cause::Storage, "db-0")]));
}

#[test]
fn more_volumes_than_the_node_takes_are_a_violation() {
    let with_limit = |limit: i64| {
        let mut cluster = Cluster::new();
        for name in ["a", "b"] {
            cluster.workload("StatefulSet", name, &["old-1"]).claim(name, "ReadWriteOnce", "old").mount(name, name);
        }
        cluster.add(json!({"apiVersion": "storage.k8s.io/v1", "kind": "CSINode", "metadata": {"name": "old-1"},
            "spec": {"drivers": [{"name": "csi.example.org", "nodeID": "x", "allocatable": {"count": limit}}]}}));
        of(&cluster)
    };
    assert_eq!(plugins(&with_limit(2)), [""; 0]);
    assert_eq!(plugins(&with_limit(1)), ["NodeVolumeLimits", "NodeVolumeLimits"]);
}

#[test]
fn a_claim_of_one_pod_in_two_that_run_is_a_violation() {
    let mut cluster = Cluster::new();
    cluster.claim("data", "ReadWriteOncePod", "old");
    cluster.workload("StatefulSet", "a", &["old-1"]).mount("a", "data");
    assert_eq!(of(&cluster).explained, 1);
    cluster.workload("StatefulSet", "b", &["old-1"]).mount("b", "data");
    assert_eq!(plugins(&of(&cluster)), ["VolumeRestrictions", "VolumeRestrictions"]);
}

#[test]
fn what_changed_on_a_node_since_is_counted_with_its_evidence() {
    let mut cluster = web();
    cluster.pod_spec_of("web", &json!({"nodeSelector": {"pool": "old"}}));
    let taint = json!({"key": "dedicated", "value": "db", "effect": "NoSchedule"});
    cluster.patch("Node", "old-1", &json!({"spec": {"taints": [taint]}}));
    cluster.patch("Node", "old-2", &json!({"spec": {"unschedulable": true}, "metadata": {"labels": {"pool": "x"}}}));
    let fidelity = of(&cluster);
    assert_eq!((fidelity.running, fidelity.explained), (2, 0));
    assert_eq!(plugins(&fidelity), [""; 0]);
    let expected = [(Cause::TaintAdded, "web-1-0"), (Cause::Cordoned, "web-1-1"), (Cause::NodeLabels, "web-1-1")];
    assert_eq!(causes(&fidelity), expected);
    assert!(fidelity.exceptions[0].evidence.contains("dedicated=db:NoSchedule"), "{:?}", fidelity.exceptions);
}

#[test]
fn static_pods_never_asked() {
    let mut cluster = Cluster::new();
    cluster.bare_pod("etcd", "old-1");
    cluster.patch("Node", "old-1", &json!({"spec": {"taints": [{"key": "control", "effect": "NoSchedule"}]}}));
    cluster.patch("Pod", "etcd", &json!({"metadata": {"annotations": {"kubernetes.io/config.mirror": "1"}}}));
    assert_eq!(causes(&of(&cluster)), [(Cause::StaticPod, "etcd")]);
}

#[test]
fn skew_and_neighbours_are_what_came_and_went_since() {
    let spread = json!({"topologySpreadConstraints": [{"topologyKey": "kubernetes.io/hostname", "maxSkew": 1,
        "whenUnsatisfiable": "DoNotSchedule", "labelSelector": {"matchLabels": {"app": "web"}}}]});
    let mut cluster = Cluster::new();
    cluster.deployment("web", &["old-1", "old-1"]).pod_spec_of("web", &spread);
    assert_eq!(causes(&of(&cluster)), [(Cause::Skew, "web-1-0"), (Cause::Skew, "web-1-1")]);
    let apart = json!({"affinity": {"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [
        {"topologyKey": "kubernetes.io/hostname", "labelSelector": {"matchLabels": {"app": "web"}}}]}}});
    let mut cluster = Cluster::new();
    cluster.deployment("web", &["old-1", "old-1"]).pod_spec_of("web", &apart);
    assert_eq!(causes(&of(&cluster)), [(Cause::Neighbours, "web-1-0"), (Cause::Neighbours, "web-1-1")]);
}

#[test]
fn pods_on_nodes_that_are_not_known_are_not_judged() {
    let mut cluster = web();
    cluster.bare_pod("far", "elsewhere");
    cluster.patch("Node", "old-2", &json!({"status": {"allocatable": null}}));
    let fidelity = of(&cluster);
    assert_eq!((fidelity.running, fidelity.explained, fidelity.unjudged), (3, 1, 2));
}

#[test]
fn sources_that_are_missing_make_rules_weaker_only_where_a_pod_needs_them() {
    let mut cluster = web();
    cluster.gap(Kind::CSINode);
    assert_eq!(of(&cluster).weaker, []);
    cluster.workload("StatefulSet", "db", &["old-1"]).claim("data", "ReadWriteOnce", "old").mount("db", "data");
    let weaker = of(&cluster).weaker;
    assert_eq!(weaker.len(), 1, "{weaker:?}");
    assert!(weaker[0].because.contains("csinodes"), "{weaker:?}");
}

/// A pod that is too large for all four nodes, with what the scheduler said of it and when.
fn too_large(said: &str, event: Option<&str>) -> Cluster {
    let mut cluster = web();
    cluster.bare_pod("huge", "");
    cluster.pod_spec_of("huge", &json!({"containers": [{"name": "main", "resources": {"requests": {"cpu": "9"}}}]}));
    let condition = json!({"type": "PodScheduled", "status": "False", "reason": "Unschedulable", "message": said});
    cluster.patch("Pod", "huge", &json!({"status": {"conditions": [condition]}}));
    let created = json!({"metadata": {"creationTimestamp": "2026-01-02T00:00:00Z"}});
    cluster.patch("Node", "new-2", &created);
    if let Some(time) = event {
        cluster.add(json!({"apiVersion": "v1", "kind": "Event", "metadata": {"namespace": "shop", "name": "huge.1"},
            "involvedObject": {"kind": "Pod", "namespace": "shop", "name": "huge"},
            "reason": "FailedScheduling", "message": said, "lastTimestamp": time}));
    }
    cluster
}

fn outcome(cluster: &Cluster) -> Outcome {
    of(cluster).waiting.into_iter().map(|waiting| waiting.outcome).next().unwrap()
}

const RIGHT: &str = "0/4 nodes are available: 4 Insufficient cpu. preemption: 0/4 nodes are available: 4 Preemption is \
                     not helpful for scheduling.";
const WRONG: &str = "0/4 nodes are available: 4 Insufficient memory.";

#[test]
fn the_schedulers_words_are_reproduced_or_the_cluster_has_changed_or_the_model_is_wrong() {
    assert_eq!(outcome(&too_large(RIGHT, None)), Outcome::Reproduced);
    assert_eq!(outcome(&too_large(RIGHT, Some("2026-01-01T00:00:00Z"))), Outcome::Reproduced);
    let older = outcome(&too_large(WRONG, Some("2026-01-01T00:00:00Z")));
    assert!(matches!(&older, Outcome::NotComparable { why } if why.contains("new-2 came")), "{older:?}");
    assert!(matches!(outcome(&too_large(WRONG, None)), Outcome::NotComparable { .. }));
    let newer = too_large(WRONG, Some("2026-01-03T00:00:00Z"));
    let model = "0/4 nodes are available: 4 Insufficient cpu.".to_owned();
    assert_eq!(outcome(&newer), Outcome::Different { model });
    assert_eq!(newer.found("model-contradicted").len(), 1);
    assert!(of(&newer).weaker.iter().any(|weaker| weaker.rule == "no-room-on-targets"));
}

#[test]
fn an_event_that_goes_on_is_as_new_as_it_was_last_seen() {
    let mut cluster = too_large(WRONG, None);
    let event: Value = json!({"apiVersion": "v1", "kind": "Event", "metadata": {"namespace": "shop", "name": "huge.1"},
        "involvedObject": {"kind": "Pod", "namespace": "shop", "name": "huge"}, "reason": "FailedScheduling",
        "message": WRONG, "eventTime": "2026-01-01T00:00:00.000000Z",
        "series": {"count": 2, "lastObservedTime": "2026-01-03T00:00:00.000000Z"}});
    cluster.add(event);
    assert!(matches!(outcome(&cluster), Outcome::Different { .. }));
}
