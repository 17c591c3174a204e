//! The scores of the feasible nodes, and the plugins that give them.

use rehome_testbed::oracle::{Version, plugins};

use super::cluster::{ask, pod};

#[test]
fn only_feasible_nodes_have_scores_and_they_add_up() {
    for (_, verdict) in ask(&pod("small", "100m"), &[]) {
        for node in &verdict.nodes {
            assert_eq!(node.first.is_none(), !node.scores.is_empty(), "{}", node.node);
            assert_eq!(node.total, node.scores.values().sum::<i64>());
        }
        // Nobody has a taint of PreferNoSchedule: all nodes get the most, 100, times the weight of 3.
        assert_eq!(verdict.node("c").unwrap().scores["TaintToleration"], 300);
        // (4000 - 100) / 4000 of the cpu stays free, and 8192 - 200 of 8192 MiB: a pod without a request of memory
        // counts with 200 MiB (DefaultMemoryRequest in pkg/scheduler/util/pod_resources.go). Rounded down, and again in
        // the mean of 97 and 97.
        assert_eq!(verdict.node("d").unwrap().scores["NodeResourcesFit"], 97);
    }
}

#[test]
fn the_versions_have_these_plugins() {
    let weights = |version| {
        let said = plugins(version).unwrap();
        said.scores.into_iter().map(|score| format!("{}={}", score.plugin, score.weight)).collect::<Vec<_>>().join(" ")
    };
    let newest = "TaintToleration=3 NodeAffinity=2 NodeResourcesFit=1 VolumeBinding=1 PodTopologySpread=2 \
                  InterPodAffinity=2 DynamicResources=2 NodeResourcesBalancedAllocation=1 ImageLocality=1";
    assert_eq!(weights(Version::Newest), newest);
    let (newest, floor) = (plugins(Version::Newest).unwrap(), plugins(Version::Floor).unwrap());
    assert!(newest.version.starts_with("v1.37.") && floor.version.starts_with("v1.34."));
    // Which is named first on a cordoned node that is not the named one.
    assert_eq!(newest.filters[..2], ["NodeName", "NodeUnschedulable"]);
    assert_eq!(floor.filters[..2], ["NodeUnschedulable", "NodeName"]);
}
