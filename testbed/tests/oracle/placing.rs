//! Whole runs: the scheduling loop, and runs in which each pod goes where it is told.

use std::collections::BTreeMap;

use rehome_testbed::oracle::{ForcedBinding, ForcedRequest, PlaceRequest, Version, forced, place};
use serde_json::Value;

use super::cluster::{objects, pod};

fn pods(count: usize, cpu: &str) -> Vec<Value> {
    (0..count).map(|index| pod(&format!("p{index}"), cpu)).collect()
}

#[test]
fn pods_are_placed_until_nothing_is_left() {
    // `a` has 400m left, `c` 1000m, `d` 4000m.
    let request = PlaceRequest { objects: objects(), pods: pods(8, "900m"), percentage: 100, parallelism: 1 };
    for version in Version::ALL {
        let response = place(version, &request).unwrap();
        let mut counts = BTreeMap::new();
        for placement in &response.placements {
            *counts.entry(placement.node.as_str()).or_insert(0) += 1;
        }
        assert_eq!(counts, BTreeMap::from([("", 3), ("c", 1), ("d", 4)]));
        assert!(response.seconds > 0.0);
    }
}

#[test]
fn the_best_nodes_follow_what_was_forced() {
    let bindings = |nodes: [&str; 3]| {
        let bind = |(pod, node): (Value, &str)| ForcedBinding { pod, node: node.to_owned() };
        ForcedRequest { objects: objects(), bindings: pods(3, "900m").into_iter().zip(nodes).map(bind).collect() }
    };
    for version in Version::ALL {
        let best = |nodes| {
            let response = forced(version, &bindings(nodes)).unwrap();
            response.pods.into_iter().map(|pod| pod.best.join(" ")).collect::<Vec<_>>()
        };
        assert_eq!(best(["d", "d", ""]), ["d", "d", "d"]);
        // `c` is full after the first; nothing changes after a pod that stays unbound.
        assert_eq!(best(["c", "", ""]), ["d", "d", "d"]);
    }
}
