//! How a first contact can fail, and what to do about each.

use std::path::PathBuf;

use crate::wire::{self, NoAnswer};

/// Why there is no connection.
#[derive(Debug, thiserror::Error)]
pub enum ConnectionError {
    /// No kubeconfig was found.
    #[error("no kubeconfig: expected a file at {}", paths(.looked))]
    NoKubeconfig {
        /// Where we looked.
        looked: Vec<PathBuf>,
    },
    /// A kubeconfig, or a file that it names, cannot be used.
    #[error("{path}: {message}")]
    BadKubeconfig {
        /// The file.
        path: String,
        /// What is wrong with it.
        message: String,
    },
    /// A name that no kubeconfig has.
    #[error("expected {what} of the kubeconfig ({}), found {found:?}", or_none(.known))]
    UnknownName {
        /// `a context` or `a cluster`.
        what: &'static str,
        /// The names that there are.
        known: Vec<String>,
        /// The name that was asked for.
        found: String,
    },
    /// Nothing answers.
    #[error("the API server at {server} cannot be reached: {message}")]
    Unreachable {
        /// The address.
        server: String,
        /// What went wrong.
        message: String,
    },
    /// 401: the credentials are not accepted (any more).
    #[error("the API server at {server} does not accept the credentials: {message}")]
    Unauthorized {
        /// The address.
        server: String,
        /// What the server said.
        message: String,
    },
    /// The credentials could not be had: a plugin failed, a token file is gone.
    #[error("no credentials for {server}: {message}")]
    Credentials {
        /// The address.
        server: String,
        /// What went wrong.
        message: String,
    },
    /// The server's certificate is not trusted, or it speaks no TLS.
    #[error("no trusted connection to {server}: {message}")]
    Tls {
        /// The address.
        server: String,
        /// What went wrong.
        message: String,
    },
    /// The kubeconfig or the environment wants a proxy, and this build has none.
    #[error("{server} is to be reached through the proxy {proxy}, which rehome cannot do")]
    Proxy {
        /// The address.
        server: String,
        /// The proxy's address.
        proxy: String,
    },
    /// Something answers that is no API server, or that is in trouble.
    #[error("expected an API server at {server}, found an answer {code}: {message}")]
    Unexpected {
        /// The address.
        server: String,
        /// The HTTP status.
        code: u16,
        /// The beginning of the answer.
        message: String,
    },
    /// The async runtime could not be started.
    #[error("threads for the connection could not be started: {0}")]
    Runtime(#[source] std::io::Error),
}

impl ConnectionError {
    /// What to try next.
    #[must_use]
    pub fn next_command(&self) -> &'static str {
        match self {
            Self::NoKubeconfig { .. } => {
                "pass --kubeconfig FILE or set KUBECONFIG; without a cluster, try rehome demo or --snapshot FILE"
            }
            Self::BadKubeconfig { .. } => "kubectl config view",
            Self::UnknownName { .. } => "kubectl config get-contexts",
            Self::Unreachable { .. } => "kubectl cluster-info",
            Self::Unauthorized { .. } => "log in again as your provider says, then check with: kubectl auth whoami",
            Self::Credentials { .. } => {
                "log in again as your provider says, or mend the user in: kubectl config view --minify; then check with: kubectl auth whoami"
            }
            Self::Tls { .. } => "check server and certificate-authority in: kubectl config view --minify",
            Self::Proxy { .. } => {
                "unset HTTPS_PROXY if the server can be reached without, or: kubectl proxy, and --server http://127.0.0.1:8001"
            }
            Self::Unexpected { .. } => "kubectl version",
            Self::Runtime(_) => "check the limits of this machine: ulimit -u",
        }
    }

    pub(super) fn of_no_answer(server: &str, no_answer: NoAnswer) -> Self {
        let (server, message) = (server.to_owned(), no_answer.message);
        if no_answer.credentials {
            Self::Credentials { server, message }
        } else if no_answer.tls {
            Self::Tls { server, message }
        } else {
            Self::Unreachable { server, message }
        }
    }

    /// A client could not even be built: its certificates or its credentials are of no use.
    pub(super) fn of_client(server: &str, error: &kube::Error) -> Self {
        let (server, message) = (server.to_owned(), wire::no_answer(error).message);
        match error {
            kube::Error::Auth(_) => Self::Credentials { server, message },
            kube::Error::RustlsTls(_) => Self::Tls { server, message },
            kube::Error::ProxyProtocolDisabled { proxy_url, .. }
            | kube::Error::ProxyProtocolUnsupported { proxy_url } => {
                // Without user and password, should it have any.
                let proxy = format!("{}:{}", proxy_url.host().unwrap_or_default(), proxy_url.port_u16().unwrap_or(80));
                Self::Proxy { server, proxy }
            }
            _ => Self::BadKubeconfig {
                path: "kubeconfig".to_owned(),
                message: format!("certificates or keys in it cannot be used: {message}"),
            },
        }
    }

    /// The same, with the name of the plugin that gives the credentials: there can be several, and only one failed.
    pub(super) fn of_plugin(self, plugin: Option<&str>) -> Self {
        match (self, plugin) {
            (Self::Credentials { server, message }, Some(plugin)) => {
                Self::Credentials { server, message: format!("{plugin}: {message}") }
            }
            (other, _) => other,
        }
    }

    pub(super) fn of_answer(server: &str, code: u16, message: String) -> Self {
        let server = server.to_owned();
        match code {
            401 => Self::Unauthorized { server, message },
            _ => Self::Unexpected { server, code, message },
        }
    }
}

fn paths(looked: &[PathBuf]) -> String {
    or_none(&looked.iter().map(|path| path.display().to_string()).collect::<Vec<_>>())
}

fn or_none(names: &[String]) -> String {
    if names.is_empty() { "none".to_owned() } else { names.join(", ") }
}
