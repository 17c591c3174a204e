//! The scenario on a real control plane.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Duration;

use k8s_openapi::api::rbac::v1::PolicyRule;
use rehome_model::behaviour::Behaviour;
use rehome_testbed::clock;
use rehome_testbed::control_plane::{ControlPlane, Options};
use rehome_testbed::scenario::six_to_six as scenario;
use serde::Deserialize as _;
use serde_json::Value;

/// How long the set-up may take on a busy machine.
const LIMIT: Duration = Duration::from_secs(240);
/// The user as which the program runs.
pub(crate) const USER: &str = "mover";

/// A control plane with everything on the old nodes and Ready, and the new nodes empty.
pub(crate) fn start() -> ControlPlane {
    let options = Options { behaviour: scenario::behaviour_before(), ..Options::default() };
    let plane = ControlPlane::start(&options).unwrap();
    plane.create_nodes(scenario::old_nodes().iter().map(scenario::node)).unwrap();
    plane.namespace(scenario::NAMESPACE).unwrap();
    let objects = scenario::objects();
    let (namespaces, others): (Vec<Value>, Vec<Value>) =
        objects.into_iter().partition(|object| object["kind"] == "Namespace");
    assert_eq!(namespaces.len(), 1, "the one that is there already");
    plane.create(&others).unwrap();
    // 60 pods of Deployments, five of StatefulSets, one of a Job, and two DaemonSets on six nodes.
    wait_for_workloads(&plane, 78);
    plane.create_nodes(scenario::new_and_other_nodes().iter().map(scenario::node)).unwrap();
    // Two DaemonSets on nine more nodes.
    wait_for_workloads(&plane, 78 + 18);
    plane
}

fn wait_for_workloads(plane: &ControlPlane, at_least: usize) {
    clock::wait_for("the workloads to become Ready", LIMIT, || {
        let pods = pods(plane);
        let waiting: Vec<&String> = pods
            .iter()
            .filter(|(name, pod)| !pod.ready && !scenario::PENDING.contains(&name.as_str()))
            .map(|(name, _)| name)
            .collect();
        let ready = pods.values().filter(|pod| pod.ready).count();
        if waiting.is_empty() && ready >= at_least {
            Ok(())
        } else {
            Err(format!("{ready} are, waiting for {waiting:?}"))
        }
    })
    .unwrap();
}

/// A pod as the API server shows it.
pub(crate) struct Pod {
    pub(crate) node: Option<String>,
    pub(crate) owner: Option<String>,
    pub(crate) ready: bool,
    pub(crate) app: String,
    pub(crate) unschedulable: Option<String>,
}

/// The pods of the scenario's namespace by name.
pub(crate) fn pods(plane: &ControlPlane) -> BTreeMap<String, Pod> {
    let text = plane.kubectl(&["get", "pods", "-n", scenario::NAMESPACE, "-o", "json"]).unwrap();
    let list: Value = serde_json::from_str(&text).unwrap();
    let condition = |pod: &Value, kind: &str| {
        let conditions = pod["status"]["conditions"].as_array().cloned().unwrap_or_default();
        conditions.into_iter().find(|condition| condition["type"] == kind).unwrap_or_default()
    };
    let text = |value: &Value| value.as_str().map(str::to_owned);
    list["items"]
        .as_array()
        .unwrap()
        .iter()
        .map(|pod| {
            let scheduled = condition(pod, "PodScheduled");
            let found = Pod {
                node: text(&pod["spec"]["nodeName"]),
                owner: text(&pod["metadata"]["ownerReferences"][0]["kind"]),
                ready: condition(pod, "Ready")["status"] == "True" && pod["metadata"]["deletionTimestamp"].is_null(),
                app: text(&pod["metadata"]["labels"]["app"]).unwrap_or_default(),
                unschedulable: (scheduled["status"] == "False").then(|| text(&scheduled["message"])).flatten(),
            };
            (text(&pod["metadata"]["name"]).unwrap(), found)
        })
        .collect()
}

/// The kubeconfig of a user who has just the rights of `deploy/rbac.yaml`.
pub(crate) fn mover(plane: &ControlPlane) -> PathBuf {
    let manifest = include_str!("../../../deploy/rbac.yaml");
    let objects: Vec<Value> = serde_saphyr::from_multiple(manifest).unwrap();
    let (roles, others): (Vec<Value>, Vec<Value>) =
        objects.into_iter().partition(|object| object["kind"].as_str().is_some_and(|kind| kind.ends_with("Role")));
    // The namespace of the journal's copy; what is allowed in it is allowed to this user in all.
    others.iter().for_each(|object| plane.apply(&object.to_string()).unwrap());
    let rules = roles.into_iter().flat_map(|role| Vec::<PolicyRule>::deserialize(&role["rules"]).unwrap());
    let rules: Vec<PolicyRule> = rules.collect();
    plane.identity(USER, &rules).unwrap().kubeconfig.clone()
}

/// From now on pods behave like this.
pub(crate) fn behave(plane: &ControlPlane, behaviour: &Behaviour) {
    plane.set_behaviour(behaviour).unwrap();
}
