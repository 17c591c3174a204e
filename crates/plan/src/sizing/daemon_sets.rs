//! DaemonSets on nodes that do not exist yet: which will have a pod there, and what it asks for.
//!
//! The DaemonSet controller looks at `nodeName`, node selector, node affinity and taints only; room is the scheduler's
//! concern. Source: `k8s.io/kubernetes/pkg/controller/daemon/daemon_controller.go`, `NodeShouldRunDaemonPod`, and
//! `daemon/util/daemonset_util.go`, `AddOrUpdateDaemonPodTolerations`.

use std::sync::Arc;

use rehome_k8s::affinity::any_term_matches;
use rehome_k8s::node::{Node, UNSCHEDULABLE_TAINT};
use rehome_k8s::pod::{Phase, Pod, PodSpec};
use rehome_k8s::toleration::{Effect, Taint, untolerated};
use rehome_k8s::workload::Workload;
use rehome_k8s::{Kind, Record, View, template};
use rehome_model::{Timestamp, Uid};

use super::limits;

/// Taints that the controller makes every DaemonSet's pod tolerate. The one for `network-unavailable` is for pods with
/// `hostNetwork` only, which records do not keep.
const TOLERATED: [(&str, Effect); 6] = [
    ("node.kubernetes.io/not-ready", Effect::NoExecute),
    ("node.kubernetes.io/unreachable", Effect::NoExecute),
    ("node.kubernetes.io/disk-pressure", Effect::NoSchedule),
    ("node.kubernetes.io/memory-pressure", Effect::NoSchedule),
    ("node.kubernetes.io/pid-pressure", Effect::NoSchedule),
    (UNSCHEDULABLE_TAINT, Effect::NoSchedule),
];

/// The DaemonSets that will have a pod on this node.
pub(super) fn on<'v>(view: &'v View, node: &'v Node) -> impl Iterator<Item = &'v Arc<Workload>> {
    view.of_kind(Kind::DaemonSet).filter_map(Record::as_workload).filter(move |set| wants(&set.template.spec, node))
}

/// Whether a DaemonSet with this template wants a pod on the node.
fn wants(spec: &PodSpec, node: &Node) -> bool {
    let labels = &node.meta.labels;
    let tolerated = |taint: &Taint| TOLERATED.iter().any(|(key, effect)| taint.key == *key && taint.effect == *effect);
    let taints: Vec<Taint> = node.taints.iter().filter(|taint| !tolerated(taint)).cloned().collect();
    spec.node_name.as_deref().is_none_or(|name| name == node.name())
        && spec.node_selector.iter().all(|(key, value)| labels.get(key) == Some(value))
        && spec.affinity.node.as_ref().is_none_or(|terms| any_term_matches(terms, node.name(), labels))
        && untolerated(&taints, &spec.tolerations).is_none()
}

/// The pods that they will have there, bound.
pub(super) fn pods(view: &View, node: &Node) -> Vec<Pod> {
    on(view, node)
        .map(|set| {
            let name = format!("{}-{}", set.meta.name, node.name());
            let pod = template::pod(Kind::DaemonSet, set, &name, Uid::default(), Timestamp::EPOCH);
            let pod = limits::with_defaults(view, pod);
            Pod { node: Some(node.name().to_owned()), phase: Phase::Running, ready: true, ..pod }
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::testing::Cluster;

    #[test]
    fn selector_affinity_and_tolerations_of_the_template_decide() {
        let mut cluster = Cluster::new();
        for name in ["plain", "picky", "tolerant", "elsewhere"] {
            cluster.workload("DaemonSet", name, &[]);
        }
        let required = json!({"nodeSelectorTerms": [{"matchExpressions": [{"key": "gpu", "operator": "Exists"}]}]});
        let affinity = json!({"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": required}});
        cluster.pod_spec_of("picky", &json!({"nodeSelector": {"pool": "big"}}));
        cluster.pod_spec_of("tolerant", &json!({"tolerations": [{"operator": "Exists"}]}));
        cluster.pod_spec_of("elsewhere", &json!({"affinity": affinity}));
        let view = cluster.view();
        let mut node = Node::default();
        node.meta.name = "new".to_owned();
        let names = |node: &Node| -> Vec<String> { on(&view, node).map(|set| set.meta.name.clone()).collect() };
        assert_eq!(names(&node), ["plain", "tolerant"]);
        node.meta.labels.insert("pool".to_owned(), "big".to_owned());
        assert_eq!(names(&node), ["picky", "plain", "tolerant"]);
        let taint = |key: &str| Taint { key: key.to_owned(), value: String::new(), effect: Effect::NoSchedule };
        node.taints = vec![taint("node.kubernetes.io/unschedulable")];
        assert_eq!(names(&node), ["picky", "plain", "tolerant"], "DaemonSets tolerate a cordon");
        node.taints = vec![taint("dedicated")];
        assert_eq!(names(&node), ["tolerant"]);
        assert_eq!(pods(&view, &node)[0].spec.requests["cpu"], 100);
    }
}
