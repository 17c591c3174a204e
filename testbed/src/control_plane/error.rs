//! Why a control plane is not there, or did not do what it was asked.

use super::keys::KeysError;
use crate::assets::AssetsError;
use crate::clock::TimedOut;

/// See the module.
#[derive(Debug, thiserror::Error)]
pub enum ControlPlaneError {
    /// The programs are not there and could not be built.
    #[error(transparent)]
    Assets(#[from] AssetsError),
    /// Keys could not be made.
    #[error(transparent)]
    Keys(#[from] KeysError),
    /// A file or a process could not be made.
    #[error(transparent)]
    Io(#[from] std::io::Error),
    /// A program ended by itself.
    #[error("expected {program} to run, but it ended with status {status}; its log ends:\n{log}")]
    Ended {
        /// The program.
        program: &'static str,
        /// Its exit status.
        status: String,
        /// The end of its log.
        log: String,
    },
    /// Something did not happen in time.
    #[error("{timed_out}; the log of {program} ends:\n{log}")]
    NotInTime {
        /// What and how long.
        #[source]
        timed_out: TimedOut,
        /// The program that should have done it.
        program: &'static str,
        /// The end of its log.
        log: String,
    },
    /// The API server could not be asked.
    #[error("kube client: {0}")]
    Kube(#[from] Box<kube::Error>),
    /// A kubeconfig could not be used.
    #[error("kubeconfig: {0}")]
    Kubeconfig(#[from] Box<kube::config::KubeconfigError>),
    /// kubectl said no.
    #[error("kubectl {arguments} ended with {status}: {stderr}")]
    Kubectl {
        /// Its arguments.
        arguments: String,
        /// Its exit status.
        status: String,
        /// What it said.
        stderr: String,
    },
    /// JSON of our own making could not be made or read.
    #[error(transparent)]
    Json(#[from] serde_json::Error),
    /// The shared control plane could not be started, earlier in this process.
    #[error("the shared control plane did not start: {0}")]
    Shared(String),
}

impl From<kube::Error> for ControlPlaneError {
    fn from(error: kube::Error) -> Self {
        Self::Kube(Box::new(error))
    }
}

impl From<kube::config::KubeconfigError> for ControlPlaneError {
    fn from(error: kube::config::KubeconfigError) -> Self {
        Self::Kubeconfig(Box::new(error))
    }
}
