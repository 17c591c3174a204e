//! A read-only capture of a live cluster.
//!
//! Lists each kind in pages, takes out what must not be kept, and forgets each page once its objects are text again.
//! A kind that may not be listed, that is not served or that cannot be understood is a gap; only a server that does not
//! answer ends a capture. What objects mean is not known here.

mod object;

use rehome_k8s::{Kind, redact};
use rehome_model::document::Header;
use rehome_model::snapshot::{Gap, GapReason, Snapshot};
use serde_json::value::RawValue;

use self::object::Captured;
use crate::list::{self, Batch, ListError};
use crate::{Connection, clock, path};

/// The most Events that a capture keeps: the newest. An API server keeps an hour of them (kube-apiserver
/// `--event-ttl`), which in a restless cluster of 1,000 nodes can be more than everything else together.
pub const EVENT_LIMIT: usize = 20_000;

/// How far a capture has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Progress {
    /// The kind that is listed.
    pub kind: Kind,
    /// How many of its objects have come.
    pub objects: usize,
    /// Kinds that are done.
    pub done: usize,
    /// All kinds.
    pub of: usize,
}

/// Why there is no snapshot.
#[derive(Debug, thiserror::Error)]
pub enum CaptureError {
    /// The server stopped answering.
    #[error("{kind} could not be listed: {message}")]
    Unreachable {
        /// The kind that was listed.
        kind: Kind,
        /// What went wrong.
        message: String,
    },
    /// The credentials were accepted at first and are not any more.
    #[error("{kind} could not be listed: the credentials are not accepted any more: {message}")]
    Unauthorized {
        /// The kind that was listed.
        kind: Kind,
        /// What the server said.
        message: String,
    },
    /// The credentials may list nothing at all.
    #[error("the credentials may read nothing: {message}")]
    Forbidden {
        /// What the server said of the first kind.
        message: String,
    },
}

/// A capture that may see nothing is none: who is not logged in is told so, and not that the cluster is empty.
fn all_forbidden(snapshot: &Snapshot) -> Option<CaptureError> {
    let forbidden = snapshot.gaps.iter().filter(|gap| gap.reason == GapReason::Forbidden);
    let first = snapshot.gaps.first()?;
    (forbidden.count() == Kind::ALL.len()).then(|| CaptureError::Forbidden { message: first.message.clone() })
}

/// Captures the cluster.
///
/// # Errors
/// See [`CaptureError`].
pub fn capture(connection: &Connection, progress: &mut dyn FnMut(Progress)) -> Result<Snapshot, CaptureError> {
    let taken = clock::now();
    let mut snapshot = Snapshot {
        header: Header::of::<Snapshot>(),
        taken,
        cluster: connection.describe().identity(),
        gaps: Vec::new(),
        redacted: redact::REDACTED.iter().map(|&sentence| sentence.to_owned()).collect(),
        objects: Vec::new(),
    };
    let mut captured: Vec<Captured> = Vec::new();
    for (done, &kind) in Kind::ALL.iter().enumerate() {
        let mut tell = |objects| progress(Progress { kind, objects, done, of: Kind::ALL.len() });
        tell(0);
        match connection.runtime().block_on(of_kind(connection, kind, &mut tell)) {
            Ok(objects) => {
                if objects.left_out > 0 {
                    let sentence = format!("{} older Events than the newest {EVENT_LIMIT}", objects.left_out);
                    snapshot.redacted.push(sentence);
                }
                captured.extend(objects.kept);
            }
            Err(error) => snapshot.gaps.push(gap(kind, error)?),
        }
    }
    if let Some(error) = all_forbidden(&snapshot) {
        return Err(error);
    }
    captured.sort_by(|a, b| (&a.kind, &a.namespace, &a.name).cmp(&(&b.kind, &b.namespace, &b.name)));
    snapshot.objects = captured.into_iter().map(|captured| captured.json).collect();
    Ok(snapshot)
}

/// What was listed of one kind.
#[derive(Default)]
struct Listed {
    kept: Vec<Captured>,
    left_out: usize,
}

async fn of_kind(connection: &Connection, kind: Kind, tell: &mut impl FnMut(usize)) -> Result<Listed, ListError> {
    let mut listed = Listed::default();
    let mut malformed = None;
    let take = |batch: Batch| match batch {
        Batch::Restart => listed = Listed::default(),
        Batch::Items(items) => {
            for item in items {
                match object::captured(kind, &item) {
                    Ok(object) => listed.kept.push(object),
                    Err(error) => malformed = Some(error.to_string()),
                }
            }
            if kind == Kind::Event {
                keep_newest(&mut listed);
            }
            tell(listed.kept.len());
        }
    };
    list::list(connection.client(), &path::all(kind), &[], connection.read_timeout(), take).await?;
    match malformed {
        Some(message) => Err(ListError::Malformed(message)),
        None => Ok(listed),
    }
}

/// Sorts only when twice as many are held as may stay, so that each Event is sorted about once.
fn keep_newest(listed: &mut Listed) {
    if listed.kept.len() > EVENT_LIMIT {
        listed.kept.sort_by(|a, b| b.seen.cmp(&a.seen));
        listed.left_out += listed.kept.len() - EVENT_LIMIT;
        listed.kept.truncate(EVENT_LIMIT);
    }
}

/// A failed list as a gap, unless the whole capture has failed with it.
fn gap(kind: Kind, error: ListError) -> Result<Gap, CaptureError> {
    let reason = match &error {
        ListError::NoAnswer(message) => {
            return Err(CaptureError::Unreachable { kind, message: message.clone() });
        }
        ListError::Refused { code: 401, message } => {
            return Err(CaptureError::Unauthorized { kind, message: message.clone() });
        }
        ListError::Refused { code: 403, .. } => GapReason::Forbidden,
        ListError::Refused { code: 404, .. } => GapReason::NotServed,
        ListError::Refused { .. } | ListError::Malformed(_) => GapReason::Unreadable,
    };
    let message = match error {
        ListError::Refused { message, .. } => message,
        other => other.to_string(),
    };
    Ok(Gap { source: kind.name().to_owned(), reason, message })
}

/// The gap that a list's failure is, for watches: there a silent server is one too.
pub(crate) fn gap_of(kind: Kind, error: ListError) -> Gap {
    let message = error.to_string();
    gap(kind, error).unwrap_or_else(|_| Gap { source: kind.name().to_owned(), reason: GapReason::Unreadable, message })
}

/// The JSON of an item of a list with the `kind` and `apiVersion` that lists leave out.
pub(crate) fn with_kind(kind: Kind, item: &RawValue) -> Result<String, serde_json::Error> {
    object::with_kind(kind, item)
}

#[cfg(test)]
mod tests;
