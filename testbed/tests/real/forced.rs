//! The model against whole runs of the real kube-scheduler, by teacher forcing: pods come one at a time, and each real
//! binding must be one of the nodes that the model holds for the best, given where all pods before really are. So one tie
//! that falls otherwise does not make everything after it differ. A pod that finds no node must hear the model's sentence.
//!
//! Batching reuses the scores of the pod before, so it is off: it is one more kind of chance.

use std::collections::BTreeMap;
use std::sync::Arc;

use rehome_k8s::node::Node;
use rehome_k8s::pod::Pod;
use rehome_k8s::{Kind, Record, View, ingest};
use rehome_sched::{Minor, Model, Profile};
use rehome_testbed::clock;
use rehome_testbed::control_plane::{ControlPlane, Options};
use rehome_testbed::fidelity::dice::Dice;
use rehome_testbed::kwok::FakeNode;
use serde_json::{Value, json};

use crate::workload::LIMIT;

pub(crate) const NAMESPACE: &str = "forced";
const SEED: u64 = 4;
/// Enough that the smaller nodes are full towards the end.
const PODS: usize = 90;
pub(crate) const KINDS: [Kind; 4] = [Kind::Node, Kind::Pod, Kind::Namespace, Kind::Service];

/// Twelve nodes of three sizes in three zones, with what keeps pods away or discourages them.
fn nodes() -> Vec<FakeNode> {
    let node = |index: usize| {
        let (cpu, memory) = [("2", "4Gi"), ("4", "8Gi"), ("8", "12Gi")][index % 3];
        let node = FakeNode::new(&format!("n{index:02}")).cpu(cpu).memory(memory).pods(14);
        let node =
            if index == 11 { node } else { node.label("topology.kubernetes.io/zone", &format!("z{}", index / 4)) };
        let node = if index.is_multiple_of(2) { node.label("disk", "ssd") } else { node };
        match index {
            3 => node.taint("dedicated", "db", "NoSchedule"),
            5 | 6 => node.taint("spot", "", "PreferNoSchedule"),
            9 => node.cordoned(),
            _ => node,
        }
    };
    (0..12).map(node).collect()
}

/// A pod of one of a few apps, with what its app asks for.
fn pod(index: usize, dice: &mut Dice) -> Value {
    let app = dice.pick(&["web", "api", "db", "cache", "batch", "log", "edge", "solo"]);
    let requests =
        json!({"cpu": dice.pick(&["0", "100m", "250m", "900m"]), "memory": dice.pick(&["0", "64Mi", "700Mi"])});
    let selector = json!({"matchLabels": {"app": app}});
    let term = |key: &str| json!({"labelSelector": selector, "topologyKey": key});
    let spread = |key: &str, when: &str| json!({"maxSkew": 1, "topologyKey": key, "whenUnsatisfiable": when, "labelSelector": selector});
    let (zone, host) = ("topology.kubernetes.io/zone", "kubernetes.io/hostname");
    let more = match app {
        "web" => json!({"topologySpreadConstraints": [spread(zone, "DoNotSchedule"), spread(host, "ScheduleAnyway")]}),
        "db" => json!({"tolerations": [{"key": "dedicated", "operator": "Exists"}], "affinity": {
            "podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [term(host)]},
            "nodeAffinity": {"preferredDuringSchedulingIgnoredDuringExecution":
                [{"weight": 40, "preference": {"matchExpressions": [{"key": "disk", "operator": "In", "values": ["ssd"]}]}}]}}}),
        "cache" => {
            json!({"affinity": {"podAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [term(zone)]}}})
        }
        "log" => json!({"affinity": {"podAntiAffinity": {"preferredDuringSchedulingIgnoredDuringExecution":
            [{"weight": 70, "podAffinityTerm": term(zone)}]}}}),
        "edge" => {
            json!({"containers": [{"name": "c", "image": "example.test/c:1", "ports": [{"containerPort": 80, "hostPort": 80}]}]})
        }
        "solo" => json!({"nodeSelector": {"disk": "ssd"}}),
        _ => json!({}),
    };
    let mut spec =
        json!({"containers": [{"name": "c", "image": "example.test/c:1", "resources": {"requests": requests}}]});
    for (field, value) in more.as_object().into_iter().flatten() {
        spec[field] = value.clone();
    }
    json!({"apiVersion": "v1", "kind": "Pod",
        "metadata": {"name": format!("p{index:03}"), "namespace": NAMESPACE, "labels": {"app": app}}, "spec": spec})
}

/// The Services that make the default spread count something.
fn services() -> Vec<Value> {
    let service = |app: &str| {
        json!({"apiVersion": "v1", "kind": "Service", "metadata": {"name": app, "namespace": NAMESPACE},
            "spec": {"selector": {"app": app}, "ports": [{"port": 80}]}})
    };
    ["api", "batch", "log"].map(service).into()
}

/// The API server, asked directly: a program for each question would take longer than the scheduler.
pub(crate) struct Server {
    pub(crate) plane: ControlPlane,
    runtime: tokio::runtime::Runtime,
    client: kube::Client,
}

impl Server {
    pub(crate) fn start(options: &Options) -> Self {
        let plane = ControlPlane::start(options).unwrap();
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let client = runtime.block_on(plane.admin()).unwrap();
        Self { plane, runtime, client }
    }

    fn get(&self, path: &str) -> Value {
        let request = http::Request::get(path).body(Vec::new()).unwrap();
        self.runtime.block_on(self.client.request(request)).unwrap()
    }

    /// All objects of these kinds, by fresh lists.
    pub(crate) fn look(&self, kinds: &[Kind]) -> View {
        let mut view = View::default();
        for kind in kinds {
            let version = kind.api_version();
            let group = if version.contains('/') { "apis" } else { "api" };
            let list = self.get(&format!("/{group}/{version}/{}", kind.plural()));
            for item in list["items"].as_array().unwrap() {
                let mut item = item.clone();
                // Items of a list do not say what they are.
                item["apiVersion"] = version.into();
                item["kind"] = kind.name().into();
                view.insert(ingest::object(&item.to_string()).unwrap().unwrap());
            }
        }
        view
    }

    fn pod(&self, name: &str) -> Arc<Pod> {
        let pod = self.get(&format!("/api/v1/namespaces/{NAMESPACE}/pods/{name}"));
        match ingest::object(&pod.to_string()) {
            Ok(Some(Record::Pod(pod))) => pod,
            other => panic!("expected a pod, found {other:?}"),
        }
    }

    /// Until no node is new any more.
    pub(crate) fn wait_for_nodes(&self) {
        let ready = || {
            let view = self.look(&[Kind::Node]);
            let new = |key: &str| key.starts_with("node.kubernetes.io/not-ready");
            let waits = |node: &&Arc<Node>| node.ready != Some(true) || node.taints.iter().any(|taint| new(&taint.key));
            let waits: Vec<_> = view.nodes().filter(waits).map(|node| node.name().to_owned()).collect();
            if waits.is_empty() { Ok(()) } else { Err(waits.join(", ")) }
        };
        clock::wait_for("the nodes to be Ready", LIMIT, ready).unwrap();
    }

    /// A pod once the scheduler has bound or refused it.
    pub(crate) fn answered(&self, name: &str) -> Arc<Pod> {
        clock::wait_for("the scheduler's answer", LIMIT, || {
            let pod = self.pod(name);
            let answered = pod.node.is_some() || pod.unschedulable.is_some();
            if answered { Ok(pod) } else { Err("neither bound nor refused".to_owned()) }
        })
        .unwrap()
    }
}

/// How a run went.
#[derive(Debug, Default)]
struct Run {
    bound: usize,
    /// Pods for which several nodes were equally good.
    ties: usize,
    refused: usize,
    /// Bindings and sentences that the model would not have given.
    differ: BTreeMap<String, String>,
}

fn run(gates: Vec<(&'static str, bool)>) -> Run {
    let server = Server::start(&Options { scheduler_gates: gates, ..Options::default() });
    let plane = &server.plane;
    plane.namespace(NAMESPACE).unwrap();
    plane.create_nodes(nodes()).unwrap();
    plane.create(&services()).unwrap();
    server.wait_for_nodes();
    let mut model = Model::new(&server.look(&KINDS), Profile::of(Minor::V1_37));
    let mut dice = Dice::new(SEED);
    let mut run = Run::default();
    for index in 0..PODS {
        let manifest = pod(index, &mut dice);
        let name = manifest["metadata"]["name"].as_str().unwrap();
        plane.create(std::slice::from_ref(&manifest)).unwrap();
        let real = server.answered(name);
        // What the API server added to the pod counts, too; where it is bound does not.
        let asked = Pod { node: None, ..real.as_ref().clone() };
        match (&real.node, &real.unschedulable) {
            (Some(node), _) => {
                let best = model.best_nodes(&asked);
                run.bound += 1;
                run.ties += usize::from(best.len() > 1);
                if !best.contains(node) {
                    let why = format!("{node}, not one of {best:?}: {:#?}", model.judge(&asked));
                    run.differ.insert(name.to_owned(), why);
                }
                model.insert_pod(&real);
            }
            (None, message) => {
                run.refused += 1;
                let message = message.clone().unwrap_or_default();
                let expected = model.judge(&asked).message().unwrap_or_default();
                // What is said about preemption comes after the sentence.
                if message.split(" preemption:").next() != Some(expected.as_str()) {
                    run.differ.insert(name.to_owned(), format!("{message}\nnot\n{expected}"));
                }
                // A pod that waits would be bound at some later moment.
                plane.kubectl(&["delete", "pod", "-n", NAMESPACE, name, "--grace-period=0", "--force"]).unwrap();
            }
        }
    }
    run
}

#[test]
fn every_real_binding_is_one_of_the_models_best_nodes() {
    let run = run(vec![("OpportunisticBatching", false)]);
    println!("{} pods bound, {} of them among equals; {} refused", run.bound, run.ties, run.refused);
    assert!(run.differ.is_empty(), "{:#?}", run.differ);
    assert!(run.bound > PODS / 2 && run.refused > 0, "{run:#?}");
    assert!(run.ties < run.bound / 2, "most choices must be the model's to get wrong");
}
