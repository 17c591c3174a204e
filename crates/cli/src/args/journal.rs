//! Where the journal is, and whether the cluster has a copy.

use std::collections::BTreeSet;
use std::path::PathBuf;

use clap::Args;
use rehome_kube::access::{Permission, needs};

use super::Connection;

/// The journal's copy in the cluster.
#[derive(Debug, Args)]
pub(crate) struct Copy {
    /// Keep the journal in its file alone. Without a copy in the cluster no other machine can go on with the run, and a
    /// second run at the same time is not noticed
    #[arg(long)]
    pub(crate) no_cluster_journal: bool,
}

impl Copy {
    /// What must be allowed for it.
    pub(crate) fn needed(&self) -> BTreeSet<Permission> {
        if self.no_cluster_journal { BTreeSet::new() } else { needs::to_keep_journal() }
    }
}

/// Arguments of `resume` and `rollback`.
#[derive(Debug, Args)]
pub(crate) struct Continue {
    /// The journal of the run; a new file with what the cluster has unless given
    #[arg(long, value_name = "FILE")]
    pub(crate) journal: Option<PathBuf>,
    /// The plan; the copy beside the journal unless given, or the one in the cluster
    #[arg(long, value_name = "FILE")]
    pub(crate) plan: Option<PathBuf>,
    /// An Approval of the plan: needed where the plan comes from the cluster and nobody can be asked
    #[arg(long, value_name = "FILE")]
    pub(crate) approval: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) copy: Copy,
    #[command(flatten)]
    pub(crate) connection: Connection,
}

/// Arguments of `status`.
#[derive(Debug, Args)]
pub(crate) struct Status {
    /// The journal of the run; the copy in the cluster unless given
    #[arg(long, value_name = "FILE")]
    pub(crate) journal: Option<PathBuf>,
    /// The plan; the copy beside the journal unless given
    #[arg(long, value_name = "FILE")]
    pub(crate) plan: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) connection: Connection,
}
