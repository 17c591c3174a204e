//! A small cluster that changes at random: few nodes, pods and domains, so that they meet, and many ways to be.

use std::sync::Arc;

use rehome_k8s::pod::Pod;
use rehome_k8s::{Key, Kind, Record, View, ingest};
use serde_json::{Value, json};

use super::Change;
use crate::{Chance, Model, Profile};

/// Draws from a number, each by its own name: what is drawn for one says nothing about another.
#[derive(Clone, Copy)]
struct Way {
    number: u32,
    /// One name is drawn from another number: all else stays as it is.
    but: Option<(&'static str, u32)>,
}

impl Way {
    fn of(&mut self, name: &'static str, ways: u32) -> u32 {
        let number = self.but.filter(|(other, _)| *other == name).map_or(self.number, |(_, number)| number);
        // FNV-1a, and its upper bits.
        let mix = |hash: u32, byte: u8| (hash ^ u32::from(byte)).wrapping_mul(16_777_619);
        let hash = name.bytes().chain(number.to_le_bytes()).fold(2_166_136_261, mix);
        (hash >> 8) % ways
    }

    fn one_in(&mut self, name: &'static str, ways: u32) -> bool {
        self.of(name, ways) == 0
    }

    fn among<'a>(&mut self, name: &'static str, all: &[&'a str]) -> &'a str {
        all[self.of(name, u32::try_from(all.len()).unwrap()) as usize]
    }
}

/// What pods differ in.
pub(super) const PARTS: [&str; 15] = [
    "app",
    "namespace",
    "cpu",
    "memory",
    "device",
    "second",
    "ports",
    "features",
    "priority",
    "tolerations",
    "pool",
    "spread",
    "affinity",
    "anti",
    "image",
];

/// A view, and the model that followed every change of it.
pub(super) struct World {
    pub(super) view: View,
    pub(super) model: Model,
}

const ZONE: &str = "topology.kubernetes.io/zone";
const HOSTNAME: &str = "kubernetes.io/hostname";

impl World {
    pub(super) fn new() -> Self {
        let mut world = Self { view: View::default(), model: Model::new(&View::default(), Profile::default()) };
        for number in 0..4 {
            world.make(Change::Node { number, way: u32::from(number) });
        }
        for number in 0..8 {
            world.make(Change::Pod { number, way: u32::from(number) });
        }
        world.set(&json!({"apiVersion": "v1", "kind": "Service", "metadata": {"namespace": "a", "name": "s"},
            "spec": {"selector": {"app": "x"}}}));
        world
    }

    fn set(&mut self, object: &Value) {
        let record = record(object);
        self.view.insert(record.clone());
        self.model.insert(&record);
    }

    fn unset(&mut self, kind: Kind, key: &Key) {
        self.view.remove(kind, key);
        self.model.remove(kind, key);
    }

    pub(super) fn make(&mut self, change: Change) {
        match change {
            Change::Node { number, way } => self.set(&node(&format!("n{number}"), plain(way))),
            Change::NodeGone { number } => self.unset(Kind::Node, &Key::new("", format!("n{number}"))),
            Change::Drivers { number, way } => self.set(&json!({
                "apiVersion": "storage.k8s.io/v1", "kind": "CSINode", "metadata": {"name": format!("n{number}")},
                "spec": {"drivers": [{"name": "d", "nodeID": "n", "allocatable": {"count": way % 3}}]},
            })),
            Change::Pod { number, way } => {
                let mut pod = pod(&format!("p{number}"), plain(way));
                pod["spec"]["nodeName"] = format!("n{}", way % 7).into();
                pod["status"] = json!({"phase": if way % 11 == 0 { "Succeeded" } else { "Running" }});
                if way % 5 == 0 {
                    pod["metadata"]["deletionTimestamp"] = "2026-01-01T00:00:00Z".into();
                }
                self.forget(number);
                self.set(&pod);
            }
            Change::PodGone { number } => self.forget(number),
            Change::Namespace { number, way } => self.set(&json!({
                "apiVersion": "v1", "kind": "Namespace",
                "metadata": {"name": if number == 0 { "a" } else { "b" }, "labels": {"team": plain(way).among("team", &["x", "y"])}},
            })),
            Change::Drain { number } => drop(self.model.drainable(&format!("n{number}"), 1)),
            Change::Loss { number, added } => {
                let Record::Node(added) = record(&node("new", plain(added))) else { unreachable!("a node is a node") };
                self.model.what_if(&[(added, None)], &[format!("n{number}")], 1);
            }
            Change::Preempt { way } => drop(self.model.preemptions(&probe(way))),
            Change::Place { number, way } => {
                self.forget(number);
                let pod = self::record(&pod(&format!("p{number}"), plain(way)));
                let Record::Pod(pod) = pod else { unreachable!("a pod is a pod") };
                if let Ok(node) = self.model.place_one(&pod, &mut Chance::new(1)) {
                    self.view.insert(Record::Pod(Arc::new(Pod { node: Some(node), ..(*pod).clone() })));
                }
            }
        }
    }

    /// A name can be in either namespace: there is one pod of each.
    fn forget(&mut self, number: u8) {
        for namespace in ["a", "b"] {
            self.unset(Kind::Pod, &Key::new(namespace, format!("p{number}")));
        }
    }
}

fn record(object: &Value) -> Record {
    ingest::object(&object.to_string()).unwrap().unwrap()
}

fn plain(number: u32) -> Way {
    Way { number, but: None }
}

/// A pod to ask about.
pub(super) fn probe(way: u32) -> Pod {
    asked(plain(way))
}

/// Pods that differ from another in one part each.
pub(super) fn siblings(way: u32) -> impl Iterator<Item = Pod> {
    PARTS.iter().map(move |part| asked(Way { number: way, but: Some((part, way.wrapping_add(1))) }))
}

fn asked(way: Way) -> Pod {
    match record(&pod("probe", way)) {
        Record::Pod(pod) => (*pod).clone(),
        other => unreachable!("a pod, not {other:?}"),
    }
}

fn node(name: &str, mut way: Way) -> Value {
    let mut labels = json!({"pool": way.among("pool", &["old", "new"])});
    if !way.one_in("no zone", 6) {
        labels[ZONE] = way.among("zone", &["z1", "z2", "z3", ""]).into();
    }
    if !way.one_in("no hostname", 8) {
        labels[HOSTNAME] = name.into();
    }
    let mut node = json!({
        "apiVersion": "v1", "kind": "Node", "metadata": {"name": name, "labels": labels},
        "spec": {"unschedulable": way.one_in("cordon", 6)},
        "status": {"allocatable": {
            "cpu": way.among("cpu", &["1", "2", "4"]), "memory": way.among("memory", &["1Gi", "4Gi"]),
            "pods": way.among("pods", &["3", "20"]), "example.com/device": way.among("device", &["0", "2"]),
        }},
    });
    if way.one_in("taint", 5) {
        let effect = way.among("effect", &["NoSchedule", "PreferNoSchedule", "NoExecute"]);
        node["spec"]["taints"] = json!([{"key": "dedicated", "value": "x", "effect": effect}]);
    }
    if way.one_in("images", 3) {
        node["status"]["images"] = json!([{"names": ["registry.example/c:1"], "sizeBytes": 500_000_000}]);
    }
    if way.one_in("features", 2) {
        node["status"]["declaredFeatures"] = json!(["RestartAllContainersOnContainerExits"]);
    }
    node
}

/// A pod that no node was chosen for. Every part of it that a filter or a score reads comes and goes by itself.
fn pod(name: &str, mut way: Way) -> Value {
    let app = way.among("app", &["x", "y"]);
    let image = way.among("image", &["registry.example/c:1", "registry.example/c:2"]);
    let mut container = json!({"name": "c", "image": image, "resources": {"requests": {}}});
    for (part, resource, amounts) in [
        ("cpu", "cpu", ["100m", "900m", ""]),
        ("memory", "memory", ["100Mi", "900Mi", ""]),
        ("device", "example.com/device", ["1", "", ""]),
    ] {
        let amount = way.among(part, &amounts);
        if !amount.is_empty() {
            container["resources"]["requests"][resource] = amount.into();
        }
    }
    if way.one_in("ports", 3) {
        container["ports"] = json!([{"containerPort": 80, "hostPort": 80}]);
    }
    if way.one_in("features", 6) {
        container["restartPolicy"] = "Never".into();
        container["restartPolicyRules"] =
            json!([{"action": "RestartAllContainers", "exitCodes": {"operator": "In", "values": [42]}}]);
    }
    let mut containers = vec![container];
    if way.one_in("second", 3) {
        // It asks for nothing, and counts in scores.
        containers.push(json!({"name": "d", "image": image}));
    }
    let mut spec = json!({"containers": containers, "priority": way.of("priority", 3)});
    match way.of("tolerations", 6) {
        0 => spec["tolerations"] = json!([{"operator": "Exists"}]),
        1 => spec["tolerations"] = json!([{"key": "dedicated", "operator": "Exists"}]),
        2 => spec["tolerations"] = json!([{"key": "node.kubernetes.io/unschedulable", "operator": "Exists"}]),
        _ => {}
    }
    if way.one_in("pool", 5) {
        spec["nodeSelector"] = json!({"pool": "old"});
    }
    let constraints = [("first", "first key"), ("second one", "second key")];
    let constraints = constraints.iter().take(way.of("spread", 3) as usize);
    spec["topologySpreadConstraints"] = constraints.map(|(of, key)| constraint(&mut way, (of, key), app)).collect();
    spec["affinity"] = json!({});
    for (part, kind) in [("affinity", "podAffinity"), ("anti", "podAntiAffinity")] {
        if way.one_in(part, 3) {
            spec["affinity"][kind] = affinity(&mut way, part);
        }
    }
    json!({
        "apiVersion": "v1", "kind": "Pod", "spec": spec, "status": {"phase": "Pending"},
        "metadata": {"namespace": way.among("namespace", &["a", "a", "b"]), "name": name, "labels": {"app": app}},
    })
}

fn constraint(way: &mut Way, (of, key): (&'static str, &'static str), app: &str) -> Value {
    let way_of = way.of(of, 48);
    let mut constraint = json!({
        "maxSkew": 1 + way_of % 2, "topologyKey": way.among(key, &[ZONE, ZONE, HOSTNAME]),
        "whenUnsatisfiable": if (way_of / 2).is_multiple_of(2) { "DoNotSchedule" } else { "ScheduleAnyway" },
        "labelSelector": {"matchLabels": {"app": app}},
        "nodeAffinityPolicy": if (way_of / 4).is_multiple_of(2) { "Honor" } else { "Ignore" },
        "nodeTaintsPolicy": if (way_of / 8).is_multiple_of(2) { "Honor" } else { "Ignore" },
    });
    match way_of / 16 {
        0 if (way_of / 2).is_multiple_of(2) => constraint["minDomains"] = 3.into(),
        1 if way.one_in("empty selector", 3) => constraint["labelSelector"] = json!({}),
        _ => {}
    }
    constraint
}

fn affinity(way: &mut Way, part: &'static str) -> Value {
    let mut term = json!({
        "topologyKey": way.among("key of term", &[ZONE, HOSTNAME]),
        "labelSelector": {"matchLabels": {"app": way.among("app of term", &["x", "y"])}},
    });
    if way.one_in("namespaces of term", 3) {
        term["namespaceSelector"] = json!({"matchLabels": {"team": "x"}});
    }
    if way.one_in("required", 2) {
        return json!({"requiredDuringSchedulingIgnoredDuringExecution": [term]});
    }
    let weight = if part == "anti" { 30 } else { 50 };
    json!({"preferredDuringSchedulingIgnoredDuringExecution": [{"weight": weight, "podAffinityTerm": term}]})
}
