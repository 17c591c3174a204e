//! Rules about nodes, fences, and pods that taints do not keep away.

use rehome_k8s::Kind;
use rehome_model::finding::Severity::{Blocking, Unknown, Warning};
use serde_json::json;

use crate::testing::Cluster;

fn web() -> Cluster {
    let mut cluster = Cluster::new();
    cluster.deployment("web", &["old-1", "old-2"]);
    cluster
}

#[test]
fn daemonset_not_tolerating_fence_is_a_warning() {
    let mut cluster = web();
    cluster.workload("DaemonSet", "agent", &["old-1", "new-1"]);
    assert_eq!(cluster.found("daemonset-not-tolerating-fence"), [Warning]);
    cluster.pod_spec_of("agent", &json!({"tolerations": [{"operator": "Exists", "effect": "NoSchedule"}]}));
    assert_eq!(cluster.found("daemonset-not-tolerating-fence"), []);
    cluster.gap(Kind::DaemonSet);
    assert_eq!(cluster.found("daemonset-not-tolerating-fence"), [Unknown]);
    assert_eq!(cluster.plan().moves.len(), 1, "pods of a DaemonSet that was not read stay all the same");
}

#[test]
fn tolerates_everything_blocks_unless_a_selector_keeps_the_pod_off() {
    let mut cluster = web();
    cluster.pod_spec_of("web", &json!({"tolerations": [{"operator": "Exists"}]}));
    assert_eq!(cluster.found("tolerates-everything"), [Blocking]);
    cluster.pod_spec_of("web", &json!({"nodeSelector": {"pool": "new"}}));
    assert_eq!(cluster.found("tolerates-everything"), []);
    // One key only, and another than the fence's.
    let mut cluster = web();
    cluster.pod_spec_of("web", &json!({"tolerations": [{"key": "gpu", "operator": "Exists"}]}));
    assert_eq!(cluster.found("tolerates-everything"), []);
}

#[test]
fn fence_present_blocks_if_it_is_not_ours() {
    let fence = |value: &str| json!({"spec": {"taints": [{"key": "rehome.dev/moving", "value": value, "effect": "NoSchedule"}]}});
    let mut cluster = web();
    cluster.patch("Node", "old-1", &fence("somebody"));
    assert_eq!(cluster.found("fence-present"), [Blocking]);
    cluster.patch("Node", "old-1", &fence("source"));
    assert_eq!(cluster.found("fence-present"), []);
    assert!(cluster.plan().step("w0/fence/old-1").is_none(), "a fence that stands is not put up again");
    cluster.patch("Node", "new-1", &fence("source"));
    assert_eq!(cluster.found("fence-present"), [Blocking], "a target is not to be fenced");
}

#[test]
fn targets_not_ready_blocks() {
    let mut cluster = web();
    assert_eq!(cluster.found("targets-not-ready"), []);
    let unready = json!({"status": {"conditions": [{"type": "Ready", "status": "Unknown"}]}});
    cluster.patch("Node", "old-1", &unready);
    assert_eq!(cluster.found("targets-not-ready"), [], "a source may be out");
    cluster.patch("Node", "new-1", &unready);
    assert_eq!(cluster.found("targets-not-ready"), [Blocking]);
}
