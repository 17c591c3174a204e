//! A namespace and nodes for one tool in one complaint.

use std::sync::OnceLock;
use std::time::Duration;

use rehome_model::behaviour::{Behaviour, PodBehaviour};
use rehome_model::time::Seconds;
use rehome_testbed::clock;
use rehome_testbed::control_plane::{ControlPlane, Options};
use rehome_testbed::kwok::FakeNode;
use serde_json::{Value, json};

/// How long anything may take that takes a second or two on an idle machine.
pub(crate) const LIMIT: Duration = Duration::from_secs(90);

/// The label by which pods choose how they behave; without it they start and stop within a second.
pub(crate) const PACE: &str = "pace";
/// [`PACE`]: runs, and never becomes Ready.
pub(crate) const NEVER_READY: &str = "never-ready";
/// [`PACE`]: becomes Ready 4 s after it runs.
pub(crate) const SLOW_START: &str = "slow-start";
/// [`PACE`]: takes 6 s to stop.
pub(crate) const SLOW_STOP: &str = "slow-stop";

/// A kind of an operator, `Widget`, without a scale subresource.
const WIDGETS: &str = r#"{"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
  "metadata": {"name": "widgets.complaints.test"}, "spec": {"group": "complaints.test", "scope": "Namespaced",
  "names": {"plural": "widgets", "singular": "widget", "kind": "Widget"}, "versions": [{"name": "v1", "served": true,
  "storage": true, "schema": {"openAPIV3Schema": {"type": "object"}}}]}}"#;

fn behaviour() -> Behaviour {
    let mut behaviour = Behaviour::prompt();
    let prompt = behaviour.pods[0].clone();
    let pace = |value: &str, change: &dyn Fn(&mut PodBehaviour)| {
        let mut rule = prompt.clone();
        rule.labels.insert(PACE.to_owned(), value.to_owned());
        change(&mut rule);
        rule
    };
    behaviour.pods.insert(0, pace(NEVER_READY, &|rule| rule.ready = None));
    behaviour.pods.insert(0, pace(SLOW_START, &|rule| rule.ready = Some(Seconds::new(4))));
    behaviour.pods.insert(0, pace(SLOW_STOP, &|rule| rule.stop = Seconds::new(6)));
    behaviour
}

/// The control plane of all complaints.
pub(crate) fn plane() -> &'static ControlPlane {
    static PLANE: OnceLock<ControlPlane> = OnceLock::new();
    PLANE.get_or_init(|| {
        let plane = ControlPlane::start(&Options { behaviour: behaviour(), ..Options::default() }).unwrap();
        // The controller manager looks for new kinds every 30 s: this one is old when it is needed.
        plane.apply(WIDGETS).unwrap();
        plane
    })
}

/// A namespace, the nodes whose names begin with its name, and a client.
pub(crate) struct Home {
    pub(crate) name: String,
    runtime: tokio::runtime::Runtime,
    client: kube::Client,
}

impl Home {
    /// A namespace with these nodes, each with the label `home` that pods select.
    pub(crate) fn new(name: &str, nodes: &[&str]) -> Self {
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
        let client = runtime.block_on(plane().admin()).unwrap();
        plane().namespace(name).unwrap();
        let home = Self { name: name.to_owned(), runtime, client };
        home.add_nodes(nodes);
        home
    }

    /// The whole name of a node, or of another object that belongs to no namespace.
    pub(crate) fn full(&self, short: &str) -> String {
        format!("{}-{short}", self.name)
    }

    /// A node to be made; its label `tier` is its name without what follows the last dash.
    pub(crate) fn node(&self, short: &str) -> FakeNode {
        let tier = short.rsplit_once('-').map_or(short, |(tier, _)| tier);
        FakeNode::new(&self.full(short)).label("home", &self.name).label("tier", tier)
    }

    pub(crate) fn add_nodes(&self, nodes: &[&str]) {
        if nodes.is_empty() {
            return;
        }
        plane().create_nodes(nodes.iter().map(|short| self.node(short))).unwrap();
        // A node is Ready a moment before the cluster takes its taint away.
        self.until("the nodes to be open", || {
            let tainted = |short: &&&str| !self.get(&self.node_path(short)).unwrap()["spec"]["taints"].is_null();
            nodes.iter().find(tainted).map_or(Ok(()), |short| Err((*short).to_owned()))
        });
    }

    /// Asks the API server.
    pub(crate) fn request(&self, method: &str, path: &str, kind: &str, body: &Value) -> (u16, Value) {
        let bytes = if body.is_null() { Vec::new() } else { body.to_string().into_bytes() };
        let request =
            http::Request::builder().method(method).uri(path).header("Content-Type", kind).body(bytes).unwrap();
        match self.runtime.block_on(self.client.request::<Value>(request)) {
            Ok(answer) => (200, answer),
            Err(kube::Error::Api(status)) => (status.code, serde_json::to_value(&status).unwrap()),
            Err(error) => panic!("{method} {path}: {error}"),
        }
    }

    /// An object; `None` if there is none.
    pub(crate) fn get(&self, path: &str) -> Option<Value> {
        match self.request("GET", path, "application/json", &Value::Null) {
            (200, found) => Some(found),
            (404, _) => None,
            (code, answer) => panic!("{path}: {code} {answer}"),
        }
    }

    /// Merges a patch into an object.
    pub(crate) fn patch(&self, path: &str, patch: &Value) {
        let (code, answer) = self.request("PATCH", path, "application/merge-patch+json", patch);
        assert_eq!(code, 200, "{path}: {answer}");
    }

    pub(crate) fn delete(&self, path: &str) {
        let (code, answer) = self.request("DELETE", path, "application/json", &Value::Null);
        assert_eq!(code, 200, "{path}: {answer}");
    }

    pub(crate) fn create(&self, objects: &[Value]) {
        if !objects.is_empty() {
            plane().create(objects).unwrap();
        }
    }

    /// The path of an object of this namespace: `apps/v1`, `statefulsets`, `db`.
    pub(crate) fn path(&self, group_version: &str, resource: &str, name: &str) -> String {
        let root = if group_version == "v1" { "/api/v1".to_owned() } else { format!("/apis/{group_version}") };
        format!("{root}/namespaces/{}/{resource}/{name}", self.name)
    }

    pub(crate) fn pod_path(&self, name: &str) -> String {
        self.path("v1", "pods", name)
    }

    pub(crate) fn node_path(&self, short: &str) -> String {
        format!("/api/v1/nodes/{}", self.full(short))
    }

    pub(crate) fn budget_path(&self, name: &str) -> String {
        self.path("policy/v1", "poddisruptionbudgets", name)
    }

    pub(crate) fn pods(&self) -> Vec<Pod> {
        let list = self.get(&self.path("v1", "pods", "")).unwrap();
        list["items"].as_array().unwrap().iter().map(|pod| Pod(pod.clone())).collect()
    }

    pub(crate) fn pod(&self, name: &str) -> Option<Pod> {
        self.get(&self.pod_path(name)).map(Pod)
    }

    /// The pods on a node, by name.
    pub(crate) fn on(&self, short: &str) -> Vec<String> {
        let node = self.full(short);
        self.pods().iter().filter(|pod| pod.node() == Some(&node)).map(Pod::name).collect()
    }

    /// The only pod whose name begins like this.
    pub(crate) fn only(&self, prefix: &str) -> Pod {
        let mut pods: Vec<Pod> = self.pods().into_iter().filter(|pod| pod.name().starts_with(prefix)).collect();
        assert_eq!(pods.len(), 1, "{prefix}: {:?}", pods.iter().map(Pod::name).collect::<Vec<_>>());
        pods.remove(0)
    }

    /// Waits until there are so many pods, and each is Ready or is one that never will be.
    pub(crate) fn settled(&self, count: usize) -> Vec<Pod> {
        self.until("the pods to settle", || {
            let pods = self.pods();
            let settled = |pod: &&Pod| !pod.leaves() && (pod.ready() || pod.running() && pod.pace() == NEVER_READY);
            let found = pods.iter().filter(settled).count();
            if found == count && pods.len() == count { Ok(pods) } else { Err(format!("{found} of {}", pods.len())) }
        })
    }

    /// Waits until the disruption controller has counted.
    pub(crate) fn budget(&self, name: &str, allowed: i64) {
        self.until("the budget to be counted", || {
            let budget = self.get(&self.budget_path(name)).unwrap();
            let (seen, status) = (&budget["metadata"]["generation"], &budget["status"]);
            let counted = status["observedGeneration"] == *seen && status["disruptionsAllowed"] == allowed;
            if counted { Ok(()) } else { Err(status.to_string()) }
        });
    }

    pub(crate) fn cordoned(&self, short: &str) -> bool {
        self.get(&self.node_path(short)).unwrap()["spec"]["unschedulable"] == true
    }

    /// The keys of the taints that are not the cluster's own.
    pub(crate) fn taints(&self, short: &str) -> Vec<String> {
        let node = self.get(&self.node_path(short)).unwrap();
        let taints = node["spec"]["taints"].as_array().cloned().unwrap_or_default();
        let keys = taints.iter().map(|taint| taint["key"].as_str().unwrap().to_owned());
        keys.filter(|key| !key.starts_with("node.kubernetes.io/")).collect()
    }

    pub(crate) fn until<T>(&self, what: &str, ask: impl FnMut() -> Result<T, String>) -> T {
        clock::wait_for(&format!("{what} in {}", self.name), LIMIT, ask).unwrap()
    }
}

/// A pod as the API server shows it.
pub(crate) struct Pod(pub(crate) Value);

impl Pod {
    pub(crate) fn name(&self) -> String {
        self.0["metadata"]["name"].as_str().unwrap().to_owned()
    }

    pub(crate) fn uid(&self) -> &str {
        self.0["metadata"]["uid"].as_str().unwrap()
    }

    pub(crate) fn node(&self) -> Option<&str> {
        self.0["spec"]["nodeName"].as_str()
    }

    pub(crate) fn leaves(&self) -> bool {
        !self.0["metadata"]["deletionTimestamp"].is_null()
    }

    pub(crate) fn running(&self) -> bool {
        self.0["status"]["phase"] == "Running"
    }

    fn pace(&self) -> &str {
        self.0["metadata"]["labels"][PACE].as_str().unwrap_or_default()
    }

    pub(crate) fn ready(&self) -> bool {
        self.condition("Ready") == "True"
    }

    fn condition(&self, kind: &str) -> &str {
        let conditions = self.0["status"]["conditions"].as_array();
        let found = conditions.into_iter().flatten().find(|condition| condition["type"] == kind);
        found.and_then(|condition| condition["status"].as_str()).unwrap_or_default()
    }

    /// The scheduler has looked at it and found no node.
    pub(crate) fn unschedulable(&self) -> bool {
        self.node().is_none() && self.condition("PodScheduled") == "False"
    }
}

/// Sets a workload up twice, and runs both tools beside each other.
pub(crate) fn both<K: Send, R: Send>(
    number: u8,
    kubectl: impl FnOnce(&str) -> K + Send,
    rehome: impl FnOnce(&str) -> R + Send,
) -> (K, R) {
    std::thread::scope(|scope| {
        let kubectl = scope.spawn(move || kubectl(&format!("c{number:02}-k")));
        let rehome = scope.spawn(move || rehome(&format!("c{number:02}-r")));
        (kubectl.join().unwrap(), rehome.join().unwrap())
    })
}

/// An annotation that no tool reads: a patch that changes nothing else.
pub(crate) fn labelled(labels: &Value) -> Value {
    json!({"metadata": {"labels": labels}})
}
