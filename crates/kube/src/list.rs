//! Lists in pages, as raw text.

use std::time::Duration;

use kube::Client;
use serde::Deserialize;
use serde_json::value::RawValue;

use crate::wire::{self, Answer, NoAnswer};
use crate::{path, send};

/// Objects in one page. Source: client-go `tools/pager`, `defaultPageSize`.
const PAGE: &str = "500";

/// How often a page is asked for when the server cannot answer just now.
const ATTEMPTS: u32 = 4;

/// The wait after the first failure; doubles each time.
const FIRST_PAUSE: Duration = Duration::from_millis(500);

/// The longest `Retry-After` that a read obeys.
const LONGEST_PAUSE: Duration = Duration::from_secs(10);

/// How often a list starts again because its snapshot in etcd was compacted away (410) under the pages.
const RESTARTS: u32 = 3;

/// A part of a list.
#[derive(Debug)]
pub(crate) enum Batch {
    /// Forget what came so far: the list starts again.
    Restart,
    /// The objects of a page, as they were served: without `kind` and `apiVersion`.
    Items(Vec<Box<RawValue>>),
}

/// Why there is no list.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ListError {
    /// The server answered with something else.
    #[error("{code}: {message}")]
    Refused { code: u16, message: String },
    /// The server did not answer.
    #[error("{0}")]
    NoAnswer(String),
    /// The answer is no list.
    #[error("the answer is no list: {0}")]
    Malformed(String),
}

#[derive(Deserialize)]
struct List {
    metadata: ListMetadata,
    // Go writes an empty list as null in some places.
    items: Option<Vec<Box<RawValue>>>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct ListMetadata {
    #[serde(default)]
    resource_version: String,
    #[serde(default, rename = "continue")]
    next: String,
}

/// Lists all objects at a path by a consistent read; gives the `resourceVersion` to watch from.
pub(crate) async fn list(
    client: &Client,
    path: &str,
    selectors: &[(&str, &str)],
    timeout: Duration,
    mut take: impl FnMut(Batch),
) -> Result<String, ListError> {
    let mut restarts = 0;
    let mut next = String::new();
    loop {
        let mut query = selectors.to_vec();
        // After that many restarts the pages are slower than the compaction: then all at once.
        if restarts <= RESTARTS {
            query.push(("limit", PAGE));
        }
        if !next.is_empty() {
            query.push(("continue", &next));
        }
        match page(client, &format!("{path}{}", path::query(&query)), timeout).await {
            Ok(list) => {
                take(Batch::Items(list.items.unwrap_or_default()));
                if list.metadata.next.is_empty() {
                    return Ok(list.metadata.resource_version);
                }
                next = list.metadata.next;
            }
            Err(ListError::Refused { code: 410, .. }) if !next.is_empty() => {
                take(Batch::Restart);
                restarts += 1;
                next.clear();
            }
            Err(error) => return Err(error),
        }
    }
}

async fn page(client: &Client, path: &str, timeout: Duration) -> Result<List, ListError> {
    let answer = read(client, path, timeout).await?;
    if !answer.code.is_success() {
        return Err(ListError::Refused { code: answer.code.as_u16(), message: answer.message() });
    }
    serde_json::from_slice(&answer.body).map_err(|error| ListError::Malformed(error.to_string()))
}

/// A read that is asked again while the server cannot answer. Reads only: they change nothing.
pub(crate) async fn read(client: &Client, path: &str, timeout: Duration) -> Result<Answer, ListError> {
    let mut pause = FIRST_PAUSE;
    for attempt in 1.. {
        let request = send::get(path).map_err(|error| ListError::NoAnswer(error.to_string()))?;
        let wait = match wire::exchange(client, request, timeout).await {
            Ok(answer) if attempt < ATTEMPTS && again(&answer) => retry_after(&answer).unwrap_or(pause),
            Err(no_answer) if attempt < ATTEMPTS && worth_another(&no_answer) => pause,
            Ok(answer) => return Ok(answer),
            Err(no_answer) => return Err(ListError::NoAnswer(no_answer.message)),
        };
        tokio::time::sleep(wait).await;
        pause *= 2;
    }
    Err(ListError::NoAnswer(String::new()))
}

fn again(answer: &Answer) -> bool {
    answer.code.as_u16() == 429 || answer.code.is_server_error()
}

fn worth_another(no_answer: &NoAnswer) -> bool {
    // A server that restarts refuses connections for a moment; a wrong certificate stays wrong.
    !no_answer.tls && !no_answer.credentials
}

fn retry_after(answer: &Answer) -> Option<Duration> {
    let seconds: u64 = answer.headers.get(http::header::RETRY_AFTER)?.to_str().ok()?.parse().ok()?;
    Some(Duration::from_secs(seconds).min(LONGEST_PAUSE))
}
