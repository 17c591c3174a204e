//! ConfigMaps of one namespace, as the place of the journal's copy in the cluster.
//!
//! A write is a `PUT` with `metadata.uid` and `metadata.resourceVersion`: the API server answers 409 when either is no
//! more what it was (`k8s.io/apiserver/pkg/registry/generic/registry/store.go`, `Update`).

use std::collections::BTreeMap;
use std::time::Duration;

use http::header::{ACCEPT, CONTENT_TYPE};
use http::{Method, Request as HttpRequest};
use rehome_engine::cluster_journal::{HEAD, Objects, ObjectsError, Stored, Version, WriteError};
use rehome_model::{Seconds, Timestamp};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::list::{self, ListError};
use crate::wire::{self, Answer, NoAnswer};
use crate::{Connection, clock, send};

/// The namespace of all that rehome keeps in a cluster.
pub const NAMESPACE: &str = "rehome-system";

/// The label of all that is rehome's.
/// Source: Kubernetes documentation, "Recommended Labels".
const MANAGED_BY: (&str, &str) = ("app.kubernetes.io/managed-by", "rehome");

/// The label with the name of the run.
const RUN: &str = "rehome.dev/run";

/// How long a name may be: a DNS subdomain.
/// Source: `k8s.io/apimachinery/pkg/util/validation`, `DNS1123SubdomainMaxLength`.
const NAME_LIMIT: usize = 253;

/// The ConfigMaps of the namespace [`NAMESPACE`].
#[derive(Clone, Debug)]
pub struct ConfigMaps {
    connection: Connection,
    /// Writes so far: part of each one's `Audit-ID`.
    writes: u64,
}

#[derive(Deserialize)]
struct ConfigMap {
    metadata: Metadata,
    #[serde(default)]
    data: BTreeMap<String, String>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Metadata {
    uid: String,
    resource_version: String,
}

impl ConfigMaps {
    /// The ConfigMaps of the cluster that is connected.
    #[must_use]
    pub fn new(connection: &Connection) -> Self {
        Self { connection: connection.clone(), writes: 0 }
    }

    fn write(&mut self, method: Method, path: &str, body: &Value) -> Result<Answer, WriteError> {
        self.writes += 1;
        let audit_id = format!("rehome-journal/{}/{}", std::process::id(), self.writes);
        let request = HttpRequest::builder()
            .method(method)
            .uri(format!("{path}{}", send::write_query()))
            .header(CONTENT_TYPE, "application/json")
            .header(ACCEPT, "application/json")
            .header(send::AUDIT_ID, audit_id)
            .body(body.to_string().into_bytes())
            .map_err(|error| WriteError::Refused(error.to_string()))?;
        let sent = wire::exchange(self.connection.client(), request, send::WRITE_TIMEOUT);
        let answer = self.connection.runtime().block_on(sent).map_err(|NoAnswer { message, .. }| {
            // Whether it was sent or not: it is the same bytes when it is sent again.
            WriteError::NoAnswer(message)
        })?;
        match answer.code.as_u16() {
            200..=299 => Ok(answer),
            409 => Err(WriteError::Conflict),
            429 | 500.. => Err(WriteError::NoAnswer(answer.message())),
            404 => Err(WriteError::Gone),
            _ => Err(WriteError::Refused(answer.message())),
        }
    }

    fn create_namespace(&mut self) -> Result<(), WriteError> {
        let body = json!({
            "apiVersion": "v1",
            "kind": "Namespace",
            "metadata": {"name": NAMESPACE, "labels": labels(None)},
        });
        match self.write(Method::POST, "/api/v1/namespaces", &body) {
            Ok(_) | Err(WriteError::Conflict) => Ok(()),
            Err(WriteError::Refused(message)) => {
                Err(WriteError::Refused(format!("namespace {NAMESPACE} is not there, and: {message}")))
            }
            Err(error) => Err(error),
        }
    }
}

fn labels(run: Option<&str>) -> Value {
    let mut labels = json!({MANAGED_BY.0: MANAGED_BY.1});
    if let Some(run) = run {
        labels[RUN] = json!(run);
    }
    labels
}

/// The path of an object, if it has a name that can be one: a head that somebody wrote by hand names what it likes.
fn one(name: &str) -> Option<String> {
    let fits = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || matches!(byte, b'-' | b'.');
    let good = !name.is_empty() && name.len() <= NAME_LIMIT && name.bytes().all(fits) && !name.contains("..");
    good.then(|| format!("{}/{name}", all()))
}

fn all() -> String {
    format!("/api/v1/namespaces/{NAMESPACE}/configmaps")
}

fn version_of(answer: &Answer) -> Result<Version, WriteError> {
    match serde_json::from_slice::<ConfigMap>(&answer.body) {
        Ok(ConfigMap { metadata: Metadata { uid, resource_version }, .. }) => Ok(Version { uid, resource_version }),
        // It was written; what came back is cut or no ConfigMap. Reading it again tells.
        Err(error) => Err(WriteError::NoAnswer(error.to_string())),
    }
}

impl Objects for ConfigMaps {
    fn now(&self) -> Timestamp {
        clock::now()
    }

    fn pause(&mut self, time: Seconds) {
        let time = Duration::from_millis(time.as_millis().unsigned_abs());
        self.connection.runtime().block_on(async { tokio::time::sleep(time).await });
    }

    fn get(&mut self, name: &str) -> Result<Option<Stored>, ObjectsError> {
        let path = one(name).ok_or_else(|| ObjectsError::Refused(format!("{name:?} is no name of a ConfigMap")))?;
        let read = list::read(self.connection.client(), &path, self.connection.read_timeout());
        let answer = match self.connection.runtime().block_on(read) {
            Ok(answer) => answer,
            Err(ListError::NoAnswer(message)) => return Err(ObjectsError::NoAnswer(message)),
            Err(error) => return Err(ObjectsError::Refused(error.to_string())),
        };
        match answer.code.as_u16() {
            200 => {
                let map: ConfigMap = serde_json::from_slice(&answer.body)
                    .map_err(|error| ObjectsError::Refused(format!("ConfigMap {name}: {error}")))?;
                let Metadata { uid, resource_version } = map.metadata;
                Ok(Some(Stored { version: Version { uid, resource_version }, data: map.data }))
            }
            404 => Ok(None),
            429 | 500.. => Err(ObjectsError::NoAnswer(answer.message())),
            _ => Err(ObjectsError::Refused(answer.message())),
        }
    }

    fn create(&mut self, name: &str, run: &str, data: &BTreeMap<String, String>) -> Result<Version, WriteError> {
        if one(name).is_none() {
            return Err(WriteError::Refused(format!("{name:?} is no name of a ConfigMap")));
        }
        let mut body = json!({
            "apiVersion": "v1",
            "kind": "ConfigMap",
            "metadata": {"name": name, "namespace": NAMESPACE, "labels": labels(Some(run))},
            "data": data,
        });
        if name != HEAD {
            body["immutable"] = json!(true);
        }
        match self.write(Method::POST, &all(), &body) {
            Ok(answer) => version_of(&answer),
            // What is to be created cannot be gone: its namespace is (admission plugin `NamespaceLifecycle`).
            Err(WriteError::Gone) => {
                self.create_namespace()?;
                version_of(&self.write(Method::POST, &all(), &body)?)
            }
            Err(error) => Err(error),
        }
    }

    fn swap(&mut self, name: &str, at: &Version, data: &BTreeMap<String, String>) -> Result<Version, WriteError> {
        let path = one(name).ok_or_else(|| WriteError::Refused(format!("{name:?} is no name of a ConfigMap")))?;
        let body = json!({
            "apiVersion": "v1",
            "kind": "ConfigMap",
            "metadata": {
                "name": name,
                "namespace": NAMESPACE,
                "uid": at.uid,
                "resourceVersion": at.resource_version,
                "labels": labels(None),
            },
            "data": data,
        });
        version_of(&self.write(Method::PUT, &path, &body)?)
    }
}
