//! The cluster: half of its nodes old, half new, and workloads of the usual kinds on the old ones.

use std::time::Duration;

use serde_json::{Value, json};

use super::{ScaleError, Size};
use crate::clock;
use crate::control_plane::{ControlPlane, Options};
use crate::kwok::FakeNode;

/// How many pods one cycle of workloads has: see [`workloads`].
pub const CYCLE: usize = 60;
/// Cycles in one namespace.
const CYCLES: usize = 15;
/// Objects in one request to kubectl: some megabytes of JSON.
const BATCH: usize = 400;
/// How long the pods may take to become Ready: 9,000 of them take several minutes on two cores.
const LIMIT: Duration = Duration::from_secs(3600);

/// The user as which `rehome` runs.
pub const MOVER: &str = "mover";
/// The user as which `kubectl drain` runs.
pub const DRAINER: &str = "drainer";

/// The old nodes, or the new ones.
#[must_use]
pub fn nodes(size: Size, pool: &str) -> Vec<FakeNode> {
    let node = |index| {
        FakeNode::new(&format!("{pool}-{index:03}"))
            .label("pool", pool)
            .label("topology.kubernetes.io/zone", ["az-1", "az-2", "az-3"][index % 3])
            .cpu("32")
            .memory("128Gi")
    };
    (0..size.nodes / 2).map(node).collect()
}

/// A workload of a cycle: its name, its kind, its replicas, and the field and the number of its budget.
type Workload = (&'static str, &'static str, usize, Option<(&'static str, i64)>);

/// One cycle: Deployments of ten that are evicted one pod after the other, with budgets and without; small ones that roll
/// over; and a StatefulSet. More than most clusters have is evicted: that is what costs requests.
const WORKLOADS: [Workload; 9] = [
    ("web", "Deployment", 10, None),
    ("api", "Deployment", 10, None),
    ("queue", "Deployment", 10, None),
    ("guarded", "Deployment", 10, Some(("maxUnavailable", 1))),
    ("careful", "Deployment", 10, Some(("minAvailable", 8))),
    ("kept", "Deployment", 3, Some(("minAvailable", 2))),
    ("small", "Deployment", 3, None),
    ("single", "Deployment", 1, None),
    ("store", "StatefulSet", 3, Some(("maxUnavailable", 1))),
];

/// Namespaces, workloads, budgets and Services for so many pods.
#[must_use]
pub fn workloads(size: Size) -> Vec<Value> {
    let mut objects = Vec::new();
    for cycle in 0..size.pods.div_ceil(CYCLE) {
        let namespace = format!("team-{:02}", cycle / CYCLES);
        if cycle.is_multiple_of(CYCLES) {
            objects.push(json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": namespace}}));
        }
        for (name, kind, replicas, budget) in WORKLOADS {
            let name = format!("{name}-{cycle:03}");
            objects.extend(workload(&namespace, &name, kind, replicas, budget));
        }
    }
    objects
}

fn workload(
    namespace: &str,
    name: &str,
    kind: &str,
    replicas: usize,
    budget: Option<(&str, i64)>,
) -> impl Iterator<Item = Value> {
    let metadata = json!({"name": name, "namespace": namespace});
    let selector = json!({"matchLabels": {"app": name}});
    let mut spec = json!({
        "replicas": replicas,
        "selector": selector,
        "template": {
            "metadata": {"labels": {"app": name, "team": namespace}},
            "spec": {
                "terminationGracePeriodSeconds": 5,
                "automountServiceAccountToken": false,
                "containers": [{"name": "main", "image": "example.test/app:1", "env": [{"name": "MODE", "value": "on"}],
                    "resources": {"requests": {"cpu": "100m", "memory": "128Mi"}}}],
            },
        },
    });
    if kind == "StatefulSet" {
        spec["serviceName"] = json!(name);
    }
    let workload = json!({"apiVersion": "apps/v1", "kind": kind, "metadata": metadata, "spec": spec});
    let service = json!({"apiVersion": "v1", "kind": "Service", "metadata": metadata,
        "spec": {"selector": {"app": name}, "ports": [{"port": 80}]}});
    let budget = budget.map(|(field, pods)| {
        json!({"apiVersion": "policy/v1", "kind": "PodDisruptionBudget", "metadata": metadata,
            "spec": {"selector": selector, field: pods}})
    });
    [workload, service].into_iter().chain(budget)
}

/// A control plane with all pods Ready on the old nodes, and the new nodes empty.
///
/// # Errors
/// See [`ScaleError`].
pub fn start(size: Size, say: &dyn Fn(&str)) -> Result<ControlPlane, ScaleError> {
    // Bodies of 9,000 pods that come and go would be a gigabyte of log, and nobody reads them.
    let options = Options { audited_readers: vec![MOVER, DRAINER], audited_bodies: false, ..Options::default() };
    let plane = ControlPlane::start(&options)?;
    plane.create_nodes(nodes(size, "old"))?;
    let (namespaces, others): (Vec<Value>, Vec<Value>) =
        workloads(size).into_iter().partition(|object| object["kind"] == "Namespace");
    for namespace in &namespaces {
        plane.namespace(namespace["metadata"]["name"].as_str().unwrap_or_default())?;
    }
    for some in others.chunks(BATCH) {
        plane.create(some)?;
    }
    say(&format!("{} workloads, budgets and Services are made", others.len()));
    wait_until_ready(&plane, size)?;
    plane.create_nodes(nodes(size, "new"))?;
    Ok(plane)
}

/// How many pods there are.
#[must_use]
pub fn pods(size: Size) -> usize {
    size.pods.div_ceil(CYCLE) * CYCLE
}

/// Waits until every replica of every workload is Ready.
///
/// # Errors
/// See [`ScaleError`].
pub fn wait_until_ready(plane: &ControlPlane, size: Size) -> Result<(), ScaleError> {
    let count = || -> Result<u64, ScaleError> {
        let text = plane.kubectl(&["get", "deployments,statefulsets", "-A", "-o", READY])?;
        Ok(text.split_whitespace().filter_map(|word| word.parse::<u64>().ok()).sum())
    };
    let wanted = pods(size) as u64;
    clock::wait_for("the pods to become Ready", LIMIT, || {
        let ready = count().map_err(|error| error.to_string())?;
        if ready >= wanted { Ok(()) } else { Err(format!("{ready} of {wanted} are")) }
    })?;
    Ok(())
}

/// Prints how many replicas of each workload are Ready.
const READY: &str = r"go-template={{range .items}}{{if .status.readyReplicas}}{{.status.readyReplicas}} {{end}}{{end}}";

/// The nodes of all pods, by `namespace/name`.
///
/// # Errors
/// See [`ScaleError`].
pub fn placements(plane: &ControlPlane) -> Result<Vec<(String, String)>, ScaleError> {
    let text = plane.kubectl(&["get", "pods", "-A", "-o", PLACES])?;
    let lines = text.lines().filter_map(|line| line.split_once(' '));
    Ok(lines.map(|(pod, node)| (pod.to_owned(), node.to_owned())).collect())
}

/// Prints a line for each pod: its namespace, its name and its node.
const PLACES: &str =
    r#"go-template={{range .items}}{{.metadata.namespace}}/{{.metadata.name}} {{.spec.nodeName}}{{"\n"}}{{end}}"#;
