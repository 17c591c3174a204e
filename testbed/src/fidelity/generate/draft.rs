//! A cluster in the making: plain nodes, bound pods and pods to judge, which the themes then dress.

use serde_json::{Value, json};

use super::Cluster;
use crate::fidelity::dice::Dice;

/// The namespaces of every cluster. `bare` has no label of its own.
pub(super) const NAMESPACES: [&str; 3] = ["red", "blue", "bare"];

/// The zone's label.
pub(super) const ZONE: &str = "topology.kubernetes.io/zone";
/// The label with the node's name.
pub(super) const HOSTNAME: &str = "kubernetes.io/hostname";
/// A topology that only some nodes have.
pub(super) const RACK: &str = "example.com/rack";

/// The zones of every cluster.
pub(super) const ZONES: [&str; 3] = ["z1", "z2", "z3"];

/// Values of the pods' label `app`.
pub(super) const APPS: [&str; 3] = ["web", "db", "cache"];

/// See the module.
pub(super) struct Draft {
    /// The nodes.
    pub(super) nodes: Vec<Value>,
    /// Pods that are bound.
    pub(super) bound: Vec<Value>,
    /// Pods that will be judged.
    pub(super) judged: Vec<Value>,
    /// All else.
    pub(super) others: Vec<Value>,
    /// In how many cases of a hundred a theme touches a pod to judge.
    pub(super) share: usize,
    last: usize,
}

impl Draft {
    /// Nodes in zones, and pods without wishes.
    pub(super) fn new(dice: &mut Dice, share: usize) -> Self {
        let nodes: Vec<Value> = (0..3 + dice.below(10)).map(|index| node(index, dice)).collect();
        let names: Vec<String> = nodes.iter().map(name).collect();
        let mut draft = Self { nodes, bound: vec![], judged: vec![], others: vec![], share, last: 0 };
        for _ in 0..dice.below(41) {
            let mut pod = draft.pod("b", dice);
            pod["spec"]["nodeName"] = json!(names[dice.below(names.len())]);
            pod["status"] = json!({"phase": if dice.chance(90) { "Running" } else { "Pending" },
                "startTime": format!("2026-01-01T00:{:02}:00Z", dice.below(60))});
            draft.bound.push(pod);
        }
        for _ in 0..5 + dice.below(8) {
            let pod = draft.pod("p", dice);
            draft.judged.push(pod);
        }
        draft
    }

    /// One more pod to judge.
    pub(super) fn another(&mut self, dice: &mut Dice) {
        let pod = self.pod("p", dice);
        self.judged.push(pod);
    }

    fn pod(&mut self, prefix: &str, dice: &mut Dice) -> Value {
        let (name, namespace) = (format!("{prefix}-{:03}", self.number()), dice.pick(&NAMESPACES));
        let mut labels = json!({"app": dice.pick(&APPS)});
        if dice.chance(40) {
            labels["pod-template-hash"] = json!(dice.pick(&["h1", "h2"]));
        }
        if dice.chance(30) {
            labels["tier"] = json!(dice.pick(&["front", "back", ""]));
        }
        json!({
            "apiVersion": "v1", "kind": "Pod",
            "metadata": {"name": name, "namespace": namespace, "uid": format!("uid-{name}"), "labels": labels,
                "creationTimestamp": "2026-01-01T00:00:00Z"},
            "spec": {"schedulerName": "default-scheduler", "priority": 0, "preemptionPolicy": "PreemptLowerPriority",
                "restartPolicy": "Always", "terminationGracePeriodSeconds": 30,
                "containers": [{"name": "c0", "image": "registry.example/app:v1", "resources": plain_requests(dice)}]},
            "status": {"phase": "Pending"},
        })
    }

    /// A number that no object of this cluster has in its name yet.
    pub(super) fn number(&mut self) -> usize {
        self.last += 1;
        self.last
    }

    /// Indices of the pods to judge that the theme touches.
    pub(super) fn touched(&self, dice: &mut Dice) -> Vec<usize> {
        (0..self.judged.len()).filter(|_| dice.chance(self.share)).collect()
    }

    /// The name of any node.
    pub(super) fn any_node(&self, dice: &mut Dice) -> String {
        name(&self.nodes[dice.below(self.nodes.len())])
    }

    /// The cluster.
    pub(super) fn finish(self, seed: u64, themes: Vec<&'static str>) -> Cluster {
        let pods = self.judged.iter().map(|pod| format!("{}/{}", namespace(pod), name(pod))).collect();
        let mut objects: Vec<Value> = NAMESPACES.iter().map(|name| namespace_object(name)).collect();
        for part in [self.nodes, self.others, self.bound, self.judged] {
            objects.extend(part);
        }
        Cluster { seed, themes, objects, pods }
    }
}

fn node(index: usize, dice: &mut Dice) -> Value {
    let name = format!("node-{index:02}");
    let mut labels = json!({HOSTNAME: name, "pool": dice.pick(&["old", "new"]), "cpus": dice.pick(&["2", "4", "8"])});
    if dice.chance(92) {
        labels[ZONE] = json!(dice.pick(&ZONES));
    }
    if dice.chance(60) {
        labels[RACK] = json!(dice.pick(&["r1", "r2"]));
    }
    let resources = json!({"cpu": dice.pick(&["4", "8", "7910m"]), "memory": dice.pick(&["8Gi", "16Gi", "15819516Ki"]),
        "ephemeral-storage": "100Gi", "pods": "110"});
    json!({
        "apiVersion": "v1", "kind": "Node",
        "metadata": {"name": name, "uid": format!("uid-{name}"), "labels": labels},
        "spec": {},
        "status": {"capacity": resources, "allocatable": resources,
            "conditions": [{"type": "Ready", "status": "True"}]},
    })
}

/// Requests that fit every plain node.
fn plain_requests(dice: &mut Dice) -> Value {
    match dice.below(4) {
        0 => json!({}),
        1 => json!({"requests": {"cpu": "100m"}}),
        2 => json!({"requests": {"memory": "64Mi"}}),
        _ => json!({"requests": {"cpu": "50m", "memory": "100Mi"}}),
    }
}

fn namespace_object(name: &str) -> Value {
    let mut labels = json!({"kubernetes.io/metadata.name": name});
    if name != "bare" {
        labels["team"] = json!(name);
        labels["env"] = json!("prod");
    }
    json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name, "labels": labels}})
}

/// Adds to a list that may not be there yet.
pub(super) fn push(place: &mut Value, item: Value) {
    match place {
        Value::Array(list) => list.push(item),
        _ => *place = json!([item]),
    }
}

/// An object's name.
pub(super) fn name(object: &Value) -> String {
    object["metadata"]["name"].as_str().unwrap_or_default().to_owned()
}

/// An object's namespace.
pub(super) fn namespace(object: &Value) -> String {
    object["metadata"]["namespace"].as_str().unwrap_or_default().to_owned()
}
