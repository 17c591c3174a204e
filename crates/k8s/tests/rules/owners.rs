//! The walk to the topmost controller, and back to its pods.

use rehome_k8s::owner::{Owner, of_pod, pods_of};
use rehome_k8s::{Key, Kind, View};
use serde_json::json;

use crate::cluster::{pod, pod_record, view, workload};

fn owner(view: &View, name: &str) -> String {
    match of_pod(view, view.pod(&Key::new("a", name)).unwrap()) {
        Owner::Workload(reference) => format!("{} {}", reference.kind, reference.name),
        Owner::Unseen(reference) => format!("unseen {} {}", reference.kind, reference.name),
        Owner::Node => "node".to_owned(),
        Owner::None => "none".to_owned(),
    }
}

#[test]
fn the_walk_ends_at_what_makes_pods() {
    let mut mirror = pod("mirror", Some(("Node", "n")), true);
    mirror["metadata"]["annotations"] = json!({"kubernetes.io/config.mirror": "x"});
    let view = view(&[
        workload("Deployment", "d", 1, Some(("Operator", "o"))),
        workload("ReplicaSet", "r", 1, Some(("Deployment", "d"))),
        workload("CronJob", "c", 1, None),
        workload("Job", "j", 1, Some(("CronJob", "c"))),
        pod("of-d", Some(("ReplicaSet", "r")), true),
        pod("of-j", Some(("Job", "j")), true),
        pod("of-pg", Some(("Cluster", "pg")), true),
        pod("bare", None, true),
        mirror,
    ]);
    for (name, expected) in [
        ("of-d", "Deployment d"),
        ("of-j", "Job j"),
        ("of-pg", "unseen Cluster pg"),
        ("bare", "none"),
        ("mirror", "node"),
    ] {
        assert_eq!(owner(&view, name), expected, "{name}");
        if !matches!(expected, "none" | "node") {
            let reference =
                of_pod(&view, view.pod(&Key::new("a", name)).unwrap()).reference(&pod_record(&pod(name, None, true)));
            let names: Vec<&str> = pods_of(&view, &reference).iter().map(|pod| pod.meta.name.as_str()).collect();
            assert_eq!(names, [name]);
        }
    }
}

#[test]
fn a_cycle_of_owners_ends_and_counts_each_pod_once() {
    let view = view(&[
        workload("ReplicaSet", "x", 1, Some(("ReplicaSet", "y"))),
        workload("ReplicaSet", "y", 1, Some(("ReplicaSet", "x"))),
        workload("ReplicaSet", "self", 1, Some(("ReplicaSet", "self"))),
        pod("p", Some(("ReplicaSet", "x")), true),
        pod("q", Some(("ReplicaSet", "self")), true),
    ]);
    assert!(owner(&view, "p").starts_with("ReplicaSet"));
    for (set, pods) in [("x", 1), ("y", 1), ("self", 1)] {
        assert_eq!(pods_of(&view, &Key::new("a", set).reference(Kind::ReplicaSet)).len(), pods, "{set}");
    }
}
