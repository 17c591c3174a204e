//! What the engine asks a world to change, and what became of it.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::time::{Seconds, Timestamp};
use crate::verb::{Change, Field};
use crate::{ObjectRef, Uid};

/// How long the API server may work on one of our requests (`?timeout=`).
///
/// The eviction handler retries conflicts inside the server 20 times, 500 ms apart, so one request can take 10 s
/// (kube-apiserver, `registry/core/pod/storage/eviction.go`, `EvictionsRetry`); 30 s leaves room for a slow etcd.
pub const REQUEST_TIMEOUT: Seconds = Seconds::new(30);

/// How long after [`REQUEST_TIMEOUT`] a request without an answer is still taken as able to land: clocks differ, and a
/// commit to etcd that has begun is not called back.
pub const LANDING_MARGIN: Seconds = Seconds::new(5);

/// A change to the cluster. Pods are always named with the UID of the incarnation that is meant.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "request", rename_all = "camelCase")]
pub enum Request {
    /// Sets a field, if it still has the expected value.
    SetField(Change),
    /// Asks for the eviction of this incarnation of a pod.
    Evict {
        /// The pod.
        pod: ObjectRef,
        /// The incarnation.
        uid: Uid,
    },
    /// Deletes this incarnation of a pod, past its budgets, with its own grace period.
    Delete {
        /// The pod.
        pod: ObjectRef,
        /// The incarnation.
        uid: Uid,
    },
}

impl Request {
    /// The object that is changed.
    #[must_use]
    pub fn target(&self) -> &ObjectRef {
        match self {
            Self::SetField(change) => &change.target,
            Self::Evict { pod, .. } | Self::Delete { pod, .. } => pod,
        }
    }

    /// The field that is changed, if it is a change of a field.
    #[must_use]
    pub fn field(&self) -> Option<&Field> {
        match self {
            Self::SetField(change) => Some(&change.field),
            Self::Evict { .. } | Self::Delete { .. } => None,
        }
    }
}

impl fmt::Display for Request {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::SetField(Change { target, field, to: Some(to), .. }) => {
                write!(f, "set {field} of {target} to {to:?}")
            }
            Self::SetField(Change { target, field, to: None, .. }) => write!(f, "remove {field} of {target}"),
            Self::Evict { pod, uid } => write!(f, "evict {pod} (uid {uid})"),
            Self::Delete { pod, uid } => write!(f, "delete {pod} (uid {uid})"),
        }
    }
}

/// What became of a request.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "outcome", rename_all = "camelCase")]
pub enum Outcome {
    /// The server said that it was done.
    Applied,
    /// The server said that it was not done.
    Rejected {
        /// Why.
        #[serde(flatten)]
        cause: Cause,
    },
    /// No answer came. The request can still land: a read made before this time proves nothing.
    #[serde(rename_all = "camelCase")]
    Unknown {
        /// Sent + [`REQUEST_TIMEOUT`] + [`LANDING_MARGIN`].
        not_before: Timestamp,
        /// What went wrong on the way.
        message: String,
    },
}

/// Why a server refused. One variant for each way in which the engine acts differently.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "cause", rename_all = "camelCase")]
pub enum Cause {
    /// 429 with cause `DisruptionBudget`: the budget allows no disruption now.
    #[serde(rename_all = "camelCase")]
    Budget {
        /// The server's sentence: names the budget, what it needs and what it has.
        message: String,
        /// Set when the disruption controller has not seen the budget's newest generation yet.
        retry_after: Option<Seconds>,
    },
    /// 500 without a reason on an eviction of a pod under two or more budgets: it will never be allowed.
    SeveralBudgets {
        /// The server's sentence.
        message: String,
    },
    /// 404: the object does not exist (any more).
    NotFound,
    /// 409 on the UID precondition: the name belongs to another incarnation now.
    OtherIncarnation {
        /// The server's sentence.
        message: String,
    },
    /// The field no longer has the expected value, or the object changed at the same moment.
    Conflict {
        /// The server's sentence.
        message: String,
    },
    /// 403 by RBAC.
    Forbidden {
        /// The server's sentence.
        message: String,
    },
    /// The namespace is being deleted: the pod goes by itself.
    NamespaceTerminating {
        /// The server's sentence.
        message: String,
    },
    /// An admission webhook or policy denied it.
    Denied {
        /// The server's sentence: names the webhook.
        message: String,
    },
    /// 429 without a cause: priority and fairness. Ask again later.
    #[serde(rename_all = "camelCase")]
    Throttled {
        /// `Retry-After`.
        retry_after: Seconds,
    },
    /// The server could not do it just now (5xx with an answer). Ask again later.
    Server {
        /// The HTTP status.
        code: u16,
        /// The server's sentence.
        message: String,
    },
    /// 400, 422 or anything else that will not get better by asking again.
    Invalid {
        /// The HTTP status.
        code: u16,
        /// The server's sentence.
        message: String,
    },
}

impl fmt::Display for Cause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Budget { message, .. } => write!(f, "the disruption budget refuses: {message}"),
            Self::SeveralBudgets { message } => write!(f, "more than one disruption budget: {message}"),
            Self::NotFound => f.write_str("it does not exist any more"),
            Self::OtherIncarnation { message } => write!(f, "another pod has the name now: {message}"),
            Self::Conflict { message } => write!(f, "it was changed by somebody else: {message}"),
            Self::Forbidden { message } => write!(f, "not permitted: {message}"),
            Self::NamespaceTerminating { message } => write!(f, "its namespace is being deleted: {message}"),
            Self::Denied { message } => write!(f, "denied by admission: {message}"),
            Self::Throttled { retry_after } => write!(f, "the server asks to wait {retry_after}"),
            Self::Server { code, message } => write!(f, "server error {code}: {message}"),
            Self::Invalid { code, message } => write!(f, "refused with {code}: {message}"),
        }
    }
}
