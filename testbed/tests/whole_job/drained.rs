//! The same cluster, drained node by node with kubectl: what people do today.

use std::collections::BTreeSet;
use std::process::{Command, Stdio};

use rehome_testbed::audit::probe::probe;
use rehome_testbed::audit::{Timeline, read};
use rehome_testbed::clock;
use rehome_testbed::scenario::six_to_six as scenario;

use crate::table::Figures;
use crate::{cluster, moved};

/// The same behaviour as in the move that it is compared with.
const SEED: u64 = 20_261_201;
/// How long each drain may take. The pods that block it block it for ever; all others are gone well before: kubectl asks
/// for a refused eviction again after 5 s, and the slowest pod of the scenario is Ready after a few.
const TIMEOUT: &str = "--timeout=25s";

/// Every old node is cordoned, then drained one after the other. What blocks a drain is left where it is.
pub(crate) fn run() -> Figures {
    let plane = cluster::start();
    let folder = tempfile::tempdir().unwrap();
    moved::prepare(&plane, folder.path());
    let plan = moved::document(folder.path(), "plan.json");
    cluster::behave(&plane, &scenario::behaviour_during(SEED));
    let kubectl = |arguments: &[&str]| {
        let mut command = Command::new(plane.kubectl_program());
        command.arg("--kubeconfig").arg(plane.admin_kubeconfig()).args(arguments).stdin(Stdio::null());
        command.output().unwrap()
    };
    let from = clock::now();
    let nodes: Vec<String> = scenario::old_nodes().into_iter().map(|node| node.name).collect();
    // The runbook's order of work: every old node is cordoned first, then one is drained after the other.
    for node in &nodes {
        kubectl(&["cordon", node]);
    }
    let mut blocked = Vec::new();
    for node in &nodes {
        let drained = kubectl(&["drain", node, "--ignore-daemonsets", "--delete-emptydir-data", TIMEOUT]);
        if !drained.status.success() {
            blocked.push(node.clone());
        }
    }
    let to = clock::now();
    let events = read::log(&plane.audit_log()).unwrap();
    let timeline = Timeline::of(&events);
    let pods = cluster::pods(&plane);
    let elsewhere: BTreeSet<&str> = pods
        .values()
        .filter(|pod| pod.owner.as_deref() != Some("DaemonSet"))
        .filter_map(|pod| pod.node.as_deref())
        .filter(|node| node.starts_with("other-"))
        .collect();
    let plan: &rehome_model::plan::Plan = &plan;
    let workloads = plan.moves.iter().flat_map(|planned| &planned.workloads);
    let counted = Figures::count(&timeline, plan, from, to);
    let figures = Figures {
        pods: counted.pods,
        moves: counted.left + counted.moved_again,
        elsewhere_restarted: counted.restarted_elsewhere,
        restarts: 0,
        took: to - from,
        critical_path: None,
        without: probe(&timeline, workloads, from, to)
            .into_iter()
            .map(|(workload, availability)| (workload.to_string(), availability.total()))
            .collect(),
        left: pods
            .values()
            .filter(|pod| pod.owner.as_deref() != Some("DaemonSet"))
            .filter(|pod| pod.node.as_ref().is_some_and(|node| node.starts_with("old-")))
            .count(),
        elsewhere: elsewhere.len(),
    };
    println!("blocked: {blocked:?}; landed on nodes that must not be used: {elsewhere:?}");
    // What the plan found beforehand is what stops a drain: the figures mean something.
    assert!(figures.left > 0 && !blocked.is_empty(), "the structural budgets block kubectl drain");
    figures
}
