//! What the tests put onto the control plane.

use std::time::Duration;

use k8s_openapi::api::core::v1::Pod;
use kube::Api;
use kube::api::ListParams;
use rehome_testbed::clock;
use rehome_testbed::control_plane::ControlPlane;
use rehome_testbed::kwok::FakeNode;
use serde_json::{Value, json};

/// How long anything may take that takes a second or two on an idle machine.
pub(crate) const LIMIT: Duration = Duration::from_secs(60);

/// A namespace with two nodes of its own: only pods that select `test: <name>` go there.
pub(crate) fn home(plane: &ControlPlane, name: &str) {
    plane.namespace(name).unwrap();
    let node = |suffix: &str| FakeNode::new(&format!("{name}-{suffix}")).label("test", name);
    plane.create_nodes([node("a"), node("b")]).unwrap();
}

/// A Deployment `web` with a Service and, if asked for, a budget.
pub(crate) fn web(namespace: &str, replicas: i64, max_unavailable: Option<i64>) -> String {
    let labels = json!({"app": "web"});
    let mut items = vec![
        json!({
            "apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "web", "namespace": namespace},
            "spec": {
                "replicas": replicas,
                "selector": {"matchLabels": labels},
                "template": {"metadata": {"labels": labels}, "spec": {
                    "nodeSelector": {"test": namespace},
                    "terminationGracePeriodSeconds": 1,
                    "containers": [{"name": "web", "image": "example.test/web:1", "ports": [{"containerPort": 80}]}],
                }},
            },
        }),
        json!({
            "apiVersion": "v1", "kind": "Service", "metadata": {"name": "web", "namespace": namespace},
            "spec": {"selector": labels, "ports": [{"port": 80}]},
        }),
    ];
    if let Some(max) = max_unavailable {
        items.push(json!({
            "apiVersion": "policy/v1", "kind": "PodDisruptionBudget",
            "metadata": {"name": "web", "namespace": namespace},
            "spec": {"maxUnavailable": max, "selector": {"matchLabels": labels}},
        }));
    }
    json!({"apiVersion": "v1", "kind": "List", "items": items}).to_string()
}

/// The pods of the namespace that are Ready and not on their way out.
pub(crate) async fn ready_pods(pods: &Api<Pod>) -> Vec<Pod> {
    let list = pods.list(&ListParams::default()).await.unwrap();
    let ready = |pod: &Pod| {
        pod.metadata.deletion_timestamp.is_none()
            && pod
                .status
                .iter()
                .flat_map(|status| status.conditions.iter().flatten())
                .any(|condition| condition.type_ == "Ready" && condition.status == "True")
    };
    list.items.into_iter().filter(ready).collect()
}

/// Waits until exactly `count` pods are Ready.
pub(crate) async fn wait_for_ready(pods: &Api<Pod>, count: usize) -> Vec<Pod> {
    clock::wait_for_async("pods to become Ready", LIMIT, async || {
        let ready = ready_pods(pods).await;
        if ready.len() == count { Ok(ready) } else { Err(format!("{} are", ready.len())) }
    })
    .await
    .unwrap()
}

/// Sends an eviction whose body is ours, and gives the HTTP status and the answer.
pub(crate) async fn evict(client: &kube::Client, pod: &Pod, uid: Option<&str>, audit_id: &str) -> (u16, Value) {
    let (name, namespace) = (pod.metadata.name.clone().unwrap(), pod.metadata.namespace.clone().unwrap());
    let body = json!({
        "apiVersion": "policy/v1", "kind": "Eviction", "metadata": {"name": name, "namespace": namespace},
        "deleteOptions": {"preconditions": {"uid": uid}},
    });
    let path = format!("/api/v1/namespaces/{namespace}/pods/{name}/eviction?fieldValidation=Strict");
    let request = http::Request::post(path)
        .header("Content-Type", "application/json")
        .header("Audit-ID", audit_id)
        .body(body.to_string().into_bytes())
        .unwrap();
    match client.request::<Value>(request).await {
        Ok(answer) => (201, answer),
        Err(kube::Error::Api(status)) => (status.code, serde_json::to_value(&status).unwrap()),
        Err(error) => panic!("{error}"),
    }
}
