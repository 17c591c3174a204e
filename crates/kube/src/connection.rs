//! From kubectl's connection flags to a cluster that answers.
//!
//! Knows kubeconfigs and how a first contact can fail. Reads no environment: the command line gives what it found.

mod error;
mod kubeconfig;

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use http::header::USER_AGENT;
use kube::{Client, Config};
use rehome_model::Uid;
use rehome_model::snapshot::ClusterIdentity;
use serde::Deserialize;
use tokio::runtime::Runtime;

pub use self::error::ConnectionError;
use crate::wire::{self, READ_TIMEOUT};
use crate::{list, secrecy, send};

/// How long opening a connection may take, TLS included.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);

/// Threads of the async runtime: the watches and one request at a time keep no more busy.
const THREADS: usize = 2;

/// kubectl's connection flags, and where it would look without them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ConnectionFlags {
    /// `--kubeconfig`: only this file, and it must exist.
    pub kubeconfig: Option<PathBuf>,
    /// The files of the environment variable `KUBECONFIG`, in order; those that don't exist are skipped, as kubectl
    /// does.
    pub kubeconfig_list: Vec<PathBuf>,
    /// `~/.kube/config`, for when neither is given.
    pub kubeconfig_default: Option<PathBuf>,
    /// `--context`.
    pub context: Option<String>,
    /// `--cluster`.
    pub cluster: Option<String>,
    /// `--user`.
    pub user: Option<String>,
    /// `--server`.
    pub server: Option<String>,
    /// `--token`.
    pub token: Option<String>,
    /// `--as`.
    pub impersonate: Option<String>,
    /// `--as-group`.
    pub impersonate_groups: Vec<String>,
    /// `--as-uid`.
    pub impersonate_uid: Option<String>,
    /// `--certificate-authority`.
    pub certificate_authority: Option<PathBuf>,
    /// `--tls-server-name`.
    pub tls_server_name: Option<String>,
    /// `--insecure-skip-tls-verify`.
    pub insecure_skip_tls_verify: bool,
    /// `--request-timeout`: for each read. Changes have their own.
    pub request_timeout: Option<Duration>,
}

/// Which cluster a connection leads to.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Description {
    /// The context in the kubeconfig; none when the flags name the server.
    pub context: Option<String>,
    /// The cluster's name in the kubeconfig.
    pub cluster: Option<String>,
    /// The user's name in the kubeconfig.
    pub user: Option<String>,
    /// The address of the API server.
    pub server: String,
    /// The UID of the namespace `kube-system`; none when it may not be read.
    pub uid: Option<Uid>,
    /// `gitVersion` of the API server.
    pub server_version: String,
}

impl Description {
    /// The identity that documents carry.
    #[must_use]
    pub fn identity(&self) -> ClusterIdentity {
        ClusterIdentity {
            uid: self.uid.clone(),
            name: self.cluster.clone(),
            server_version: Some(self.server_version.clone()),
        }
    }
}

/// A connection to a cluster. Cheap to clone.
#[derive(Clone)]
pub struct Connection {
    runtime: Arc<Runtime>,
    client: Client,
    read_timeout: Duration,
    description: Description,
}

impl std::fmt::Debug for Connection {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Connection").field("description", &self.description).finish_non_exhaustive()
    }
}

impl Connection {
    /// Finds the cluster that the flags mean and asks it who it is.
    ///
    /// # Errors
    /// See [`ConnectionError`].
    pub fn open(flags: &ConnectionFlags, user_agent: &str) -> Result<Self, ConnectionError> {
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(THREADS)
            .thread_name("rehome-kube")
            .enable_all()
            .build()
            .map_err(ConnectionError::Runtime)?;
        let (mut config, mut description) = runtime.block_on(kubeconfig::resolve(flags))?;
        description.server = secrecy::without_credentials(&config.cluster_url.to_string());
        let plugin = config.auth_info.exec.as_ref().and_then(|plugin| plugin.command.clone());
        configure(&mut config, user_agent)?;
        let client = {
            let _inside = runtime.enter();
            Client::try_from(config)
                .map_err(|error| ConnectionError::of_client(&description.server, &error).of_plugin(plugin.as_deref()))?
        };
        let read_timeout = flags.request_timeout.filter(|timeout| !timeout.is_zero()).unwrap_or(READ_TIMEOUT);
        let mut connection = Self { runtime: Arc::new(runtime), client, read_timeout, description };
        connection.meet().map_err(|error| error.of_plugin(plugin.as_deref()))?;
        Ok(connection)
    }

    /// Which cluster this leads to.
    #[must_use]
    pub fn describe(&self) -> &Description {
        &self.description
    }

    pub(crate) fn client(&self) -> &Client {
        &self.client
    }

    pub(crate) fn read_timeout(&self) -> Duration {
        self.read_timeout
    }

    pub(crate) fn runtime(&self) -> &Arc<Runtime> {
        &self.runtime
    }

    /// Asks for the version and for the UID of `kube-system`.
    fn meet(&mut self) -> Result<(), ConnectionError> {
        #[derive(Deserialize)]
        #[serde(rename_all = "camelCase")]
        struct Version {
            git_version: String,
        }
        #[derive(Deserialize)]
        struct Namespace {
            metadata: Metadata,
        }
        #[derive(Deserialize)]
        struct Metadata {
            uid: Uid,
        }
        let server = self.description.server.clone();
        // Once, without a second try: a wrong address should be told at once.
        let request = send::get("/version").map_err(|error| ConnectionError::Unexpected {
            server: server.clone(),
            code: 0,
            message: error.to_string(),
        })?;
        let answer = self.runtime.block_on(wire::exchange(&self.client, request, self.read_timeout));
        let answer = answer.map_err(|no_answer| ConnectionError::of_no_answer(&server, no_answer))?;
        if !answer.code.is_success() {
            return Err(ConnectionError::of_answer(&server, answer.code.as_u16(), answer.message()));
        }
        let version: Version = serde_json::from_slice(&answer.body).map_err(|_| ConnectionError::Unexpected {
            server: server.clone(),
            code: answer.code.as_u16(),
            message: format!("expected a version, found {:?}", answer.message()),
        })?;
        self.description.server_version = version.git_version;
        let path = format!("/api/v1/namespaces/{}", crate::access::needs::IDENTITY);
        let answer = self.runtime.block_on(list::read(&self.client, &path, self.read_timeout));
        match answer {
            Ok(answer) if answer.code.as_u16() == 401 => {
                Err(ConnectionError::of_answer(&server, 401, answer.message()))
            }
            // Who may not read it has a cluster without an identity; what needs the identity will say so.
            Ok(answer) => {
                let namespace = serde_json::from_slice::<Namespace>(&answer.body).ok();
                self.description.uid = namespace.map(|namespace| namespace.metadata.uid);
                Ok(())
            }
            Err(error) => Err(ConnectionError::Unreachable { server, message: error.to_string() }),
        }
    }

    /// A connection over a client that a test made.
    #[cfg(test)]
    pub(crate) fn of(runtime: Arc<Runtime>, client: Client) -> Self {
        Self { runtime, client, read_timeout: READ_TIMEOUT, description: Description::default() }
    }
}

/// What every client of ours has, whatever the kubeconfig says.
fn configure(config: &mut Config, user_agent: &str) -> Result<(), ConnectionError> {
    // kube 5.0.0 asks again on 429, 503 and 504 by itself, changes included.
    config.default_retry = false;
    config.connect_timeout = Some(CONNECT_TIMEOUT);
    // A watch can be silent for minutes; each read and change has a limit of its own.
    config.read_timeout = None;
    let value = user_agent.parse().map_err(|_| ConnectionError::BadKubeconfig {
        path: "user agent".to_owned(),
        message: format!("{user_agent:?} cannot be sent in a header"),
    })?;
    config.headers.push((USER_AGENT, value));
    Ok(())
}

#[cfg(test)]
mod tests;
