//! Prometheus over HTTP: one instant query, and its answer as labels and numbers.
//!
//! It has the transport that the API server has: TLS, time limits, no second try. Knows the HTTP API's envelope
//! (<https://prometheus.io/docs/prometheus/latest/querying/api/>) and no metric: what to ask, and what an empty answer
//! means, is the caller's concern. Redirects are not followed.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::sync::Arc;
use std::time::Duration;

use http::Uri;
use http::header::USER_AGENT;
use kube::{Client, Config};
use serde::Deserialize;
use tokio::runtime::Runtime;

use crate::secrecy::without_credentials;
use crate::{send, wire};

/// How long opening a connection may take.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);
/// How long one query may take. Prometheus gives up after two minutes itself (`--query.timeout`).
const QUERY_TIMEOUT: Duration = Duration::from_secs(125);

/// A Prometheus server.
pub struct Prometheus {
    runtime: Arc<Runtime>,
    client: Client,
    /// The address without credentials.
    address: String,
    /// The path under which it is served: empty, or `/prometheus`.
    path: String,
}

/// One element of an instant vector.
#[derive(Clone, Debug, PartialEq)]
pub struct Sample {
    /// Its labels.
    pub labels: BTreeMap<String, String>,
    /// Its value.
    pub value: f64,
}

/// Why there is no answer. Each names the server and the query.
#[derive(Debug, thiserror::Error)]
pub enum PrometheusError {
    /// The address is none.
    #[error("expected an address such as http://prometheus:9090, found {found:?}: {message}")]
    Address {
        /// What was given.
        found: String,
        /// What is wrong with it.
        message: String,
    },
    /// Nothing answers.
    #[error("Prometheus at {address} cannot be reached: {message}; the query was {query}")]
    Unreachable {
        /// The server.
        address: String,
        /// The query.
        query: String,
        /// What went wrong.
        message: String,
    },
    /// It says no.
    #[error("Prometheus at {address} answers {code}: {message}; the query was {query}")]
    Refused {
        /// The server.
        address: String,
        /// The query.
        query: String,
        /// The status code.
        code: u16,
        /// What it said.
        message: String,
    },
    /// Something else than Prometheus answers.
    #[error("expected an answer of Prometheus from {address}, found {found:?}; the query was {query}")]
    NotPrometheus {
        /// The server.
        address: String,
        /// The query.
        query: String,
        /// The beginning of the answer.
        found: String,
    },
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Envelope {
    status: String,
    #[serde(default)]
    error: String,
    data: Option<Data>,
}

#[derive(Deserialize)]
struct Data {
    result: Vec<Element>,
}

#[derive(Deserialize)]
struct Element {
    metric: BTreeMap<String, String>,
    value: (f64, String),
}

impl std::fmt::Debug for Prometheus {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Prometheus").field("address", &self.address).finish_non_exhaustive()
    }
}

impl Prometheus {
    /// A client for a server; a name and a password may stand in the address. Nothing is sent yet.
    ///
    /// # Errors
    /// The address is none.
    pub fn new(address: &str, user_agent: &str) -> Result<Self, PrometheusError> {
        let shown = without_credentials(address);
        let bad = |message: String| PrometheusError::Address { found: shown.clone(), message };
        let uri: Uri = address.parse().map_err(|error: http::uri::InvalidUri| bad(error.to_string()))?;
        if !matches!(uri.scheme_str(), Some("http" | "https")) {
            return Err(bad("it begins with neither http:// nor https://".to_owned()));
        }
        let base: Uri = without_credentials(&format!(
            "{}://{}",
            uri.scheme_str().unwrap_or_default(),
            uri.authority().map(http::uri::Authority::as_str).unwrap_or_default()
        ))
        .parse()
        .map_err(|error: http::uri::InvalidUri| bad(error.to_string()))?;
        let mut config = Config::new(base);
        config.default_retry = false;
        config.connect_timeout = Some(CONNECT_TIMEOUT);
        config
            .headers
            .push((USER_AGENT, user_agent.parse().map_err(|_| bad("the user agent is no header".to_owned()))?));
        let user = uri.authority().and_then(|authority| authority.as_str().rsplit_once('@')).map(|(user, _)| user);
        if let Some(user) = user {
            let (name, password) = user.split_once(':').unwrap_or((user, ""));
            config.auth_info.username = Some(name.to_owned());
            config.auth_info.password = Some(password.to_owned().into());
        }
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(1)
            .thread_name("rehome-prometheus")
            .enable_all()
            .build()
            .map_err(|error| bad(error.to_string()))?;
        let client = {
            let _inside = runtime.enter();
            Client::try_from(config).map_err(|error| bad(error.to_string()))?
        };
        let path = uri.path().trim_end_matches('/').to_owned();
        Ok(Self { runtime: Arc::new(runtime), client, address: shown, path })
    }

    /// The address without credentials.
    #[must_use]
    pub fn address(&self) -> &str {
        &self.address
    }

    /// Asks for a vector as it is now. Elements that are no number are left out.
    ///
    /// # Errors
    /// No answer, a refusal, or an answer of something else.
    pub fn query(&self, query: &str) -> Result<Vec<Sample>, PrometheusError> {
        let (address, asked) = (self.address.clone(), query.to_owned());
        let unreachable =
            |message| PrometheusError::Unreachable { address: address.clone(), query: asked.clone(), message };
        let path = format!("{}/api/v1/query?query={}", self.path, encoded(query));
        let request = send::get(&path).map_err(|error| unreachable(error.to_string()))?;
        let answer = self.runtime.block_on(wire::exchange(&self.client, request, QUERY_TIMEOUT));
        let answer = answer.map_err(|no_answer| unreachable(no_answer.message))?;
        let envelope = serde_json::from_slice::<Envelope>(&answer.body);
        match envelope {
            Ok(Envelope { status, data: Some(data), .. }) if status == "success" => {
                let samples = data.result.into_iter().filter_map(|element| {
                    let value = element.value.1.parse::<f64>().ok().filter(|value| value.is_finite())?;
                    Some(Sample { labels: element.metric, value })
                });
                Ok(samples.collect())
            }
            Ok(Envelope { error, .. }) if !error.is_empty() => {
                Err(PrometheusError::Refused { address, query: asked, code: answer.code.as_u16(), message: error })
            }
            _ if !answer.code.is_success() => {
                let message = answer.message();
                Err(PrometheusError::Refused { address, query: asked, code: answer.code.as_u16(), message })
            }
            _ => Err(PrometheusError::NotPrometheus { address, query: asked, found: answer.message() }),
        }
    }
}

/// Percent-encodes all but the unreserved characters of RFC 3986, section 2.3.
fn encoded(text: &str) -> String {
    let mut encoded = String::with_capacity(text.len() * 2);
    for byte in text.bytes() {
        if byte.is_ascii_alphanumeric() || b"-._~".contains(&byte) {
            encoded.push(char::from(byte));
        } else {
            let _ = write!(encoded, "%{byte:02X}");
        }
    }
    encoded
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn credentials_are_never_shown() {
        let prometheus = Prometheus::new("http://ada:secret@127.0.0.1:1/prom/", "rehome").unwrap();
        assert_eq!((prometheus.address(), prometheus.path.as_str()), ("http://127.0.0.1:1/prom", "/prom"));
        let error = prometheus.query("up").unwrap_err().to_string();
        assert!(error.contains("127.0.0.1:1/prom cannot be reached") && error.ends_with("the query was up"), "{error}");
        assert!(!error.contains("secret"), "{error}");
    }

    #[test]
    fn what_is_no_address_is_refused() {
        for wrong in ["", "prometheus:9090", "ftp://prometheus", "http://", "http://a b"] {
            assert!(matches!(Prometheus::new(wrong, "rehome"), Err(PrometheusError::Address { .. })), "{wrong}");
        }
    }

    #[test]
    fn a_query_is_one_value_of_the_address() {
        assert_eq!(encoded("a{b=\"c\"}[7d] +1"), "a%7Bb%3D%22c%22%7D%5B7d%5D%20%2B1");
    }
}
