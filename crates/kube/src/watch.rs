//! Watches: one task for each kind that follows it and says what changed.
//!
//! A list gives the first state and the `resourceVersion` to watch from; a watch that ends is taken up where it ended;
//! one whose place in history is gone (410) begins again with a list, which replaces everything. Changes go through a
//! channel in the order in which they came, so that nobody shares a lock.

use std::time::Duration;

use futures::{AsyncBufReadExt, StreamExt};
use http::HeaderValue;
use http::header::ACCEPT_ENCODING;
use kube::Client;
use rehome_k8s::{Key, Kind, Record, ingest};
use rehome_model::snapshot::{Gap, GapReason};
use serde::Deserialize;
use serde_json::value::RawValue;
use tokio::sync::mpsc::UnboundedSender;

use crate::list::{self, Batch, ListError};
use crate::status::Status;
use crate::{capture, path, send};

/// How long the server may keep one watch open. client-go takes 5 to 10 minutes (`tools/cache/reflector.go`); shorter
/// here, because a connection that died without a word is noticed only when its time is over.
const WATCH_SECONDS: u64 = 180;

/// How long after that a watch that the server did not end is taken for dead.
const WATCH_MARGIN: Duration = Duration::from_secs(15);

/// The first and the longest pause before a watch that failed is tried again.
const FIRST_PAUSE: Duration = Duration::from_millis(500);
const LONGEST_PAUSE: Duration = Duration::from_secs(15);

/// Something that a watch has to say.
#[derive(Debug)]
pub(crate) enum Delta {
    /// All objects of the kind: whatever is not among them is gone.
    Replace(Kind, Vec<Record>),
    /// An object is new or has changed.
    Upsert(Record),
    /// An object is gone.
    Remove(Kind, Key),
    /// Objects of the kind cannot be read now.
    Gap(Kind, Gap),
}

/// All objects of a kind, and the `resourceVersion` to watch from.
pub(crate) async fn first(client: &Client, kind: Kind, timeout: Duration) -> Result<(Vec<Record>, String), ListError> {
    let mut records = Vec::new();
    let mut malformed = None;
    let take = |batch: Batch| match batch {
        Batch::Restart => records.clear(),
        Batch::Items(items) => {
            for item in items {
                match decode(kind, &item) {
                    Ok(record) => records.extend(record),
                    Err(message) => malformed = Some(message),
                }
            }
        }
    };
    let version = list::list(client, &path::all(kind), &[], timeout, take).await?;
    match malformed {
        Some(message) => Err(ListError::Malformed(message)),
        None => Ok((records, version)),
    }
}

fn decode(kind: Kind, item: &RawValue) -> Result<Option<Record>, String> {
    let json = capture::with_kind(kind, item).map_err(|error| error.to_string())?;
    ingest::object(&json).map_err(|error| error.to_string())
}

/// Follows a kind until nobody listens any more. `version` is where a list ended; none when there is no list yet.
pub(crate) async fn follow(
    client: Client,
    kind: Kind,
    mut version: Option<String>,
    timeout: Duration,
    deltas: UnboundedSender<Delta>,
) {
    let mut pause = FIRST_PAUSE;
    loop {
        let before = version.clone();
        let ended = match version.take() {
            Some(from) => watch(&client, kind, from, &deltas).await,
            None => match first(&client, kind, timeout).await {
                Ok((records, from)) => {
                    if deltas.send(Delta::Replace(kind, records)).is_err() {
                        return;
                    }
                    Ended::At(from)
                }
                Err(error) => {
                    if deltas.send(Delta::Gap(kind, capture::gap_of(kind, error))).is_err() {
                        return;
                    }
                    Ended::Failed(None)
                }
            },
        };
        match ended {
            Ended::NobodyListens => return,
            Ended::At(from) => {
                // A server that ends watches at once must not be asked without a break.
                if before.as_ref() == Some(&from) {
                    tokio::time::sleep(FIRST_PAUSE).await;
                }
                version = Some(from);
                pause = FIRST_PAUSE;
            }
            Ended::HistoryGone => tokio::time::sleep(FIRST_PAUSE).await,
            Ended::Failed(from) => {
                version = from;
                tokio::time::sleep(pause).await;
                pause = (pause * 2).min(LONGEST_PAUSE);
            }
        }
    }
}

/// How a watch ended, and where.
#[derive(Debug, PartialEq, Eq)]
enum Ended {
    /// In order, or with something seen: go on from here at once.
    At(String),
    /// The place is too old.
    HistoryGone,
    /// Something went wrong: go on from here after a pause, with a list if there is no here.
    Failed(Option<String>),
    /// The receiver is gone.
    NobodyListens,
}

#[derive(Deserialize)]
struct Event<'a> {
    #[serde(rename = "type")]
    kind: &'a str,
    #[serde(borrow)]
    object: &'a RawValue,
}

#[derive(Deserialize)]
struct Bare {
    metadata: BareMetadata,
}

#[derive(Deserialize, Default)]
#[serde(rename_all = "camelCase", default)]
struct BareMetadata {
    namespace: String,
    name: String,
    resource_version: String,
}

async fn watch(client: &Client, kind: Kind, from: String, deltas: &UnboundedSender<Delta>) -> Ended {
    let limit = Duration::from_secs(WATCH_SECONDS) + WATCH_MARGIN;
    let mut at = from;
    match tokio::time::timeout(limit, stream(client, kind, &mut at, deltas)).await {
        Ok(Ended::Failed(_)) => Ended::Failed(Some(at)),
        Ok(Ended::At(_)) | Err(_) => Ended::At(at),
        Ok(other) => other,
    }
}

/// Follows one stream; `at` moves with it.
async fn stream(client: &Client, kind: Kind, at: &mut String, deltas: &UnboundedSender<Delta>) -> Ended {
    let query = path::query(&[
        ("watch", "1"),
        ("resourceVersion", at),
        ("allowWatchBookmarks", "true"),
        ("timeoutSeconds", &WATCH_SECONDS.to_string()),
    ]);
    let Ok(mut request) = send::get(&format!("{}{query}", path::all(kind))) else { return Ended::Failed(None) };
    // kube-apiserver 1.37 compresses each event as a gzip member of its own, and the client's layer reads the first only.
    request.headers_mut().insert(ACCEPT_ENCODING, HeaderValue::from_static("identity"));
    let lines = match client.request_stream(request).await {
        Ok(body) => body.lines(),
        Err(kube::Error::Api(status)) if status.code == 410 => return Ended::HistoryGone,
        Err(_) => return Ended::Failed(None),
    };
    let mut lines = std::pin::pin!(lines);
    while let Some(line) = lines.next().await {
        // A line that is cut off is the end of the stream, not of the data: the next watch brings it whole.
        let Ok(line) = line else { return Ended::Failed(None) };
        let Ok(event) = serde_json::from_str::<Event<'_>>(&line) else { return Ended::Failed(None) };
        match said(kind, &event, at) {
            Ok(Some(delta)) => {
                if deltas.send(delta).is_err() {
                    return Ended::NobodyListens;
                }
            }
            Ok(None) => {}
            Err(ended) => return ended,
        }
    }
    Ended::At(String::new())
}

/// What one event means.
fn said(kind: Kind, event: &Event<'_>, at: &mut String) -> Result<Option<Delta>, Ended> {
    if event.kind == "ERROR" {
        let status = Status::parse(event.object.get().as_bytes()).unwrap_or_default();
        return Err(if status.code == 410 { Ended::HistoryGone } else { Ended::Failed(None) });
    }
    let Ok(Bare { metadata }) = serde_json::from_str::<Bare>(event.object.get()) else {
        return Err(Ended::Failed(None));
    };
    *at = metadata.resource_version;
    Ok(match event.kind {
        "ADDED" | "MODIFIED" => match decode(kind, event.object) {
            Ok(record) => record.map(Delta::Upsert),
            Err(message) => {
                Some(Delta::Gap(kind, Gap { source: kind.name().to_owned(), reason: GapReason::Unreadable, message }))
            }
        },
        "DELETED" => Some(Delta::Remove(kind, Key::new(metadata.namespace, metadata.name))),
        // BOOKMARK, and whatever a newer server may say: only the place moves.
        _ => None,
    })
}

#[cfg(test)]
mod tests;
