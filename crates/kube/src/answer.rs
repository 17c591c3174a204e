//! From an answer of the API server to what became of a request. Pure.
//!
//! The rows come from kube-apiserver's handlers (`registry/core/pod/storage/eviction.go`,
//! `endpoints/handlers/patch.go`). Those that the testbed brings about on a real server of 1.37.2 are tested there
//! (`testbed/tests/real/adapter/`, `testbed/tests/contract/`); throttling, a webhook that fails, a server that shuts
//! down and timeouts of etcd rest on the source alone, and on the bodies in the tests here.

use rehome_model::request::{Cause, Outcome, Request};
use rehome_model::{Seconds, Timestamp};

use crate::status::Status;
use crate::wire::Answer;

/// How long to wait when a 429 names no time. Source: client-go `rest/with_retry.go` takes 1 s as well.
const DEFAULT_RETRY_AFTER: Seconds = Seconds::new(1);

/// What an answer means. `not_before` is for answers that leave open whether the change was made.
pub(crate) fn outcome(request: &Request, plural: &str, answer: &Answer, not_before: Timestamp) -> Outcome {
    let status = Status::parse(&answer.body);
    // A failure in a body under 2xx must not pass for success.
    let failed = status.as_ref().is_some_and(|status| status.status == "Failure");
    if answer.code.is_success() && !failed {
        return Outcome::Applied;
    }
    let (code, status) = match status {
        Some(status) if answer.code.is_success() => (status.code, status),
        Some(status) => (answer.code.as_u16(), status),
        None => return without_status(answer, not_before),
    };
    match code {
        400..=499 => Outcome::Rejected { cause: client_error(request, plural, code, &status, answer) },
        _ if open(code, &status) => Outcome::Unknown { not_before, message: status.message },
        500 if matches!(request, Request::Evict { .. }) && several_budgets(&status) => {
            Outcome::Rejected { cause: Cause::SeveralBudgets { message: status.message } }
        }
        _ => Outcome::Rejected { cause: denied_or_server(code, status.message) },
    }
}

/// An answer that no handler of Kubernetes wrote.
fn without_status(answer: &Answer, not_before: Timestamp) -> Outcome {
    let (code, message) = (answer.code.as_u16(), answer.message());
    match code {
        // Priority and fairness answers in plain text before any handler runs.
        429 => Outcome::Rejected { cause: Cause::Throttled { retry_after: retry_after(None, answer) } },
        400..=499 => Outcome::Rejected { cause: Cause::Invalid { code, message } },
        // A proxy between us and the server (502, 504, a page of its own) doesn't know what the server did.
        _ => Outcome::Unknown { not_before, message: format!("{code}: {message}") },
    }
}

fn client_error(request: &Request, plural: &str, code: u16, status: &Status, answer: &Answer) -> Cause {
    let message = status.message.clone();
    match code {
        // First: a webhook may give its denial any code.
        _ if denied(&message) => Cause::Denied { message },
        404 if names(status, request, plural) => Cause::NotFound,
        409 if !matches!(request, Request::SetField(_)) && other_uid(&message) => Cause::OtherIncarnation { message },
        409 => Cause::Conflict { message },
        429 => match status.cause("DisruptionBudget") {
            // The cause names the budget; the message is the same for all.
            Some(cause) => Cause::Budget {
                message: if cause.message.is_empty() { message } else { cause.message.clone() },
                retry_after: stated_retry_after(Some(status), answer),
            },
            None => Cause::Throttled { retry_after: retry_after(Some(status), answer) },
        },
        403 if status.cause("NamespaceTerminating").is_some() => Cause::NamespaceTerminating { message },
        // More than 2000 unconfirmed evictions, or a negative allowance: the disruption controller has to catch up.
        403 if status.details.kind.to_ascii_lowercase().starts_with("poddisruptionbudget") => {
            Cause::Budget { message, retry_after: None }
        }
        403 if by_rbac(&message) => Cause::Forbidden { message },
        403 => Cause::Denied { message },
        401 => Cause::Forbidden { message },
        // A JSON Patch `test` that failed: 422 with empty details. A field that is wrong has causes.
        422 if matches!(request, Request::SetField(_)) && status.details.causes.is_empty() => {
            Cause::Conflict { message }
        }
        _ => Cause::Invalid { code, message },
    }
}

fn denied_or_server(code: u16, message: String) -> Cause {
    if denied(&message) { Cause::Denied { message } } else { Cause::Server { code, message } }
}

/// Whether a 5xx leaves open what happened: the handler ran out of time, or etcd did, while the change was on its way.
/// The 504 of a budget that changed under the eviction is not one of these: it comes before the pod is touched.
fn open(code: u16, status: &Status) -> bool {
    let message = &status.message;
    let late = message.contains("did not complete within")
        || message.contains("etcdserver: request timed out")
        || message.contains("etcdserver: leader changed")
        || message.contains("context deadline exceeded")
        || message.contains("context canceled");
    let before_storage = denied(message) || message.contains("failed calling webhook");
    code == 502 || (late && !before_storage)
}

/// Whether a 404 is about the object that we meant (or its namespace), and not about a path.
fn names(status: &Status, request: &Request, plural: &str) -> bool {
    let target = request.target();
    (status.details.kind == plural && status.details.name == target.name)
        || (status.details.kind == "namespaces" && Some(&status.details.name) == target.namespace.as_ref())
}

/// The text is all that tells a UID precondition from another conflict.
/// Source: `k8s.io/apiserver/pkg/registry/generic/registry/store.go` and `storage/errors.go`, `NewInvalidObjError`.
fn other_uid(message: &str) -> bool {
    message.contains("UID in the precondition") || message.contains("UID in precondition")
}

/// Source: `registry/core/pod/storage/eviction.go`; the answer has no reason and no causes.
fn several_budgets(status: &Status) -> bool {
    status.reason.is_empty() && status.message.contains("more than one PodDisruptionBudget")
}

/// Source: `admission/plugin/webhook/errors/statuserror.go` and `admission/plugin/policy/validating/dispatcher.go`.
fn denied(message: &str) -> bool {
    message.contains("denied the request") || message.contains("denied request")
}

/// Source: `k8s.io/apiserver/pkg/endpoints/handlers/responsewriters/errors.go`, `forbiddenMessage`.
fn by_rbac(message: &str) -> bool {
    message.contains("User \"") && message.contains("\" cannot ")
}

fn stated_retry_after(status: Option<&Status>, answer: &Answer) -> Option<Seconds> {
    let header = answer.headers.get(http::header::RETRY_AFTER).and_then(|value| value.to_str().ok()?.parse().ok());
    status.and_then(|status| status.details.retry_after_seconds).or(header).map(Seconds::new)
}

fn retry_after(status: Option<&Status>, answer: &Answer) -> Seconds {
    stated_retry_after(status, answer).unwrap_or(DEFAULT_RETRY_AFTER)
}

#[cfg(test)]
mod tests;
