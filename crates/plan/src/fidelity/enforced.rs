//! Facts that hold for every pod that runs, whatever was changed since it was placed: sums of requests, number of pods,
//! host ports, reach and number of volumes.
//!
//! Who enforces them: the kubelet asks for resources and ports again before it starts a pod
//! (`k8s.io/kubernetes/pkg/kubelet/lifecycle/predicate.go`, `generalFilter`); a volume beyond reach or beyond the limit
//! is never mounted.

use std::collections::BTreeSet;
use std::sync::Arc;

use rehome_k8s::node::{Node, Resources};
use rehome_k8s::pod::Pod;
use rehome_k8s::{Key, Kind, View};
use rehome_model::ObjectRef;
use rehome_model::fidelity::Violation;
use rehome_sched::{Model, Rejection};

use super::{list, taken_up};

/// The plugin whose facts are sums over a node.
pub(super) const SUMS: &str = "NodeResourcesFit";

/// Sums of requests above what is allocatable, node by node, less what has another reason ([`excess`]).
pub(super) fn on_nodes(view: &View, model: &Model) -> Vec<Violation> {
    let mut found = Vec::new();
    for node in view.nodes().filter(|node| !node.allocatable.is_empty()) {
        let used = model.used(node.name());
        for (resource, amount) in &used {
            let allocatable = node.allocatable.get(resource).copied().unwrap_or_default();
            if *amount > allocatable && excuse(view, node, resource).is_none() {
                found.push(Violation {
                    subject: node_reference(node),
                    plugin: SUMS.to_owned(),
                    field: format!("status.allocatable[{resource}]"),
                    expected: format!("at least {amount}, the sum over its pods{}", unit(resource)),
                    found: format!("{allocatable}{}", unit(resource)),
                });
            }
        }
    }
    found
}

/// Why the pods of a node may ask for more of a resource than it has, if there is a reason.
pub(super) fn excuse(view: &View, node: &Node, resource: &str) -> Option<Excuse> {
    let pods: Vec<&Arc<Pod>> = view.pods_on(node.name()).filter(|pod| !pod.finished()).collect();
    if resource.contains('/') {
        return Some(Excuse::DeviceGone);
    }
    let resizing: BTreeSet<Key> = pods.iter().filter(|pod| pod.resized.is_some()).map(|pod| pod.meta.key()).collect();
    if !resizing.is_empty() && resource != "pods" {
        return Some(Excuse::Resize(list(&resizing)));
    }
    let mut running = Resources::new();
    for pod in pods.iter().filter(|pod| taken_up(pod)) {
        rehome_k8s::requests::add(&mut running, pod.requests());
        rehome_k8s::requests::add(&mut running, &Resources::from([("pods".to_owned(), 1)]));
    }
    let size = node.allocatable.get(resource).copied().unwrap_or_default();
    let waiting: BTreeSet<Key> = pods.iter().filter(|pod| !taken_up(pod)).map(|pod| pod.meta.key()).collect();
    (running.get(resource).copied().unwrap_or_default() <= size).then(|| Excuse::NotTakenUp(list(&waiting)))
}

/// What can make a sum larger than the node without anything being wrong.
pub(super) enum Excuse {
    /// Extended resources come and go with their plugin, while pods keep what they have.
    DeviceGone,
    /// These pods are being resized: what they ask counts, granted or not.
    Resize(String),
    /// These pods are bound, and the kubelet may still refuse them.
    NotTakenUp(String),
}

/// A pod that breaks such a fact on its node.
pub(super) fn violation(view: &View, pod: &Pod, node: &Node, rejection: &Rejection) -> Violation {
    let subject = pod.meta.key().reference(Kind::Pod);
    let plugin = rejection.plugin.to_owned();
    let (field, expected, found) = match rejection.plugin {
        "NodePorts" => ports(view, pod, node),
        "VolumeBinding" => reach(view, pod, node),
        "NodeVolumeLimits" => limits(view, node),
        "VolumeRestrictions" => (
            "spec.accessModes".to_owned(),
            "a claim with ReadWriteOncePod, or a disk, in one running pod".to_owned(),
            rejection.reasons.join(", "),
        ),
        _ => (String::new(), format!("that {} takes it", node.name()), rejection.reasons.join(", ")),
    };
    Violation { subject, plugin, field, expected, found }
}

fn ports(view: &View, pod: &Pod, node: &Node) -> (String, String, String) {
    let clash = |other: &&Arc<Pod>| {
        other.meta.key() != pod.meta.key()
            && other.spec.host_ports.iter().any(|(_, protocol, port)| {
                pod.spec.host_ports.iter().any(|(_, own_protocol, own)| own == port && own_protocol == protocol)
            })
    };
    let others: BTreeSet<Key> =
        view.pods_on(node.name()).filter(|other| !other.finished()).filter(clash).map(|o| o.meta.key()).collect();
    let own: Vec<String> =
        pod.spec.host_ports.iter().map(|(address, protocol, port)| format!("{address}:{port}/{protocol}")).collect();
    (
        "spec.containers[].ports[].hostPort".to_owned(),
        format!("{} free on {}", own.join(", "), node.name()),
        format!("the same port in {}", list(&others)),
    )
}

fn reach(view: &View, pod: &Pod, node: &Node) -> (String, String, String) {
    let volumes = pod.claims().filter_map(|claim| {
        let key = Key::new(pod.meta.namespace.clone(), claim);
        let Some(rehome_k8s::Record::PersistentVolumeClaim(claim)) = view.get(Kind::PersistentVolumeClaim, &key) else {
            return None;
        };
        match view.get(Kind::PersistentVolume, &Key::cluster(claim.volume.clone()?)) {
            Some(rehome_k8s::Record::PersistentVolume(volume)) => Some(Arc::clone(volume)),
            _ => None,
        }
    });
    let labels = &node.meta.labels;
    let out_of_reach = |volume: &Arc<rehome_k8s::storage::PersistentVolume>| {
        let terms = volume.node_affinity.as_ref();
        terms.is_some_and(|terms| !rehome_k8s::affinity::any_term_matches(terms, "", labels))
    };
    let names: BTreeSet<Key> = volumes.filter(out_of_reach).map(|volume| volume.meta.key()).collect();
    (
        format!("spec.nodeAffinity of PersistentVolume {}", list(&names)),
        format!("labels of {} among its terms", node.name()),
        "none of its terms matches".to_owned(),
    )
}

fn limits(view: &View, node: &Node) -> (String, String, String) {
    let limits = match view.get(Kind::CSINode, &Key::cluster(node.name())) {
        Some(rehome_k8s::Record::CSINode(csi)) => csi.drivers.clone(),
        _ => std::collections::BTreeMap::new(),
    };
    let limits: Vec<String> =
        limits.iter().filter_map(|(driver, limit)| Some(format!("{driver}: {}", (*limit)?))).collect();
    (
        format!("spec.drivers[].allocatable.count of CSINode {}", node.name()),
        format!("no more volumes than {}", limits.join(", ")),
        "more volumes of a driver in its pods and attachments".to_owned(),
    )
}

fn node_reference(node: &Node) -> ObjectRef {
    node.meta.key().reference(Kind::Node)
}

/// The unit of our amounts.
fn unit(resource: &str) -> &'static str {
    match resource {
        "cpu" => " (thousandths of a core)",
        "memory" | "ephemeral-storage" => " (bytes)",
        _ => "",
    }
}
