//! DaemonSets: one pod on each node that takes it.
//!
//! A node with a NoSchedule taint that the pod does not tolerate keeps the pod that it has and gets no other: a lost node
//! agent is not created again on a fenced node.
//! Source: `k8s.io/kubernetes/pkg/controller/daemon/daemon_controller.go` (`NodeShouldRunDaemonPod`, `podsShouldBeOnNode`)
//! and `daemon/util/daemonset_util.go`. Not modelled: updates of the template, back-off of failed pods.

use std::collections::BTreeMap;
use std::sync::Arc;

use rehome_k8s::affinity::{NodeExpression, NodeOperator, NodeTerm, any_term_matches};
use rehome_k8s::node::{Node, UNSCHEDULABLE_TAINT};
use rehome_k8s::pod::{Pod, PodSpec};
use rehome_k8s::toleration::{Effect, Taint, Toleration};
use rehome_k8s::workload::{Workload, WorkloadStatus};
use rehome_k8s::{Key, Kind, Record, View, template};
use rehome_model::{Timestamp, Uid};

use super::{Change, Controller, Mutation, Reconciled, available, itself_or_owner, sooner};

/// The controller of DaemonSets.
#[derive(Clone, Copy, Debug)]
pub struct DaemonSets;

/// What every DaemonSet's pod tolerates. Source: `daemonset_util.go`, `AddOrUpdateDaemonPodTolerations`; the one for
/// `network-unavailable` is for pods with `hostNetwork` only, which records do not keep.
const TOLERATED: [(&str, Effect); 6] = [
    ("node.kubernetes.io/not-ready", Effect::NoExecute),
    ("node.kubernetes.io/unreachable", Effect::NoExecute),
    ("node.kubernetes.io/disk-pressure", Effect::NoSchedule),
    ("node.kubernetes.io/memory-pressure", Effect::NoSchedule),
    ("node.kubernetes.io/pid-pressure", Effect::NoSchedule),
    (UNSCHEDULABLE_TAINT, Effect::NoSchedule),
];

/// What a DaemonSet wants of a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Wish {
    /// A pod is to be created here.
    run: bool,
    /// A pod that is here stays.
    stay: bool,
}

impl Controller for DaemonSets {
    fn user(&self) -> &'static str {
        "system:serviceaccount:kube-system:daemon-set-controller"
    }

    fn concerned(&self, view: &View, change: &Change) -> Vec<(Kind, Key)> {
        let mut keys = itself_or_owner(Kind::DaemonSet, change);
        if let Some(Record::Node(after)) = &change.after {
            let same = matches!(&change.before, Some(Record::Node(before))
                if before.taints == after.taints && before.meta.labels == after.meta.labels);
            if !same {
                let sets = view.of_kind(Kind::DaemonSet).filter_map(Record::as_workload);
                keys.extend(sets.filter(|set| affected(view, set, after)).map(|set| (Kind::DaemonSet, set.meta.key())));
            }
        } else if let Some(Record::Node(_)) = &change.before {
            keys.extend(view.of_kind(Kind::DaemonSet).map(|record| (Kind::DaemonSet, record.key())));
        }
        keys
    }

    fn reconcile(&mut self, view: &View, kind: Kind, key: &Key, now: Timestamp) -> Reconciled {
        let Some(set) = view.workload(kind, key) else { return Reconciled::default() };
        let spec = spec_with_defaults(&set.template.spec);
        let mut here: BTreeMap<String, Vec<&Arc<Pod>>> = BTreeMap::new();
        for pod in view.pods_controlled_by(&set.meta.uid) {
            if let Some(node) = node_of(pod) {
                here.entry(node).or_default().push(pod);
            }
        }
        let mut mutations = Vec::new();
        let mut status = WorkloadStatus { observed_generation: set.meta.generation, ..WorkloadStatus::default() };
        let mut desired = 0;
        let mut requeue = None;
        for node in view.nodes() {
            let wish = wish(&spec, node);
            let pods = here.get(node.name()).map(Vec::as_slice).unwrap_or_default();
            on_node(set, &spec, node, pods, wish, now, &mut mutations);
            if !wish.run {
                continue;
            }
            desired += 1;
            let Some(oldest) = pods.iter().filter(|pod| !pod.finished()).min_by_key(|pod| pod.meta.created) else {
                continue;
            };
            status.replicas += 1;
            status.updated += 1;
            if oldest.ready && oldest.meta.deleting.is_none() {
                status.ready += 1;
                match available(oldest, set.min_ready_seconds, now) {
                    Ok(()) => status.available += 1,
                    Err(at) => requeue = sooner(requeue, at),
                }
            }
        }
        if status != set.status || set.replicas != Some(desired) {
            let set = Workload { status, replicas: Some(desired), ..(**set).clone() };
            mutations.push(Mutation::Status(Record::DaemonSet(Arc::new(set))));
        }
        Reconciled { mutations, requeue }
    }

    fn fork(&self) -> Box<dyn Controller> {
        Box::new(*self)
    }
}

fn on_node(
    set: &Arc<Workload>,
    spec: &Arc<PodSpec>,
    node: &Node,
    pods: &[&Arc<Pod>],
    wish: Wish,
    now: Timestamp,
    mutations: &mut Vec<Mutation>,
) {
    let delete = |pod: &Arc<Pod>| Mutation::Delete(Kind::Pod, pod.meta.key());
    if !wish.stay {
        mutations.extend(pods.iter().filter(|pod| pod.meta.deleting.is_none()).map(|pod| delete(pod)));
        return;
    }
    // A terminating pod still counts: the next one is created when it is gone.
    let mut living: Vec<_> = pods.iter().filter(|pod| !pod.finished()).collect();
    mutations.extend(pods.iter().filter(|pod| pod.finished() && pod.meta.deleting.is_none()).map(|pod| delete(pod)));
    if living.is_empty() && wish.run && pods.is_empty() {
        let mut pod = template::pod(Kind::DaemonSet, set, &format!("{}-", set.meta.name), Uid::default(), now);
        let mut spec = (**spec).clone();
        // The scheduler binds it, to this node or to none. Source: `ReplaceDaemonSetPodNodeNameNodeAffinity`.
        spec.affinity.node = Some(vec![NodeTerm { labels: Vec::new(), fields: vec![name_is(node.name())] }]);
        pod.spec = Arc::new(spec);
        mutations.push(Mutation::Create(Record::Pod(Arc::new(pod))));
    }
    living.sort_by_key(|pod| (pod.node.is_none(), pod.meta.created, pod.meta.name.clone()));
    mutations.extend(living.iter().skip(1).filter(|pod| pod.meta.deleting.is_none()).map(|pod| delete(pod)));
}

/// Whether a changed node makes the controller look at a DaemonSet. A fence does not, as long as the pod behind it stays:
/// until something else happens, the status counts the node as before. Source: `daemon_controller.go`, `syncNodeUpdate`.
fn affected(view: &View, set: &Workload, node: &Node) -> bool {
    let wish = wish(&spec_with_defaults(&set.template.spec), node);
    let mut nodes = std::collections::BTreeSet::new();
    nodes.extend(view.pods_controlled_by(&set.meta.uid).filter_map(|pod| pod.node.as_deref()));
    let scheduled = nodes.contains(node.name());
    // `numberMisscheduled` at the last sync: pods on nodes that it did not count.
    let misscheduled = i64::try_from(nodes.len()).unwrap_or(i64::MAX) > set.status.replicas;
    if scheduled { !wish.stay || misscheduled } else { wish.run }
}

/// Source: `daemon_controller.go`, `NodeShouldRunDaemonPod`.
fn wish(spec: &PodSpec, node: &Node) -> Wish {
    let never = Wish { run: false, stay: false };
    if spec.node_name.as_ref().is_some_and(|name| name != node.name()) {
        return never;
    }
    let labels = &node.meta.labels;
    if spec.node_selector.iter().any(|(key, value)| labels.get(key) != Some(value))
        || spec.affinity.node.as_ref().is_some_and(|terms| !any_term_matches(terms, node.name(), labels))
    {
        return never;
    }
    let cordon = Taint { key: UNSCHEDULABLE_TAINT.to_owned(), value: String::new(), effect: Effect::NoSchedule };
    let taints: Vec<&Taint> = node.taints.iter().chain(node.unschedulable.then_some(&cordon)).collect();
    let untolerated = |effect: Effect| {
        taints.iter().any(|taint| taint.effect == effect && !spec.tolerations.iter().any(|t| t.tolerates(taint)))
    };
    let stay = !untolerated(Effect::NoExecute);
    Wish { run: stay && !untolerated(Effect::NoSchedule), stay }
}

/// The template's spec with the tolerations that every DaemonSet's pod gets.
#[must_use]
pub fn spec_with_defaults(spec: &Arc<PodSpec>) -> Arc<PodSpec> {
    let mut spec = (**spec).clone();
    for (key, effect) in TOLERATED {
        let toleration =
            Toleration { key: Some(key.to_owned()), exists: true, effect: Some(effect), ..Toleration::default() };
        if !spec.tolerations.contains(&toleration) {
            spec.tolerations.push(toleration);
        }
    }
    Arc::new(spec)
}

fn name_is(node: &str) -> NodeExpression {
    NodeExpression { key: "metadata.name".to_owned(), operator: NodeOperator::In, values: vec![node.to_owned()] }
}

/// The node that a pod is bound to or, before that, is meant for. Source: `daemonset_util.go`, `GetTargetNodeName`.
fn node_of(pod: &Pod) -> Option<String> {
    if pod.node.is_some() {
        return pod.node.clone();
    }
    let terms = pod.spec.affinity.node.as_ref()?;
    terms.iter().flat_map(|term| &term.fields).find(|field| field.key == "metadata.name")?.values.first().cloned()
}
