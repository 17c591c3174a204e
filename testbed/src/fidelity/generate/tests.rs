//! The generator: same seed, same cluster; and only what can be read.

use std::collections::BTreeSet;

use super::*;

#[test]
fn one_seed_is_one_cluster() {
    assert_eq!(cluster(3), cluster(3));
    assert_ne!(cluster(3).objects, cluster(4).objects);
}

#[test]
fn every_theme_comes_and_every_object_is_read() {
    let mut themes = BTreeSet::new();
    for seed in 0..400 {
        let cluster = cluster(seed);
        themes.extend(cluster.themes.iter().copied());
        let mut names = BTreeSet::new();
        for object in &cluster.objects {
            if let Err(error) = rehome_k8s::ingest::object(&object.to_string()) {
                panic!("seed {seed}: {error}\n{object:#}");
            }
            let meta = &object["metadata"];
            let name = (object["kind"].to_string(), meta["namespace"].to_string(), meta["name"].to_string());
            assert!(names.insert(name.clone()), "seed {seed}: {name:?} is there twice");
        }
        // Preemption adds twelve of its own.
        assert!((5..=24).contains(&cluster.pods.len()));
    }
    assert_eq!(themes.len(), THEMES.len());
}

/// A pod names only volumes, containers and ports once.
#[test]
fn names_within_a_pod_are_unique() {
    for seed in 0..400 {
        for object in cluster(seed).objects.iter().filter(|object| object["kind"] == "Pod") {
            for list in ["volumes", "containers"] {
                let names: Vec<&str> =
                    object["spec"][list].as_array().into_iter().flatten().filter_map(|v| v["name"].as_str()).collect();
                assert_eq!(names.len(), names.iter().collect::<BTreeSet<_>>().len(), "seed {seed}: {object:#}");
            }
        }
    }
}
