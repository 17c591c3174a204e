//! The real control plane as a world of the contract.

use std::sync::OnceLock;

use rehome_k8s::{Kind, View, ingest};
use rehome_model::Timestamp;
use rehome_model::snapshot::ClusterIdentity;
use rehome_model::time::Seconds;
use rehome_model::verb::{Change, Field};
use rehome_testbed::clock;
use rehome_testbed::control_plane::{ControlPlane, Options};
use rehome_testbed::kwok::FakeNode;
use serde_json::{Value, json};

use crate::world::{Answer, ContractWorld, behaviour};

pub(crate) struct Real {
    plane: &'static ControlPlane,
    runtime: tokio::runtime::Runtime,
    client: kube::Client,
    namespace: String,
    nodes: Vec<String>,
    played: Vec<String>,
    began: Timestamp,
}

/// The control plane of all cases: its kubelets leave some pods to the cases.
fn plane() -> &'static ControlPlane {
    static PLANE: OnceLock<Result<ControlPlane, String>> = OnceLock::new();
    let options = Options { behaviour: behaviour(), ..Options::default() };
    let plane = PLANE.get_or_init(|| ControlPlane::start(&options).map_err(|error| error.to_string()));
    plane.as_ref().unwrap()
}

/// Namespaces and labels have at most 63 characters; names of nodes and pods are longer than the namespace.
const LONGEST_NAMESPACE: usize = 30;

impl Real {
    pub(crate) fn new(case: &str) -> Self {
        let plane = plane();
        let mut namespace = case.replace('_', "-");
        namespace.truncate(LONGEST_NAMESPACE);
        let namespace = namespace.trim_end_matches('-').to_owned();
        plane.namespace(&namespace).unwrap();
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let client = runtime.block_on(plane.admin()).unwrap();
        Self { plane, runtime, client, namespace, nodes: Vec::new(), played: Vec::new(), began: clock::now() }
    }

    fn path(&self, kind: Kind, name: &str) -> String {
        let version = kind.api_version();
        let base = if version.contains('/') { format!("/apis/{version}") } else { format!("/api/{version}") };
        let place = if kind.namespaced() { format!("/namespaces/{}", self.namespace) } else { String::new() };
        let name = if name.is_empty() { String::new() } else { format!("/{name}") };
        format!("{base}{place}/{}{name}", kind.plural())
    }

    fn send(&self, method: &str, path: &str, content: &str, body: &Value) -> Result<Value, Answer> {
        let request = http::Request::builder()
            .method(method)
            .uri(path)
            .header("Content-Type", content)
            .body(if body.is_null() { Vec::new() } else { body.to_string().into_bytes() })
            .unwrap();
        match self.runtime.block_on(self.client.request::<Value>(request)) {
            Ok(value) => Ok(value),
            Err(kube::Error::Api(status)) => {
                let status = serde_json::to_value(&status).unwrap();
                let cause = &status["details"]["causes"][0];
                let text = |value: &Value| value.as_str().map(str::to_owned);
                Err(Answer {
                    code: u16::try_from(status["code"].as_u64().unwrap()).unwrap(),
                    cause: text(&cause["reason"]),
                    message: text(&cause["message"]).or_else(|| text(&status["message"])).unwrap_or_default(),
                })
            }
            Err(error) => panic!("{method} {path}: {error}"),
        }
    }

    /// The taints of the node at `path`; `None` where the field is absent.
    fn taints(&self, path: &str) -> Option<Vec<Value>> {
        self.send("GET", path, JSON, &Value::Null).unwrap()["spec"]["taints"].as_array().cloned()
    }

    /// Sets what is at `field` to `to` if it is `from`.
    fn test_and_set(&self, path: &str, field: &str, from: Option<Value>, to: Option<Value>) -> Answer {
        let mut patch = Vec::new();
        patch.extend(from.map(|from| json!({"op": "test", "path": field, "value": from})));
        patch.push(match to {
            Some(to) => json!({"op": "add", "path": field, "value": to}),
            None => json!({"op": "remove", "path": field}),
        });
        Self::answer(self.send("PATCH", path, "application/json-patch+json", &json!(patch)), 200)
    }

    fn answer(result: Result<Value, Answer>, good: u16) -> Answer {
        match result {
            Ok(_) => Answer { code: good, ..Answer::default() },
            Err(answer) => answer,
        }
    }
}

const JSON: &str = "application/json";

impl ContractWorld for Real {
    fn namespace(&self) -> &str {
        &self.namespace
    }

    fn node(&mut self, suffix: &str, cpu: &str) {
        let name = format!("{}-{suffix}", self.namespace);
        let node = FakeNode::new(&name).label("test", &self.namespace).cpu(cpu);
        self.plane.create_nodes([node.manifest()]).unwrap();
        self.nodes.push(name);
    }

    fn attaching_node(&mut self, suffix: &str, cpu: &str) {
        self.node(suffix, cpu);
        let path = self.path(Kind::Node, &format!("{}-{suffix}", self.namespace));
        let patch = json!({"metadata": {"annotations": {rehome_k8s::attachment::CONTROLLER_MANAGED: "true"}}});
        self.send("PATCH", &path, "application/merge-patch+json", &patch).unwrap();
    }

    fn play_attacher(&mut self) {
        for record in self.look(&[Kind::VolumeAttachment]).records() {
            let path = format!("{}/status", self.path(Kind::VolumeAttachment, &record.meta().name));
            self.send("PATCH", &path, "application/merge-patch+json", &json!({"status": {"attached": true}})).unwrap();
        }
    }

    fn create(&mut self, object: &Value) -> Answer {
        let kind = Kind::by_name(object["kind"].as_str().unwrap()).unwrap();
        Self::answer(self.send("POST", &self.path(kind, ""), JSON, object), 201)
    }

    fn delete(&mut self, kind: Kind, name: &str) -> Answer {
        let options = json!({"apiVersion": "v1", "kind": "DeleteOptions", "propagationPolicy": "Background"});
        Self::answer(self.send("DELETE", &self.path(kind, name), JSON, &options), 200)
    }

    fn terminate_namespace(&mut self) {
        let held = json!({"apiVersion": "v1", "kind": "ConfigMap",
            "metadata": {"name": "held", "finalizers": ["example.test/held"]}});
        let path = format!("/api/v1/namespaces/{}/configmaps", self.namespace);
        self.send("POST", &path, JSON, &held).unwrap();
        self.send("DELETE", &format!("/api/v1/namespaces/{}", self.namespace), JSON, &Value::Null).unwrap();
    }

    fn evict(&mut self, pod: &str, uid: &str) -> Answer {
        let body = json!({"apiVersion": "policy/v1", "kind": "Eviction",
            "metadata": {"name": pod, "namespace": self.namespace},
            "deleteOptions": {"preconditions": {"uid": uid}}});
        let path = format!("{}/eviction?fieldValidation=Strict", self.path(Kind::Pod, pod));
        Self::answer(self.send("POST", &path, JSON, &body), 201)
    }

    fn set_field(&mut self, change: &Change) -> Answer {
        let kind = Kind::by_name(&change.target.kind).unwrap();
        let path = self.path(kind, &change.target.name);
        match &change.field {
            Field::Unschedulable => {
                let value = |text: &String| json!(text == "true");
                let (from, to) = (change.from.as_ref().map(value), change.to.as_ref().map(value));
                self.test_and_set(&path, "/spec/unschedulable", from, to)
            }
            Field::TemplateAnnotation { key } => {
                let field =
                    format!("/spec/template/metadata/annotations/{}", key.replace('~', "~0").replace('/', "~1"));
                let value = |text: &String| json!(text);
                self.test_and_set(&path, &field, change.from.as_ref().map(value), change.to.as_ref().map(value))
            }
            Field::NoScheduleTaint { key } => loop {
                let before = self.taints(&path);
                let mut after = before.clone().unwrap_or_default();
                after.retain(|taint| taint["key"] != key.as_str());
                after.extend(change.to.iter().map(|to| json!({"key": key, "value": to, "effect": "NoSchedule"})));
                // `null` is what an absent field has.
                let test = Some(json!(before));
                let answer = self.test_and_set(&path, "/spec/taints", test, Some(after.into()));
                // Taints are one list, which the node controller writes, too: that of a new node a moment after it.
                if answer.code == 422 && self.taints(&path) != before {
                    continue;
                }
                break answer;
            },
        }
    }

    fn play_kubelet(&mut self, pod: &str, ready: bool) {
        let status = if ready { "True" } else { "False" };
        // Without an address a pod has no endpoint.
        if !self.played.iter().any(|known| known == pod) {
            self.played.push(pod.to_owned());
        }
        let number = self.played.iter().position(|known| known == pod).unwrap();
        let address = format!("10.9.0.{}", number + 1);
        let patch = json!({"status": {"phase": "Running", "podIP": address, "podIPs": [{"ip": address}],
            "conditions": [{"type": "Ready", "status": status}]}});
        let path = format!("{}/status", self.path(Kind::Pod, pod));
        self.send("PATCH", &path, "application/strategic-merge-patch+json", &patch).unwrap();
    }

    fn look(&mut self, kinds: &[Kind]) -> View {
        let mut view = View::new(ClusterIdentity::default());
        for kind in kinds {
            let list = self.send("GET", &self.path(*kind, ""), JSON, &Value::Null).unwrap();
            for item in list["items"].as_array().unwrap() {
                let mut item = item.clone();
                // Items of a list do not say what they are.
                item["apiVersion"] = kind.api_version().into();
                item["kind"] = kind.name().into();
                view.insert(ingest::object(&item.to_string()).unwrap().unwrap());
            }
        }
        view
    }

    fn events(&mut self) -> Vec<Value> {
        let log = fs_err::read_to_string(self.plane.audit_log()).unwrap();
        // The last line can be half written.
        log.lines()
            .filter_map(|line| serde_json::from_str::<Value>(line).ok())
            .filter(|event| event["objectRef"]["namespace"] == self.namespace.as_str())
            .collect()
    }

    fn pass(&mut self) {
        // Asking again is what a wait consists of: the clock of the testbed sleeps for a moment between two tries.
        let mut first = true;
        clock::wait_for("a moment", std::time::Duration::from_secs(1), || {
            if std::mem::take(&mut first) { Err(String::new()) } else { Ok(()) }
        })
        .unwrap();
    }

    fn elapsed(&self) -> Seconds {
        clock::now() - self.began
    }
}

impl Drop for Real {
    fn drop(&mut self) {
        // Other cases' pods should not be told of these nodes any longer. What fails here is not what is tested.
        for node in std::mem::take(&mut self.nodes) {
            let _ = self.plane.kubectl(&["delete", "node", &node, "--wait=false"]);
        }
    }
}
