//! A large cluster moved on the real control plane: what it costs in memory and in requests, with kubectl's figures
//! beside it.
//!
//! The figures are counted from outside: memory as the kernel keeps it for the process, requests from the audit log. The
//! control plane, kwok's nodes and the program share the machine, so how long it takes says little about either.

pub mod cluster;
pub mod drained;
pub mod measured;
pub mod moved;
pub mod requests;
pub mod table;

use std::path::PathBuf;

use crate::audit::ReadError;
use crate::clock::TimedOut;
use crate::control_plane::ControlPlaneError;

/// How large the cluster is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Size {
    /// Nodes, half of them old and half of them new.
    pub nodes: usize,
    /// Pods, all of them on old nodes. Rounded up to a whole [`cluster::CYCLE`].
    pub pods: usize,
    /// How many units may be on the move at once.
    pub parallel: usize,
    /// How many nodes `kubectl drain` drains, for comparison.
    pub drained: usize,
}

/// Why there are no figures.
#[derive(Debug, thiserror::Error)]
pub enum ScaleError {
    /// The control plane.
    #[error(transparent)]
    Plane(#[from] ControlPlaneError),
    /// Something did not come.
    #[error(transparent)]
    TimedOut(#[from] TimedOut),
    /// The audit log.
    #[error(transparent)]
    Audit(#[from] ReadError),
    /// A file, or a program that cannot be started.
    #[error(transparent)]
    Io(#[from] std::io::Error),
    /// What kubectl printed, or a document.
    #[error("no JSON: {0}")]
    Json(#[from] serde_json::Error),
    /// The program is not built.
    #[error("{} is not built: cargo build --release -p rehome", .0.display())]
    NotBuilt(PathBuf),
    /// A program ended otherwise than it should.
    #[error("{what} ended with {status}:\n{stderr}")]
    Failed {
        /// How it was called.
        what: String,
        /// Its status.
        status: String,
        /// The end of what it said.
        stderr: String,
    },
    /// Pods are where they must not be.
    #[error("{count} pods are not on the nodes that they were moved to, the first is {first}")]
    Astray {
        /// How many.
        count: usize,
        /// One of them.
        first: String,
    },
}
