//! Six old nodes, six new ones, three that must not be used; workloads and budgets of every kind.
//!
//! It is the scenario that the whole job is proved with, from capture to verification: see `tests/real/whole_job.rs`.

use rehome_model::behaviour::{Behaviour, PodBehaviour};
use rehome_model::document::Header;
use rehome_model::time::Seconds;
use serde_json::{Value, json};

/// The namespace of everything that moves.
pub const NAMESPACE: &str = "shop";
/// How many nodes the old pool and the new pool have each.
pub const POOL: usize = 6;
/// How many nodes belong to neither.
pub const OTHERS: usize = 3;
/// How many Deployments there are, of one to five replicas.
pub const DEPLOYMENTS: usize = 20;

/// The consents that the plan needs, as the command line takes them.
pub const CONSENTS: &[&str] =
    &["delete-past-budget=StatefulSet/shop/ledger", "delete-past-budget=Deployment/shop/app-16"];

/// The pods that no node takes, before and after.
pub const PENDING: &[&str] = &["wants-64-cores", "wants-nowhere"];

/// One node: `(name, pool, zone, extra label)`.
#[derive(Clone, Debug)]
pub struct ScenarioNode {
    /// The name.
    pub name: String,
    /// The value of the label `pool`.
    pub pool: &'static str,
    /// The zone.
    pub zone: &'static str,
    /// Whether it carries the label `disk=ssd`: one node of each pool does.
    pub ssd: bool,
}

/// The nodes of the old pool: all that there is while the workloads are created.
#[must_use]
pub fn old_nodes() -> Vec<ScenarioNode> {
    pool("old", POOL)
}

/// The new pool, and the nodes that must not be used.
#[must_use]
pub fn new_and_other_nodes() -> Vec<ScenarioNode> {
    let mut nodes = pool("new", POOL);
    nodes.extend(pool("other", OTHERS));
    nodes
}

fn pool(pool: &'static str, size: usize) -> Vec<ScenarioNode> {
    (1..=size)
        .map(|index| ScenarioNode {
            name: format!("{pool}-{index}"),
            pool,
            zone: if index % 2 == 1 { "az-1" } else { "az-2" },
            ssd: index == POOL,
        })
        .collect()
}

/// A node as an API object, as a kubelet would register it: four cores, 8 GiB, 40 pods.
#[must_use]
pub fn node(node: &ScenarioNode) -> Value {
    let mut labels = json!({
        "pool": node.pool,
        "kubernetes.io/hostname": node.name,
        "topology.kubernetes.io/zone": node.zone,
        "type": "kwok",
    });
    if node.ssd {
        labels["disk"] = json!("ssd");
    }
    let resources = json!({"cpu": "4", "memory": "8Gi", "pods": "40", "ephemeral-storage": "50Gi"});
    json!({
        "apiVersion": "v1", "kind": "Node",
        "metadata": {"name": node.name, "labels": labels, "annotations": {"kwok.x-k8s.io/node": "fake"}},
        "status": {
            "allocatable": resources, "capacity": resources,
            "conditions": [{"type": "Ready", "status": "True", "reason": "KubeletReady"}],
        },
    })
}

/// Everything but nodes, in the order of creation.
#[must_use]
pub fn objects() -> Vec<Value> {
    let mut objects = vec![json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": NAMESPACE}})];
    objects.extend(volume());
    for index in 1..=DEPLOYMENTS {
        objects.push(deployment(index));
        objects.push(service(&format!("app-{index:02}"), false));
        objects.extend(budget_of(index));
    }
    objects.push(second_budget());
    objects.push(stateful_set("ledger", 1, "OrderedReady", None));
    objects.push(budget("ledger", "ledger", &json!({"minAvailable": 1})));
    objects.push(stateful_set("kv", 3, "OrderedReady", None));
    objects.push(budget("kv", "kv", &json!({"maxUnavailable": 1})));
    objects.push(stateful_set("archive", 1, "Parallel", Some("archive-data")));
    for name in ["ledger", "kv", "archive"] {
        objects.push(service(name, true));
    }
    objects.push(daemon_set("log-agent", &json!([{"operator": "Exists"}])));
    objects.push(daemon_set("metrics-agent", &json!([])));
    objects.push(job());
    objects.push(bare_pod(PENDING[0], &json!({"cpu": "64"}), &json!({})));
    objects.push(bare_pod(PENDING[1], &json!({"cpu": "10m"}), &json!({"nowhere": "true"})));
    objects
}

/// How pods behave while the cluster is set up and when the forecast is written.
#[must_use]
pub fn behaviour_before() -> Behaviour {
    Behaviour::prompt()
}

/// How they behave during the move: slower, by amounts drawn from a seed, so that no forecast can have known them.
#[must_use]
pub fn behaviour_during(seed: u64) -> Behaviour {
    let mut state = seed;
    let mut draw = |from: i64, to: i64| {
        // A linear congruential generator (constants of Knuth's MMIX): good enough to vary delays, and the same on
        // every machine.
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let span = u64::try_from(to - from).unwrap_or(0) + 1;
        Seconds::from_millis(from + i64::try_from((state >> 33) % span).unwrap_or(0))
    };
    let mut pods = Vec::new();
    let names = (1..=DEPLOYMENTS).map(|index| format!("app-{index:02}"));
    for name in names.chain(["ledger", "kv", "archive"].map(str::to_owned)) {
        pods.push(PodBehaviour {
            labels: [("app".to_owned(), name)].into(),
            start: draw(200, 1000),
            ready: Some(draw(500, 3500)),
            jitter: draw(0, 500),
            stop: draw(200, 2000),
        });
    }
    pods.extend(Behaviour::prompt().pods);
    Behaviour { header: Header::of::<Behaviour>(), pods }
}

fn container(cpu: &str, memory: &str) -> Value {
    json!([{"name": "main", "image": "example.test/app:1", "resources": {"requests": {"cpu": cpu, "memory": memory}}}])
}

/// Deployments cycle through one to five replicas and through the ways of replacing pods.
fn deployment(index: usize) -> Value {
    let name = format!("app-{index:02}");
    let mut spec = json!({
        "terminationGracePeriodSeconds": 5,
        "automountServiceAccountToken": false,
        "containers": container("100m", "128Mi"),
    });
    if index == 6 {
        // The one feasible target is the new node with the same disk.
        spec["nodeSelector"] = json!({"disk": "ssd"});
    }
    if index == 10 {
        spec["topologySpreadConstraints"] = json!([{
            "maxSkew": 1, "topologyKey": "topology.kubernetes.io/zone", "whenUnsatisfiable": "DoNotSchedule",
            "nodeTaintsPolicy": "Honor", "labelSelector": {"matchLabels": {"app": name}},
        }]);
    }
    let strategy = match index {
        // No surge: pods can only be evicted one by one.
        5 | 9 | 13 => json!({"type": "RollingUpdate", "rollingUpdate": {"maxSurge": 0, "maxUnavailable": 1}}),
        // Its budget allows nothing, but a rollout that only adds before it takes away needs nothing of it.
        14 => json!({"type": "RollingUpdate", "rollingUpdate": {"maxSurge": 1, "maxUnavailable": 0}}),
        // One replica that must stop before the next starts.
        16 => json!({"type": "Recreate"}),
        _ => json!({"type": "RollingUpdate"}),
    };
    json!({
        "apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": name, "namespace": NAMESPACE},
        "spec": {
            "replicas": (index - 1) % 5 + 1,
            "selector": {"matchLabels": {"app": name}},
            "strategy": strategy,
            "template": {"metadata": {"labels": {"app": name}}, "spec": spec},
        },
    })
}

/// Budgets of every kind: numbers, percentages, one that can never allow, one that ignores unhealthy pods.
fn budget_of(index: usize) -> Option<Value> {
    let name = format!("app-{index:02}");
    let spec = match index {
        2 => json!({"minAvailable": 1}),
        3 => json!({"maxUnavailable": 1}),
        4 => json!({"minAvailable": "50%"}),
        5 => json!({"maxUnavailable": "25%"}),
        9 => json!({"minAvailable": 3}),
        // Structural: one replica, and one must be available. A rollout with surge replaces it without a gap.
        11 => json!({"minAvailable": 1}),
        13 => json!({"maxUnavailable": 1, "unhealthyPodEvictionPolicy": "AlwaysAllow"}),
        14 => json!({"maxUnavailable": 0}),
        // Structural, and the Deployment cannot surge: only a consent moves it.
        16 => json!({"minAvailable": 1}),
        18 => json!({"minAvailable": "100%"}),
        _ => return None,
    };
    Some(budget(&name, &name, &spec))
}

/// A second budget over the pods of `app-02`: the eviction endpoint answers 500 for them for ever.
fn second_budget() -> Value {
    budget("app-02-again", "app-02", &json!({"maxUnavailable": 1}))
}

fn budget(name: &str, app: &str, rule: &Value) -> Value {
    let mut spec = rule.clone();
    spec["selector"] = json!({"matchLabels": {"app": app}});
    json!({
        "apiVersion": "policy/v1", "kind": "PodDisruptionBudget",
        "metadata": {"name": name, "namespace": NAMESPACE}, "spec": spec,
    })
}

fn service(name: &str, headless: bool) -> Value {
    let mut spec = json!({"selector": {"app": name}, "ports": [{"port": 80}]});
    if headless {
        spec["clusterIP"] = json!("None");
    }
    json!({"apiVersion": "v1", "kind": "Service", "metadata": {"name": name, "namespace": NAMESPACE}, "spec": spec})
}

fn stateful_set(name: &str, replicas: i64, policy: &str, claim: Option<&str>) -> Value {
    let mut spec = json!({
        "terminationGracePeriodSeconds": 5,
        "automountServiceAccountToken": false,
        "containers": container("200m", "256Mi"),
    });
    if let Some(claim) = claim {
        spec["volumes"] = json!([{"name": "data", "persistentVolumeClaim": {"claimName": claim}}]);
    }
    json!({
        "apiVersion": "apps/v1", "kind": "StatefulSet", "metadata": {"name": name, "namespace": NAMESPACE},
        "spec": {
            "replicas": replicas, "serviceName": name, "podManagementPolicy": policy,
            "selector": {"matchLabels": {"app": name}},
            "template": {"metadata": {"labels": {"app": name}}, "spec": spec},
        },
    })
}

/// A volume that only the nodes of one zone reach, bound beforehand as a provisioner would have left it.
fn volume() -> [Value; 2] {
    [
        json!({
            "apiVersion": "v1", "kind": "PersistentVolume", "metadata": {"name": "archive-volume"},
            "spec": {
                "capacity": {"storage": "1Gi"}, "accessModes": ["ReadWriteOnce"], "storageClassName": "manual",
                "persistentVolumeReclaimPolicy": "Retain",
                "csi": {"driver": "cinder.csi.openstack.org", "volumeHandle": "archive"},
                "nodeAffinity": {"required": {"nodeSelectorTerms": [{"matchExpressions": [
                    {"key": "topology.kubernetes.io/zone", "operator": "In", "values": ["az-1"]},
                ]}]}},
            },
        }),
        json!({
            "apiVersion": "v1", "kind": "PersistentVolumeClaim",
            "metadata": {"name": "archive-data", "namespace": NAMESPACE},
            "spec": {
                "accessModes": ["ReadWriteOnce"], "storageClassName": "manual", "volumeName": "archive-volume",
                "resources": {"requests": {"storage": "1Gi"}},
            },
        }),
    ]
}

fn daemon_set(name: &str, tolerations: &Value) -> Value {
    json!({
        "apiVersion": "apps/v1", "kind": "DaemonSet", "metadata": {"name": name, "namespace": NAMESPACE},
        "spec": {
            "selector": {"matchLabels": {"app": name}},
            "template": {
                "metadata": {"labels": {"app": name}},
                "spec": {
                    "automountServiceAccountToken": false, "tolerations": tolerations,
                    "containers": container("50m", "32Mi"),
                },
            },
        },
    })
}

fn job() -> Value {
    json!({
        "apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": "reindex", "namespace": NAMESPACE},
        "spec": {"backoffLimit": 6, "template": {
            "metadata": {"labels": {"app": "reindex"}},
            "spec": {
                "restartPolicy": "Never", "terminationGracePeriodSeconds": 5,
                "automountServiceAccountToken": false, "containers": container("100m", "64Mi"),
            },
        }},
    })
}

fn bare_pod(name: &str, requests: &Value, node_selector: &Value) -> Value {
    json!({
        "apiVersion": "v1", "kind": "Pod", "metadata": {"name": name, "namespace": NAMESPACE, "labels": {"app": name}},
        "spec": {
            "automountServiceAccountToken": false, "nodeSelector": node_selector,
            "containers": [{"name": "main", "image": "example.test/app:1", "resources": {"requests": requests}}],
        },
    })
}
