//! Secrets that are planted wherever people leave them.

use serde_json::{Value, json};

/// In each planted secret.
pub(crate) const MARK: &str = "pLaNtEd";
/// Annotations in which tools keep credentials, or whole objects with them.
pub(crate) fn annotations() -> Value {
    json!({
        "example.test/last-applied": format!("{{\"password\":\"{MARK}-0\"}}"),
        "example.test/api-token": format!("{MARK}-1"),
        "example.test/db-password": format!("{MARK}-2"),
        "note": "kept",
    })
}

/// A container with secrets in all that is its own.
pub(crate) fn container() -> Value {
    json!({
        "name": "main", "image": "example.test/app:1",
        "command": ["serve", "--token", format!("{MARK}-3")],
        "args": [format!("--password={MARK}-4")],
        "env": [
            {"name": "TOKEN", "value": format!("{MARK}-5")},
            {"name": "FROM", "valueFrom": {"secretKeyRef": {"name": "planted", "key": "token", "optional": true}}},
        ],
        "lifecycle": {"preStop": {"exec": {"command": ["sh", "-c", format!("bye {MARK}-6")]}}},
        "readinessProbe": {"httpGet": {"path": "/", "port": 80, "httpHeaders": [
            {"name": "Authorization", "value": format!("Bearer {MARK}-7")},
        ]}},
        "resources": {"requests": {"cpu": "50m", "memory": "32Mi"}},
    })
}

/// Objects that the program never reads.
pub(crate) fn unread(namespace: &str) -> Vec<Value> {
    let object = |kind: &str, field: &str| {
        let mut object = json!({
            "apiVersion": "v1", "kind": kind, "metadata": {"name": "planted", "namespace": namespace},
        });
        object[field] = json!({"token": format!("{MARK}-8")});
        object
    };
    vec![object("Secret", "stringData"), object("ConfigMap", "data")]
}
