//! The `Status` object that the API server answers with when there is nothing else to say.
//! Source: `k8s.io/apimachinery/pkg/apis/meta/v1/types.go`, `Status`.

use serde::Deserialize;

/// The fields of a `Status` that we read.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(crate) struct Status {
    pub(crate) kind: String,
    pub(crate) status: String,
    pub(crate) reason: String,
    pub(crate) message: String,
    pub(crate) code: u16,
    pub(crate) details: Details,
}

/// `details`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(crate) struct Details {
    pub(crate) name: String,
    pub(crate) kind: String,
    pub(crate) causes: Vec<StatusCause>,
    pub(crate) retry_after_seconds: Option<i64>,
}

/// One of `details.causes`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default)]
pub(crate) struct StatusCause {
    pub(crate) reason: String,
    pub(crate) message: String,
}

impl Status {
    /// The status in a body; `None` when the body is something else (an object, a load balancer's page, nothing).
    pub(crate) fn parse(body: &[u8]) -> Option<Self> {
        let mut status = serde_json::from_slice::<Self>(body).ok().filter(|status| status.kind == "Status")?;
        // A webhook writes what it likes, and it ends up in journals and on terminals.
        status.message = plain(&status.message);
        status.details.causes.iter_mut().for_each(|cause| cause.message = plain(&cause.message));
        Some(status)
    }

    /// The cause with this reason.
    pub(crate) fn cause(&self, reason: &str) -> Option<&StatusCause> {
        self.details.causes.iter().find(|cause| cause.reason == reason)
    }
}

/// A sentence on one line, without characters that a terminal acts on.
fn plain(text: &str) -> String {
    let text: String = text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}
