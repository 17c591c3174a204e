//! Waves, steps and strategies of small clusters.

use rehome_model::plan::Plan;
use rehome_model::verb::Verb;
use serde_json::json;

use crate::testing::Cluster;

fn names(plan: &Plan) -> Vec<&str> {
    plan.steps().map(|step| step.name.as_str()).collect()
}

/// `canary`, `least_loaded`; `leave` for the DaemonSet.
#[test]
fn a_small_cluster_is_fenced_moved_cordoned_and_proved() {
    let mut cluster = Cluster::new();
    cluster.node("other-1", "other");
    cluster.deployment("web", &["old-1", "old-2"]).deployment("api", &["old-1"]);
    cluster.workload("StatefulSet", "db", &["old-2"]).workload("DaemonSet", "agent", &["old-1", "old-2", "new-1"]);
    let plan = cluster.plan();
    let expected = [
        "w0/fence/old-1",
        "w0/fence/old-2",
        "w0/fence/other-1",
        "w0/fenced",
        "w1/move/shop/web",
        "w2/move/shop/api",
        "w2/cordon/old-1",
        "w2/prove/old-1",
        "w3/move/shop/db",
        "w3/cordon/old-2",
        "w3/prove/old-2",
        "w4/unfence/other-1",
    ];
    assert_eq!(names(&plan), expected);
    let strategies: Vec<_> = plan.moves.iter().map(|m| (m.step.as_str(), m.strategy.as_str())).collect();
    let expected = [
        ("w2/move/shop/api", "rolling_restart"),
        ("w1/move/shop/web", "rolling_restart"),
        ("w3/move/shop/db", "eviction"),
    ];
    assert_eq!(strategies, expected);
    assert_eq!(plan.stays.len(), 1);
    assert_eq!(plan.stays[0].pods, 2);
}

#[test]
fn pods_of_the_next_node_move_while_a_node_is_proved() {
    let mut cluster = Cluster::new();
    cluster.node("other-1", "other");
    cluster.workload("StatefulSet", "kv", &["old-1"]).workload("StatefulSet", "db", &["old-2"]);
    let plan = cluster.plan();
    let after = |name: &str| plan.step(name).unwrap().after.keys().map(String::as_str).collect::<Vec<_>>();
    assert_eq!(after("w1/prove/old-1"), ["w1/cordon/old-1"]);
    assert_eq!(after("w2/move/shop/db"), ["w1/cordon/old-1"]);
    assert_eq!(after("w3/unfence/other-1"), ["w1/prove/old-1", "w2/cordon/old-2", "w2/prove/old-2"]);
}

#[test]
fn a_restart_is_charged_for_pods_that_need_not_move() {
    let mut cluster = Cluster::new();
    cluster.deployment("web", &["old-1", "new-1", "new-2"]);
    let plan = cluster.plan();
    assert_eq!(plan.moves[0].strategy, "eviction");
    assert_eq!(plan.moves[0].rejected.len(), 2, "{:?}", plan.moves[0].rejected);
}

#[test]
fn a_restart_needs_room_beside_the_old_pods() {
    let apart = json!({"affinity": {"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [
        {"topologyKey": "pool", "labelSelector": {"matchLabels": {"app": "web"}}}]}}});
    let mut cluster = Cluster::new();
    cluster.deployment("web", &["old-1", "new-1"]).pod_spec_of("web", &apart);
    cluster.patch("Node", "new-2", &json!({"metadata": {"labels": {"pool": "new"}}}));
    let rejected = &cluster.plan().moves[0].rejected;
    let restart = rejected.iter().find(|bid| bid.strategy == "rolling_restart").unwrap();
    assert!(restart.because.contains("room"), "{}", restart.because);
}

#[test]
fn a_rollout_that_is_stuck_is_not_started_again() {
    let mut cluster = Cluster::new();
    cluster.deployment("web", &["old-1", "old-2"]);
    cluster.patch("Deployment", "web", &json!({"status": {"updatedReplicas": 1}}));
    assert_eq!(cluster.plan().moves[0].strategy, "eviction");
    cluster.patch("Deployment", "web", &json!({"status": null}));
    assert_eq!(cluster.plan().moves[0].strategy, "rolling_restart", "without a status the pods tell");
}

#[test]
fn workloads_on_one_volume_leave_together_onto_one_target() {
    let mut cluster = Cluster::new();
    cluster.deployment("wiki", &["old-1"]).deployment("wiki-search", &["old-1"]);
    cluster.claim("wiki-data", "ReadWriteOnce", "*").mount("wiki", "wiki-data").mount("wiki-search", "wiki-data");
    let plan = cluster.plan();
    let expected = [
        "w1/cordon/old-2",
        "w1/prove/old-2",
        "w2/hold/shop/wiki+wiki-search/new-2",
        "w2/move/shop/wiki+wiki-search",
        "w2/release/shop/wiki+wiki-search/new-2",
        "w2/cordon/old-1",
        "w2/prove/old-1",
    ];
    assert_eq!(names(&plan)[3..], expected);
    let step = plan.step("w2/move/shop/wiki+wiki-search").unwrap();
    let Verb::Evict(evict) = &step.verb else { panic!("{:?}", step.verb) };
    assert_eq!(evict.onto, ["new-1"]);
    assert_eq!(evict.lineages.len(), 2);
}

#[test]
fn a_node_that_was_cordoned_before_is_only_proved() {
    let mut cluster = Cluster::new();
    cluster.deployment("web", &["old-1"]);
    cluster.patch("Node", "old-1", &json!({"spec": {"unschedulable": true}}));
    let plan = cluster.plan();
    assert!(!plan.steps().any(|step| step.name.ends_with("/cordon/old-1")), "{:?}", names(&plan));
    assert!(plan.steps().any(|step| step.name.ends_with("/prove/old-1")), "{:?}", names(&plan));
}

/// `storage_controllers_first`.
#[test]
fn storage_controllers_move_before_the_first_volume() {
    let mut cluster = Cluster::new();
    cluster.workload("StatefulSet", "db", &["old-1"]).claim("data", "ReadWriteOnce", "*").mount("db", "data");
    cluster.deployment("ebs-csi-controller", &["old-2"]).deployment("web", &["old-2"]);
    let plan = cluster.plan();
    let names = names(&plan);
    let at = |part: &str| names.iter().position(|name| name.ends_with(part)).unwrap();
    assert!(at("/move/shop/ebs-csi-controller") < at("/move/shop/db"), "{names:?}");
}
