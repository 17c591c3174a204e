//! Clusters of the shapes of scheduler_perf, kube-scheduler's own benchmark: nodes, pods that are there, pods that come.
//!
//! Source of the shapes and sizes: `k8s.io/kubernetes/test/integration/scheduler_perf`, v1.37.2.

use serde_json::{Value, json};

use super::objects;

/// A shape.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shape {
    /// Pods that only ask for room. `SchedulingBasic/5000Nodes_10000Pods`.
    Basic,
    /// A hard constraint over three zones. `TopologySpreading/5000Nodes_5000Pods`.
    Spread,
    /// Pods of a Service, spread by the cluster's defaults. `DefaultTopologySpreading/5000Nodes_10000Pods`.
    DefaultSpread,
    /// Required anti-affinity on the hostname. `SchedulingPodAntiAffinity/5000Nodes_2000Pods`.
    AntiAffinity,
    /// The same over all namespaces with a label. `SchedulingRequiredPodAntiAffinityWithNSSelector/5000Nodes_2000Pods`,
    /// which has 6,000 nodes and 100 namespaces with 40 pods each.
    NamespaceSelector,
}

/// A cluster to place pods in.
#[derive(Clone, Debug, Default)]
pub struct Cluster {
    /// Nodes, namespaces, Services.
    pub objects: Vec<Value>,
    /// Pods that are placed beforehand, in this order.
    pub before: Vec<Value>,
    /// Pods that are measured, in this order.
    pub pods: Vec<Value>,
}

const ZONES: [&str; 3] = ["moon-1", "moon-2", "moon-3"];

impl Shape {
    /// All shapes.
    pub const ALL: [Self; 5] =
        [Self::Basic, Self::Spread, Self::DefaultSpread, Self::AntiAffinity, Self::NamespaceSelector];

    /// How it is called.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Basic => "basic",
            Self::Spread => "topology spread",
            Self::DefaultSpread => "default spread",
            Self::AntiAffinity => "required anti-affinity",
            Self::NamespaceSelector => "namespaceSelector anti-affinity",
        }
    }

    /// The number of nodes of the benchmark.
    #[must_use]
    pub fn nodes(self) -> usize {
        if self == Self::NamespaceSelector { 6_000 } else { 5_000 }
    }

    /// The cluster with so many nodes; the numbers of pods keep their proportion to it.
    #[must_use]
    pub fn cluster(self, nodes: usize) -> Cluster {
        let zoned = matches!(self, Self::Spread | Self::DefaultSpread);
        let node = |number: usize| {
            let labels = [("topology.kubernetes.io/zone", ZONES[number % ZONES.len()])];
            let size = json!({"cpu": "4", "memory": "32Gi", "pods": "110"});
            objects::node(&format!("scheduler-perf-{number:05}"), &size, if zoned { &labels } else { &[] })
        };
        let mut cluster = Cluster { objects: (0..nodes).map(node).collect(), ..Cluster::default() };
        let share = |pods: usize| pods * nodes / self.nodes();
        match self {
            Self::Basic => {
                cluster.before = many("default", "init", share(1_000), plain);
                cluster.pods = many("default", "pod", share(10_000), plain);
            }
            Self::Spread => {
                cluster.before = many("default", "init", share(5_000), plain);
                cluster.pods = many("default", "spreading-pod", share(5_000), spreading);
            }
            Self::DefaultSpread => {
                cluster.objects.push(json!({
                    "apiVersion": "v1", "kind": "Service", "metadata": {"namespace": "service-ns", "name": "service"},
                    "spec": {"selector": {"app": "scheduler-perf"}},
                }));
                cluster.before = many("default", "init", share(5_000), plain);
                cluster.pods = many("service-ns", "pod", share(10_000), |namespace, name| {
                    objects::pod(namespace, name, &json!({"app": "scheduler-perf"}), &Value::Null)
                });
            }
            Self::AntiAffinity => {
                let lonely =
                    |namespace: &str, name: &str| lonely(namespace, name, "namespaces", &json!(["sched-1", "sched-0"]));
                cluster.objects.extend(["sched-0", "sched-1"].map(|name| objects::namespace(name, &json!({}))));
                cluster.before = many("sched-0", "init", share(1_000), lonely);
                cluster.pods = many("sched-1", "anti-affinity-pod", share(2_000), lonely);
            }
            Self::NamespaceSelector => {
                let team = json!({"team": "devops"});
                let selector = json!({"matchLabels": team});
                let lonely = |namespace: &str, name: &str| lonely(namespace, name, "namespaceSelector", &selector);
                for number in 0..100 {
                    let name = format!("init-ns-{number}");
                    cluster.objects.push(objects::namespace(&name, &team));
                    cluster.before.extend(many(&name, "init", share(4_000) / 100, lonely));
                }
                cluster.objects.push(objects::namespace("measure-ns-0", &team));
                cluster.pods = many("measure-ns-0", "anti-affinity-pod", share(2_000), lonely);
            }
        }
        cluster
    }
}

fn many(namespace: &str, prefix: &str, count: usize, pod: impl Fn(&str, &str) -> Value) -> Vec<Value> {
    (0..count).map(|number| pod(namespace, &format!("{prefix}-{number:05}"))).collect()
}

fn requests() -> Value {
    json!({"cpu": "100m", "memory": "500Mi"})
}

fn plain(namespace: &str, name: &str) -> Value {
    objects::pod(namespace, name, &json!({}), &requests())
}

fn spreading(namespace: &str, name: &str) -> Value {
    let labels = json!({"color": "blue"});
    let mut pod = objects::pod(namespace, name, &labels, &requests());
    pod["spec"]["topologySpreadConstraints"] = json!([{
        "maxSkew": 5, "topologyKey": "topology.kubernetes.io/zone", "whenUnsatisfiable": "DoNotSchedule",
        "labelSelector": {"matchLabels": labels},
    }]);
    pod
}

/// A pod that wants a node without others of its kind, in the namespaces that a field of the term names.
fn lonely(namespace: &str, name: &str, field: &str, namespaces: &Value) -> Value {
    let labels = json!({"color": "green"});
    let mut pod = objects::pod(namespace, name, &labels, &requests());
    let mut term = json!({"topologyKey": "kubernetes.io/hostname", "labelSelector": {"matchLabels": labels}});
    term[field] = namespaces.clone();
    pod["spec"]["affinity"] = json!({"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [term]}});
    pod
}
