//! Which copy of a journal wins.
//!
//! A change is sent only after its intent is in both copies. So an intent that the cluster does not have was never sent,
//! and whatever else it does not have is seen in the cluster again. The file wins only where it goes on from the
//! cluster's copy; else the cluster's copy does: then somebody else has taken the run on from there.

use rehome_model::journal::Record;

/// Which copy wins, and by how many records.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Winner {
    /// They are the same.
    Either,
    /// The file has more: the process ended before they went up.
    File {
        /// How many more.
        more: usize,
    },
    /// The cluster has more: the run went on elsewhere.
    Cluster {
        /// How many more.
        more: usize,
    },
    /// The run went on elsewhere from record `common` on, before what the file says after it had gone up.
    ClusterInstead {
        /// Records that both have.
        common: usize,
        /// Records that only the file has: nothing that they announce was sent.
        dropped: usize,
    },
    /// They are of different runs: not even the first record is the same.
    Neither,
}

/// Compares the file's records with the cluster's.
#[must_use]
pub fn compare(file: &[Record], cluster: &[Record]) -> Winner {
    let common = file.iter().zip(cluster).take_while(|(file, cluster)| file == cluster).count();
    match (file.len() - common, cluster.len() - common) {
        (0, 0) => Winner::Either,
        (more, 0) => Winner::File { more },
        (0, more) => Winner::Cluster { more },
        _ if common == 0 => Winner::Neither,
        (dropped, _) => Winner::ClusterInstead { common, dropped },
    }
}
