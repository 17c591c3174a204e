//! The objects that cases create, and how they are looked at.

use std::sync::Arc;

use rehome_k8s::pod::Pod;
use rehome_k8s::policy::BudgetStatus;
use rehome_k8s::{Key, Kind, View, budget, readiness};
use serde_json::{Value, json};

use crate::world::{ContractWorld, FENCES, PLAYED, wait};

/// A pod template.
pub(crate) fn template(app: &str, cpu: &str) -> Value {
    json!({
        "metadata": {"labels": {"app": app}, "annotations": {"note": "1"}},
        "spec": {
            "containers": [{"name": "main", "image": "example.test/main:1",
                "resources": {"requests": {"cpu": cpu}}}],
        },
    })
}

/// A workload of `apps/v1` with these fields in its spec besides replicas, selector and template.
pub(crate) fn workload(kind: &str, app: &str, replicas: i64, more: &Value) -> Value {
    let mut spec = json!({"selector": {"matchLabels": {"app": app}}, "template": template(app, "100m")});
    if kind != "DaemonSet" {
        spec["replicas"] = json!(replicas);
    }
    if kind == "StatefulSet" {
        spec["serviceName"] = json!(app);
    }
    for (name, value) in more.as_object().into_iter().flatten() {
        spec[name] = value.clone();
    }
    json!({"apiVersion": "apps/v1", "kind": kind, "metadata": {"name": app}, "spec": spec})
}

/// A Deployment that rolls with this surge and unavailability.
pub(crate) fn deployment(app: &str, replicas: i64, surge: i64, unavailable: i64) -> Value {
    let rolling = json!({"strategy": {"type": "RollingUpdate",
        "rollingUpdate": {"maxSurge": surge, "maxUnavailable": unavailable}}});
    workload("Deployment", app, replicas, &rolling)
}

/// A budget for the pods of an app.
pub(crate) fn pdb(name: &str, app: &str, spec: &Value) -> Value {
    let mut spec = spec.clone();
    spec["selector"] = json!({"matchLabels": {"app": app}});
    json!({"apiVersion": "policy/v1", "kind": "PodDisruptionBudget", "metadata": {"name": name}, "spec": spec})
}

/// A pod without a controller, whose kubelet the case plays.
pub(crate) fn played_pod(name: &str, app: &str) -> Value {
    json!({"apiVersion": "v1", "kind": "Pod",
        "metadata": {"name": name, "labels": {"app": app, PLAYED.0: PLAYED.1}},
        "spec": {"nodeName": "a", "terminationGracePeriodSeconds": 300,
            "containers": [{"name": "main", "image": "example.test/main:1"}]}})
}

/// Creates an object and expects that to work. Its pods go to nodes of the case only.
pub(crate) fn created(world: &mut dyn ContractWorld, object: &Value) {
    let mut object = object.clone();
    let namespace = world.namespace().to_owned();
    let pod_spec = if object["kind"] == "Pod" { Some("/spec") } else { None };
    for place in pod_spec.into_iter().chain(["/spec/template/spec"]) {
        let Some(spec) = object.pointer_mut(place) else { continue };
        match spec["nodeName"].as_str().map(|node| format!("{namespace}-{node}")) {
            Some(node) => spec["nodeName"] = node.into(),
            None => spec["nodeSelector"] = json!({"test": namespace}),
        }
    }
    let answer = world.create(&object);
    assert_eq!(answer.code, 201, "{answer:?} for {object}");
}

/// Makes a pod spec tolerate what other cases do to their nodes; of those of this case, only the fence `own` counts.
pub(crate) fn tolerate_others(spec: &mut Value, own: &str) {
    let new = ["node.kubernetes.io/not-ready", "node.kubernetes.io/unreachable"];
    let keys = FENCES.into_iter().filter(|fence| *fence != own).chain(new);
    spec["tolerations"] = keys.map(|key| json!({"key": key, "operator": "Exists", "effect": "NoSchedule"})).collect();
}

/// Waits until an app has this many pods that are bound, and says that those not yet running run and are Ready.
pub(crate) fn play(world: &mut dyn ContractWorld, app: &str, number: usize) -> Vec<Arc<Pod>> {
    let staying = |view: &View| -> Vec<Arc<Pod>> {
        pods(view, app).into_iter().filter(|pod| pod.meta.deleting.is_none() && pod.node.is_some()).collect()
    };
    let view =
        wait(world, &format!("{number} bound pods of {app}"), &[Kind::Pod], |view| staying(view).len() == number);
    for pod in staying(&view).iter().filter(|pod| !pod.ready) {
        world.play_kubelet(&pod.meta.name, true);
    }
    staying(&world.look(&[Kind::Pod]))
}

/// The living pods of an app, by name.
pub(crate) fn pods(view: &View, app: &str) -> Vec<Arc<Pod>> {
    let of_app = |pod: &&Arc<Pod>| pod.meta.labels.get("app").is_some_and(|label| label == app) && !pod.finished();
    view.pods().filter(of_app).cloned().collect()
}

/// Waits until an app has exactly this many pods and all serve.
pub(crate) fn settled(world: &mut dyn ContractWorld, app: &str, number: usize) -> Vec<Arc<Pod>> {
    let view = wait(world, &format!("{number} Ready pods of {app}"), &[Kind::Pod], |view| {
        let pods = pods(view, app);
        pods.len() == number && pods.iter().all(|pod| readiness::serves(pod))
    });
    pods(&view, app)
}

/// Waits until the status of a budget is as wanted.
pub(crate) fn budget_is(
    world: &mut dyn ContractWorld,
    name: &str,
    what: &str,
    holds: impl Fn(&BudgetStatus) -> bool,
) -> BudgetStatus {
    let key = Key::new(world.namespace(), name);
    let status = |view: &View| {
        let budget = budget::get(view, &key)?;
        let status = budget.status.clone()?;
        (status.observed_generation == budget.meta.generation).then_some(status)
    };
    let view =
        wait(world, what, &[Kind::PodDisruptionBudget], |view| status(view).is_some_and(|status| holds(&status)));
    status(&view).unwrap()
}

/// Why no node takes a pod, by the reasons that speak of nodes of the case: the shared control plane has others, which
/// the node selector excludes.
pub(crate) fn reasons(message: &str) -> std::collections::BTreeMap<String, usize> {
    let mut found = rehome_sim::world::unschedulable_reasons(message);
    found.remove("node(s) didn't match Pod's node affinity/selector");
    found
}
