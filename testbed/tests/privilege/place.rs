//! The control plane that the tests share, and for each a small cluster in it: two old nodes, two new ones, and a
//! workload for each way of moving.

use std::path::Path;
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::Duration;

use rehome_model::exit;
use rehome_testbed::clock;
use rehome_testbed::control_plane::{ControlPlane, Options};
use rehome_testbed::kwok::FakeNode;
use serde_json::{Value, json};

use crate::planted::{self, MARK};
use crate::program::{self, Ran};

/// How long anything may take that takes a second or two on an idle machine.
pub(crate) const LIMIT: Duration = Duration::from_secs(120);
/// The user whose reads are in the audit log.
pub(crate) const AUDITED: &str = "audited";

/// The control plane, one test at a time.
pub(crate) fn turn() -> (&'static ControlPlane, MutexGuard<'static, ()>) {
    static PLANE: OnceLock<ControlPlane> = OnceLock::new();
    static TURN: Mutex<()> = Mutex::new(());
    let turn = TURN.lock().unwrap_or_else(PoisonError::into_inner);
    let options = Options { audited_readers: vec![AUDITED], ..Options::default() };
    (PLANE.get_or_init(|| ControlPlane::start(&options).unwrap()), turn)
}

/// A cluster in the cluster, and a folder for the documents of its move.
pub(crate) struct Place {
    pub(crate) plane: &'static ControlPlane,
    pub(crate) name: String,
    folder: tempfile::TempDir,
    _turn: MutexGuard<'static, ()>,
}

impl Place {
    /// Everything runs on the old nodes, and the new ones are empty.
    pub(crate) fn new(name: &str) -> Self {
        let (plane, turn) = turn();
        let place = Self { plane, name: name.to_owned(), folder: tempfile::tempdir().unwrap(), _turn: turn };
        // A test that failed leaves an unfinished run, which is in the way of the next.
        let head = ["delete", "configmap", "rehome-journal", "--namespace", "rehome-system", "--ignore-not-found"];
        plane.kubectl(&head).unwrap();
        plane.namespace(name).unwrap();
        place.nodes("old");
        plane.create(&planted::unread(name)).unwrap();
        // As people do it: kubectl keeps what was applied in an annotation.
        let list = json!({"apiVersion": "v1", "kind": "List", "items": place.workloads()}).to_string();
        plane.kubectl_as(plane.admin_kubeconfig(), &["apply", "-f", "-"], Some(&list)).unwrap();
        clock::wait_for("the workloads to become Ready", LIMIT, || {
            let ready = place.pods().iter().filter(|pod| ready(pod)).count();
            if ready == 7 { Ok(()) } else { Err(format!("{ready} of 7 are")) }
        })
        .unwrap();
        place.nodes("new");
        place
    }

    fn nodes(&self, pool: &str) {
        let node = |index: usize| FakeNode::new(&format!("{}-{pool}-{index}", self.name)).label("place", &self.name);
        self.plane.create_nodes([node(1), node(2)]).unwrap();
        // A node that has just come is tainted as not ready until the node lifecycle controller has seen it.
        clock::wait_for("nodes without taints", LIMIT, || {
            let nodes = ["-o", "jsonpath={.items[*].spec.taints}", "-l", &format!("place={}", self.name)];
            let taints = self.plane.kubectl(&[&["get", "nodes"], &nodes[..]].concat()).unwrap();
            if taints.trim().is_empty() { Ok(()) } else { Err(taints) }
        })
        .unwrap();
    }

    /// The folder in which the program runs.
    pub(crate) fn folder(&self) -> &Path {
        self.folder.path()
    }

    /// The nodes of a pool, as the command line takes them.
    pub(crate) fn pool(&self, pool: &str) -> String {
        format!("{0}-{pool}-1,{0}-{pool}-2", self.name)
    }

    /// `--consent` for the workload that no eviction can move.
    pub(crate) fn consent(&self) -> String {
        format!("delete-past-budget=StatefulSet/{}/db", self.name)
    }

    /// Captures and plans: before.json, plan.json, approval.json.
    pub(crate) fn prepare(&self, kubeconfig: &Path) {
        let kubeconfig = kubeconfig.to_str().unwrap();
        let (from, to, consent) = (self.pool("old"), self.pool("new"), self.consent());
        let capture = ["capture", "--kubeconfig", kubeconfig, "--out", "before.json"];
        let plan = ["--from", &from, "--to", &to, "--consent", &consent, "--out", "plan.json"];
        let plan = [&["plan", "--snapshot", "before.json"][..], &plan].concat();
        let approve = ["approve", "--plan", "plan.json", "--by", "tester", "--out", "approval.json"];
        for arguments in [&capture[..], &plan, &approve] {
            self.expect(exit::DONE, arguments);
        }
    }

    /// `execute` with a kubeconfig, up to the journal's name.
    pub(crate) fn execute<'a>(&self, kubeconfig: &'a Path) -> Vec<&'a str> {
        let kubeconfig = kubeconfig.to_str().unwrap();
        vec!["execute", "--kubeconfig", kubeconfig, "--plan", "plan.json", "--approval", "approval.json"]
    }

    /// Runs it and insists on an exit code.
    pub(crate) fn expect(&self, code: u8, arguments: &[&str]) -> Ran {
        program::expect(code, self.folder(), arguments)
    }

    /// The pods of the place.
    pub(crate) fn pods(&self) -> Vec<Value> {
        let text = self.plane.kubectl(&["get", "pods", "-n", &self.name, "-o", "json"]).unwrap();
        serde_json::from_str::<Value>(&text).unwrap()["items"].as_array().unwrap().clone()
    }

    /// Whether every pod stands on a new node.
    pub(crate) fn moved(&self) -> bool {
        let new = format!("{}-new-", self.name);
        self.pods().iter().all(|pod| pod["spec"]["nodeName"].as_str().unwrap_or_default().starts_with(&new))
    }

    /// The journal's lines so far.
    pub(crate) fn journal(&self) -> String {
        fs_err::read_to_string(self.folder().join("plan.journal.jsonl")).unwrap_or_default()
    }

    fn workloads(&self) -> Vec<Value> {
        let mut items = vec![
            self.workload("Deployment", "web", 3, &json!({"strategy": {"type": "RollingUpdate"}})),
            self.workload(
                "Deployment",
                "api",
                3,
                &json!({"strategy": {"type": "RollingUpdate", "rollingUpdate": {"maxSurge": 0, "maxUnavailable": 1}}}),
            ),
            self.workload("StatefulSet", "db", 1, &json!({"serviceName": "db"})),
        ];
        for (name, rule) in [("api", json!({"maxUnavailable": 1})), ("db", json!({"minAvailable": 1}))] {
            let mut spec = rule;
            spec["selector"] = json!({"matchLabels": {"app": name}});
            let metadata = json!({"name": name, "namespace": self.name});
            items.push(json!({
                "apiVersion": "policy/v1", "kind": "PodDisruptionBudget", "metadata": metadata, "spec": spec,
            }));
        }
        items
    }

    fn workload(&self, kind: &str, name: &str, replicas: usize, spec: &Value) -> Value {
        let mut spec = spec.clone();
        spec["replicas"] = json!(replicas);
        spec["selector"] = json!({"matchLabels": {"app": name}});
        spec["template"] = json!({
            "metadata": {"labels": {"app": name}, "annotations": planted::annotations()},
            "spec": {
                "nodeSelector": {"place": self.name},
                "terminationGracePeriodSeconds": 1,
                "automountServiceAccountToken": false,
                "containers": [planted::container()],
            },
        });
        let metadata = json!({"name": name, "namespace": self.name, "annotations": planted::annotations()});
        assert!(spec.to_string().contains(MARK));
        json!({"apiVersion": "apps/v1", "kind": kind, "metadata": metadata, "spec": spec})
    }
}

fn ready(pod: &Value) -> bool {
    let conditions = pod["status"]["conditions"].as_array().cloned().unwrap_or_default();
    conditions.iter().any(|condition| condition["type"] == "Ready" && condition["status"] == "True")
}

impl Drop for Place {
    fn drop(&mut self) {
        // The next test's nodes shall be the only ones that its plan sees beside its own.
        let (old, new) = (self.pool("old"), self.pool("new"));
        let nodes = old.split(',').chain(new.split(','));
        let arguments: Vec<&str> =
            ["delete", "node", "--ignore-not-found", "--wait=false"].into_iter().chain(nodes).collect();
        let _ = self.plane.kubectl(&["delete", "namespace", &self.name, "--timeout=60s"]);
        let _ = self.plane.kubectl(&arguments);
    }
}
