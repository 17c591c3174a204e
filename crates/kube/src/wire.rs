//! One request and its answer, as they are on the wire.
//!
//! Knows how to tell "certainly not sent" from "no answer". Does not know what an answer means.

use std::error::Error as StdError;
use std::io;
use std::time::Duration;

use bytes::Bytes;
use http::{HeaderMap, Request, StatusCode};
use http_body_util::BodyExt;
use kube::Client;
use kube::client::Body;

use crate::secrecy;
use crate::status::Status;

/// How long a read may take if `--request-timeout` says nothing. A page of 500 large objects over a slow line takes
/// seconds; the API server itself gives up a request after 60 s (kube-apiserver `--request-timeout`).
pub(crate) const READ_TIMEOUT: Duration = Duration::from_secs(60);

/// An answer.
#[derive(Clone, Debug)]
pub(crate) struct Answer {
    pub(crate) code: StatusCode,
    pub(crate) headers: HeaderMap,
    pub(crate) body: Bytes,
}

/// Why there is no answer.
#[derive(Debug)]
pub(crate) struct NoAnswer {
    pub(crate) stage: Stage,
    pub(crate) message: String,
    /// Whether the peer spoke no TLS or had a certificate that we don't trust.
    pub(crate) tls: bool,
    /// Whether our own credentials could not be had (a plugin that fails, a token file that is gone).
    pub(crate) credentials: bool,
}

/// How far a request came.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Stage {
    /// No connection was made: the server has not seen it.
    NotSent,
    /// The server may have seen it.
    MaybeSent,
}

impl Answer {
    /// What the server said, for a person: the message of its `Status`, else the beginning of the body.
    pub(crate) fn message(&self) -> String {
        match Status::parse(&self.body) {
            Some(status) if !status.message.is_empty() => status.message,
            _ => {
                let text = String::from_utf8_lossy(&self.body);
                let text = text.trim();
                let short: String = text.chars().take(200).collect();
                if short.is_empty() { self.code.to_string() } else { short }
            }
        }
    }

    /// The values of `Warning` headers.
    pub(crate) fn warnings(&self) -> impl Iterator<Item = String> + '_ {
        let values = self.headers.get_all(http::header::WARNING).into_iter();
        values.map(|value| String::from_utf8_lossy(value.as_bytes()).into_owned())
    }
}

/// Sends a request once and takes the whole answer.
pub(crate) async fn exchange(
    client: &Client,
    request: Request<Vec<u8>>,
    timeout: Duration,
) -> Result<Answer, NoAnswer> {
    let answer = tokio::time::timeout(timeout, async {
        let response = client.send(request.map(Body::from)).await.map_err(|error| no_answer(&error))?;
        let (parts, body) = response.into_parts();
        let body = body.collect().await.map_err(|error| no_answer(&error))?.to_bytes();
        Ok(Answer { code: parts.status, headers: parts.headers, body })
    });
    answer.await.unwrap_or_else(|_| {
        Err(NoAnswer {
            stage: Stage::MaybeSent,
            message: format!("no answer within {} s", timeout.as_secs()),
            tls: false,
            credentials: false,
        })
    })
}

/// Reads the chain of causes for what matters: whether anything was sent, and whose fault it is.
pub(crate) fn no_answer(error: &kube::Error) -> NoAnswer {
    let mut found = NoAnswer { stage: Stage::MaybeSent, message: innermost(error), tls: false, credentials: false };
    let mut next: Option<&(dyn StdError + 'static)> = Some(error);
    while let Some(cause) = next {
        if let Some(io) = cause.downcast_ref::<io::Error>() {
            match io.kind() {
                // Only connect(2) gives these: no byte of ours has left.
                io::ErrorKind::ConnectionRefused
                | io::ErrorKind::HostUnreachable
                | io::ErrorKind::NetworkUnreachable => {
                    found.stage = Stage::NotSent;
                }
                // tokio-rustls wraps what rustls says (a bad certificate, an answer that is no TLS) in this kind.
                io::ErrorKind::InvalidData => found.tls = true,
                _ => {}
            }
        }
        let credentials = cause.is::<kube::client::AuthError>()
            || matches!(cause.downcast_ref::<kube::Error>(), Some(kube::Error::Auth(_)));
        if credentials {
            found.credentials = true;
            found.stage = Stage::NotSent;
        }
        next = inner(cause);
    }
    found
}

/// The last cause of a chain: the outer ones say "service error" and "client error", the last one says why.
fn innermost(error: &(dyn StdError + 'static)) -> String {
    let mut last = error;
    loop {
        if let Some(why) = secrecy::of_credentials(last) {
            return why;
        }
        match inner(last) {
            Some(source) => last = source,
            None => return last.to_string(),
        }
    }
}

/// What is behind an error. An `io::Error` that wraps another error gives that one's source as its own, and so hides it.
fn inner<'e>(error: &'e (dyn StdError + 'static)) -> Option<&'e (dyn StdError + 'static)> {
    match error.downcast_ref::<io::Error>().and_then(io::Error::get_ref) {
        Some(wrapped) => Some(wrapped),
        None => error.source(),
    }
}
