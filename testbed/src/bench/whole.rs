//! A cluster of the size that is hard for others: 1,000 nodes in three zones, 30,000 pods, 3,000 volumes, 500 budgets.
//!
//! 1,000 Deployments of 26 pods spread softly over zones, 500 StatefulSets of 6 with a volume and a budget each, and a
//! DaemonSet. Everything is Ready and fits its volumes' zones. Its objects are as long as real ones are.

use serde_json::{Value, json};

use super::objects;

mod storage;
mod workloads;

/// How large, and where the pods are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Size {
    /// All nodes. Half of them are in the pool `old`, the others in the pool `new`.
    pub nodes: usize,
    /// How many of the nodes have pods besides the DaemonSet's, from the first of the pool `old` on.
    pub occupied: usize,
}

impl Size {
    /// The size of the issue, with pods everywhere.
    pub const FULL: Self = Self { nodes: 1_000, occupied: 1_000 };
    /// The same with all pods on the pool `old`.
    pub const HALF: Self = Self { nodes: 1_000, occupied: 500 };

    /// So many pods of each workload's kind, in proportion to the nodes.
    fn share(self, of_thousand: usize) -> usize {
        of_thousand * self.nodes / 1_000
    }

    fn node_name(number: usize) -> String {
        format!("node-{number:04}")
    }
}

/// The zones.
pub(super) const ZONES: [&str; 3] = ["zone-a", "zone-b", "zone-c"];

/// All objects of the cluster, kind by kind.
#[must_use]
pub fn objects(size: Size) -> Vec<Value> {
    let namespaces =
        (0..workloads::NAMESPACES).map(|number| objects::namespace(&workloads::namespace(number), &json!({})));
    let mut all: Vec<Value> = vec![objects::namespace("kube-system", &json!({}))];
    all.extend(namespaces);
    all.extend((0..size.nodes).map(|number| node(size, number)));
    all.extend(storage::classes());
    all.extend((0..size.nodes).map(storage::csi_node));
    all.extend(workloads::daemons(size));
    all.extend(workloads::deployments(size));
    all.extend(workloads::stateful_sets(size));
    all
}

fn node(size: Size, number: usize) -> Value {
    let pool = if number < size.nodes / 2 { "old" } else { "new" };
    let labels = [("topology.kubernetes.io/zone", ZONES[number % ZONES.len()]), ("pool", pool)];
    // 60 pods of the sizes below, and a third of the node to spare.
    let allocatable = json!({"cpu": "24", "memory": "64Gi", "ephemeral-storage": "200Gi", "pods": "110"});
    let mut node = objects::node(&Size::node_name(number), &allocatable, &labels);
    node["spec"] = json!({"providerID": format!("generated:///{number}")});
    node["status"]["nodeInfo"] =
        json!({"kubeletVersion": "v1.37.2", "architecture": "amd64", "operatingSystem": "linux"});
    node
}

/// The kinds of which such a cluster has none, as empty lists: so that nothing is unknown.
#[must_use]
pub fn none_of() -> Vec<Value> {
    let all = rehome_k8s::Kind::ALL.iter();
    all.map(|kind| json!({"apiVersion": kind.api_version(), "kind": format!("{kind}List"), "items": []})).collect()
}
