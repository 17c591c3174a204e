//! Which node is taken, and placing many pods one after the other.

use std::collections::BTreeSet;

use crate::cluster::{model, node, pod, record, view};
use rehome_k8s::pod::Pod;
use rehome_sched::Chance;
use serde_json::json;

fn asks(name: &str, cpu: &str) -> Pod {
    record(&pod(name, json!({"spec": {"containers": [{"name": "c", "resources": {"requests": {"cpu": cpu}}}]}})))
}

#[test]
fn the_emptier_node_wins_and_a_soft_taint_is_avoided() {
    let cluster = view(&[
        node("full", json!({})),
        node("empty", json!({})),
        node("soft", json!({"spec": {"taints": [{"key": "x", "effect": "PreferNoSchedule"}]}})),
        pod(
            "big",
            json!({"spec": {"nodeName": "full", "containers": [{"name": "c", "resources": {"requests": {"cpu": "2"}}}]}}),
        ),
    ]);
    for seed in 0..10 {
        assert_eq!(model(&cluster).choose(&asks("p", "1"), &mut Chance::new(seed)).as_deref(), Ok("empty"));
    }
}

#[test]
fn ties_are_broken_by_the_seed_and_by_nothing_else() {
    let cluster = view(&[node("a", json!({})), node("b", json!({})), node("c", json!({}))]);
    let pick = |seed| model(&cluster).choose(&asks("p", "1"), &mut Chance::new(seed)).unwrap();
    let picked: BTreeSet<String> = (0..32).map(pick).collect();
    assert_eq!(picked.len(), 3);
    assert!((0..32).all(|seed| pick(seed) == pick(seed)));
}

#[test]
fn each_pod_sees_the_ones_placed_before_it() {
    let cluster = view(&[node("a", json!({})), node("b", json!({}))]);
    let pods: Vec<Pod> = (0..5).map(|index| asks(&format!("p{index}"), "2")).collect();
    let placed = model(&cluster).place(&pods, 7);
    assert!(placed[..4].iter().all(Result::is_ok));
    let refused = placed[4].as_ref().unwrap_err();
    assert_eq!(refused.message, "0/2 nodes are available: 2 Insufficient cpu.");
    let on_a = placed.iter().flatten().filter(|node| *node == "a").count();
    assert_eq!(on_a, 2);
    assert_eq!(cluster.pods().count(), 0, "the view that was given is left alone");
}

#[test]
fn amounts_beyond_all_reason_do_not_overflow() {
    let cluster = view(&[
        node("a", json!({"status": {"allocatable": {"cpu": "9Ei", "memory": "9Ei"}}})),
        pod(
            "huge",
            json!({"spec": {"nodeName": "a", "containers": [{"name": "c", "resources": {"requests": {"cpu": "9Ei", "memory": "9Ei"}}}]}}),
        ),
    ]);
    let refused = model(&cluster).choose(&asks("p", "9Ei"), &mut Chance::new(0)).unwrap_err();
    assert_eq!(refused.message, "0/1 nodes are available: 1 Insufficient cpu.");
}
