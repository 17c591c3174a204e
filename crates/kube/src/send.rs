//! How a change is asked for: the exact requests, each sent once.
//!
//! Every request carries our `Audit-ID` (the API server keeps it, so that its audit log and the journal can be joined),
//! `timeout` (after which the server gives up), and a strict body of our own. Nothing here retries: whether to ask again
//! is the engine's decision, made from the journal.

use std::time::Duration;

use http::header::{ACCEPT, CONTENT_TYPE};
use http::{Method, Request as HttpRequest};
use kube::Client;
use rehome_k8s::Kind;
use rehome_model::request::{Cause, LANDING_MARGIN, Outcome, REQUEST_TIMEOUT, Request};
use rehome_model::verb::Change;
use rehome_model::{ObjectRef, Uid};
use serde_json::{Value, json};

use crate::wire::{self, Answer, NoAnswer, Stage};
use crate::{answer, clock, patch, path};

/// The name under which our writes stand in `managedFields`.
pub(crate) const FIELD_MANAGER: &str = "rehome";

/// The header whose value the API server takes as the ID of the request in its audit log.
/// Source: `k8s.io/apiserver/pkg/apis/audit/types.go`, `HeaderAuditID`.
pub(crate) const AUDIT_ID: &str = "Audit-ID";

/// How long the answer to a change is waited for: [`REQUEST_TIMEOUT`] and [`LANDING_MARGIN`].
pub(crate) const WRITE_TIMEOUT: Duration =
    Duration::from_millis(REQUEST_TIMEOUT.as_millis().unsigned_abs() + LANDING_MARGIN.as_millis().unsigned_abs());

/// What became of a request, and what the server warned of.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Sent {
    pub(crate) outcome: Outcome,
    pub(crate) warnings: Vec<String>,
}

/// Sends a change, once.
pub(crate) async fn send(client: &Client, request: &Request, audit_id: &str, read_timeout: Duration) -> Sent {
    let target = request.target();
    let Some(kind) = Kind::by_name(&target.kind) else {
        return refused(Cause::Invalid {
            code: 0,
            message: format!("not sent: {} is no kind that can be changed", target.kind),
        });
    };
    let built = match request {
        Request::Evict { pod, uid } => evict(pod, uid, audit_id),
        Request::Delete { pod, uid } => delete(pod, uid, audit_id),
        Request::SetField(change) => match read_for(client, kind, change, read_timeout).await {
            Ok(operations) => set_field(kind, target, &operations, audit_id),
            Err(cause) => return refused(cause),
        },
    };
    let http = match built {
        Ok(http) => http,
        Err(error) => return refused(Cause::Invalid { code: 0, message: format!("not sent: {error}") }),
    };
    let answer = wire::exchange(client, http, WRITE_TIMEOUT).await;
    // Counted from the answer, or from when we gave up, and not from the start: opening a connection takes time too,
    // and nothing of ours leaves after this moment.
    let not_before = clock::now() + REQUEST_TIMEOUT + LANDING_MARGIN;
    match answer {
        Ok(answer) => Sent {
            outcome: answer::outcome(request, kind.plural(), &answer, not_before),
            warnings: answer.warnings().collect(),
        },
        Err(NoAnswer { stage: Stage::NotSent, message, .. }) => refused(not_sent(&message)),
        Err(NoAnswer { message, .. }) => {
            Sent { outcome: Outcome::Unknown { not_before, message }, warnings: Vec::new() }
        }
    }
}

fn refused(cause: Cause) -> Sent {
    Sent { outcome: Outcome::Rejected { cause }, warnings: Vec::new() }
}

/// Code 0: there was no answer, because nothing was asked. It may be asked again at once.
fn not_sent(message: &str) -> Cause {
    Cause::Server { code: 0, message: format!("not sent: {message}") }
}

/// Reads the object and makes the patch for it.
async fn read_for(client: &Client, kind: Kind, change: &Change, timeout: Duration) -> Result<Vec<Value>, Cause> {
    let request = get(&path::one(kind, &change.target)).map_err(|error| not_sent(&error.to_string()))?;
    let Answer { code, headers, body } =
        wire::exchange(client, request, timeout).await.map_err(|no_answer| not_sent(&no_answer.message))?;
    if !code.is_success() {
        let answer = Answer { code, headers, body };
        // A read changes nothing, so an answer that leaves a change open leaves nothing open here.
        return Err(match answer::outcome(&Request::SetField(change.clone()), kind.plural(), &answer, clock::now()) {
            Outcome::Rejected { cause } => cause,
            Outcome::Applied | Outcome::Unknown { .. } => {
                Cause::Server { code: code.as_u16(), message: format!("not sent: {}", answer.message()) }
            }
        });
    }
    let object: Value = serde_json::from_slice(&body).map_err(|error| not_sent(&error.to_string()))?;
    patch::operations(change, &object).map_err(|why| match why {
        patch::NoPatch::OtherValue { .. } => Cause::Conflict { message: why.to_string() },
        patch::NoPatch::NotAValue { .. } => Cause::Invalid { code: 0, message: format!("not sent: {why}") },
    })
}

/// A read.
pub(crate) fn get(path_and_query: &str) -> Result<HttpRequest<Vec<u8>>, http::Error> {
    HttpRequest::get(path_and_query).header(ACCEPT, "application/json").body(Vec::new())
}

fn evict(pod: &ObjectRef, uid: &Uid, audit_id: &str) -> Result<HttpRequest<Vec<u8>>, http::Error> {
    let body = json!({
        "apiVersion": "policy/v1",
        "kind": "Eviction",
        "metadata": {"name": pod.name, "namespace": pod.namespace},
        "deleteOptions": {"apiVersion": "v1", "kind": "DeleteOptions", "preconditions": {"uid": uid}},
    });
    let path = format!("{}/eviction{}", path::one(Kind::Pod, pod), write_query());
    request(Method::POST, &path, "application/json", &body, audit_id)
}

/// The grace period is the pod's own: the body names none.
fn delete(pod: &ObjectRef, uid: &Uid, audit_id: &str) -> Result<HttpRequest<Vec<u8>>, http::Error> {
    let body = json!({"apiVersion": "v1", "kind": "DeleteOptions", "preconditions": {"uid": uid}});
    let path = format!("{}{}", path::one(Kind::Pod, pod), path::query(&[("timeout", &timeout())]));
    request(Method::DELETE, &path, "application/json", &body, audit_id)
}

fn set_field(
    kind: Kind,
    target: &ObjectRef,
    operations: &[Value],
    audit_id: &str,
) -> Result<HttpRequest<Vec<u8>>, http::Error> {
    let path = format!("{}{}", path::one(kind, target), write_query());
    request(Method::PATCH, &path, "application/json-patch+json", &json!(operations), audit_id)
}

fn request(
    method: Method,
    path: &str,
    content_type: &str,
    body: &Value,
    audit_id: &str,
) -> Result<HttpRequest<Vec<u8>>, http::Error> {
    HttpRequest::builder()
        .method(method)
        .uri(path)
        .header(CONTENT_TYPE, content_type)
        .header(ACCEPT, "application/json")
        .header(AUDIT_ID, audit_id)
        .body(body.to_string().into_bytes())
}

pub(crate) fn write_query() -> String {
    path::query(&[("timeout", &timeout()), ("fieldManager", FIELD_MANAGER), ("fieldValidation", "Strict")])
}

fn timeout() -> String {
    format!("{}s", REQUEST_TIMEOUT.as_millis() / 1000)
}

#[cfg(test)]
mod tests;
