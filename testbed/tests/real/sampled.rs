//! Sampling, measured on the real kube-scheduler: in a cluster of more than 100 nodes it stops looking once it has found
//! enough, and begins the next search where it stopped. Pods come one at a time, and each binding must be one of the best
//! of the nodes of the window that the model says was looked at; how many are not the best of *all* nodes is the chance
//! that a forecast has to live with.
//!
//! With one thread of the scheduler the window is exact. With its usual 16 there is none to name, so that is only counted.

use rehome_k8s::pod::Pod;
use rehome_sched::{Chance, Minor, Model, Profile, Sampling};
use rehome_testbed::control_plane::Options;
use rehome_testbed::fidelity::dice::Dice;
use rehome_testbed::kwok::FakeNode;
use serde_json::{Value, json};

use crate::forced::{KINDS, NAMESPACE, Server};

const SEED: u64 = 8;
/// Two thirds of them are enough: max(100, 49 %). Source: `schedule_one.go`, `numFeasibleNodesToFind`.
const NODES: usize = 150;
const PODS: usize = 80;
/// Digits of a node's number, as labels. Pods prefer digits, the higher the more, up to the greatest weight, which is 100:
/// so each pod has a favourite and all other nodes in an order of its own, and a window that is not the right one shows.
const DIGITS: usize = 7;
/// Rows of nodes, side by side. Each pod must keep off one of them, so that a search often ends beside a node that the pod
/// cannot use and the next one can: where the next search begins decides, and an error adds up.
const ROWS: usize = 6;

/// Nodes in three zones, so that the search goes by their numbers.
fn nodes() -> Vec<FakeNode> {
    let node = |index: usize| {
        let number = index * 37 % (1 << DIGITS);
        let node = FakeNode::new(&format!("n{index:03}")).cpu("8").memory("16Gi");
        let node = node.label("topology.kubernetes.io/zone", &format!("z{}", index % 3));
        let node = node.label("row", &(index % ROWS).to_string());
        let node = (0..DIGITS)
            .fold(node, |node, digit| node.label(&format!("digit-{digit}"), &(number >> digit & 1).to_string()));
        if index % 17 == 9 { node.cordoned() } else { node }
    };
    (0..NODES).map(node).collect()
}

/// A pod with a favourite, which has to keep off one row.
fn pod(index: usize, dice: &mut Dice) -> Value {
    let preferred: Vec<Value> = (0..DIGITS)
        .map(|digit| {
            json!({"weight": 1 << digit, "preference": {"matchExpressions": [
                {"key": format!("digit-{digit}"), "operator": "In", "values": [dice.pick(&["0", "1"])]}]}})
        })
        .collect();
    let row = dice.pick(&["0", "1", "2", "3", "4", "5"]);
    let requests = json!({"cpu": dice.pick(&["0", "100m", "250m"]), "memory": dice.pick(&["0", "64Mi", "700Mi"])});
    json!({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": format!("p{index:03}"), "namespace": NAMESPACE},
        "spec": {
            "containers": [{"name": "main", "image": "registry.test/sampled:1", "resources": {"requests": requests}}],
            "affinity": {"nodeAffinity": {
                "requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [
                    {"matchExpressions": [{"key": "row", "operator": "NotIn", "values": [row]}]}]},
                "preferredDuringSchedulingIgnoredDuringExecution": preferred}}}})
}

/// How a run went.
#[derive(Debug, Default)]
struct Run {
    bound: usize,
    /// Pods for which several of the nodes of the window were equally good.
    ties: usize,
    /// Bindings that would not have been made had the scheduler looked at all nodes.
    not_the_best_of_all: usize,
    /// Bindings that no search from any node explains.
    by_no_window: Vec<String>,
    /// Bindings that the search from where the one before stopped does not explain.
    by_another_window: Vec<String>,
}

fn run(one_scheduler_thread: bool) -> Run {
    let options =
        Options { scheduler_gates: vec![("OpportunisticBatching", false)], one_scheduler_thread, ..Options::default() };
    let server = Server::start(&options);
    let plane = &server.plane;
    plane.namespace(NAMESPACE).unwrap();
    plane.create_nodes(nodes()).unwrap();
    server.wait_for_nodes();
    let mut model = Model::new(&server.look(&KINDS), Profile::of(Minor::V1_37));
    let mut dice = Dice::new(SEED);
    let mut chance = Chance::new(SEED).sampling(Sampling::Default);
    let mut run = Run::default();
    for index in 0..PODS {
        let manifest = pod(index, &mut dice);
        let name = manifest["metadata"]["name"].as_str().unwrap();
        plane.create(std::slice::from_ref(&manifest)).unwrap();
        let real = server.answered(name);
        let asked = Pod { node: None, ..real.as_ref().clone() };
        let node = real.node.as_ref().unwrap_or_else(|| panic!("{name}: {:?}", real.unschedulable));
        run.bound += 1;
        run.not_the_best_of_all += usize::from(!model.best_nodes(&asked).contains(node));
        let start = chance.start();
        let best = model.best_nodes_looked_at(&asked, &mut chance);
        run.ties += usize::from(best.len() > 1);
        if !best.contains(node) {
            let mut explains = |start: usize| {
                let mut chance = chance.clone().starting_at(start);
                model.best_nodes_looked_at(&asked, &mut chance).contains(node)
            };
            match (0..NODES).find(|start| explains(*start)) {
                Some(other) => run.by_another_window.push(format!("{name} on {node}: from {other}, not {start}")),
                None => run.by_no_window.push(format!("{name} on {node}")),
            }
        }
        model.insert_pod(&real);
    }
    run
}

#[test]
fn every_binding_of_a_large_cluster_is_the_best_of_the_nodes_that_were_looked_at() {
    let run = run(true);
    println!(
        "{NODES} nodes, one thread: {} of {} are not the best of all; {} among equals",
        run.not_the_best_of_all, run.bound, run.ties
    );
    assert!(run.by_no_window.is_empty() && run.by_another_window.is_empty(), "{run:#?}");
    assert_eq!(run.bound, PODS);
    assert!(run.not_the_best_of_all > PODS / 10, "sampling must have mattered: {run:#?}");
    assert!(run.ties < PODS / 4, "most choices must be the window's to get wrong: {run:#?}");
}

#[test]
fn what_sixteen_threads_look_at_is_chance_and_is_counted() {
    let run = run(false);
    let (other, none) = (run.by_another_window.len(), run.by_no_window.len());
    println!(
        "{NODES} nodes, 16 threads: {} of {} are not the best of all; {other} are of a window that began elsewhere, {none} \
         of none",
        run.not_the_best_of_all, run.bound
    );
    assert_eq!(run.bound, PODS);
}
