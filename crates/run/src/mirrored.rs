//! A journal in two copies: the file on this machine and, if it is wanted, the one in the cluster.
//!
//! A record is in the file first and then, where it announces a change, in the cluster; only then the change is sent.
//! Which copy wins when a run is taken up again stands in `rehome_engine::cluster_journal`, [`compare`].

use std::path::{Path, PathBuf};

use rehome_engine::cluster_journal::{ClusterJournal, Objects, Winner, compare};
use rehome_engine::journal::{JournalStore, StoreFailed};
use rehome_model::Timestamp;
use rehome_model::journal::Record;

use crate::journal_file::{FileJournal, Held, JournalError};

/// The two copies of a journal.
#[derive(Debug)]
pub struct Mirrored<O> {
    file: FileJournal,
    cluster: Option<ClusterJournal<O>>,
}

impl<O: Objects> Mirrored<O> {
    /// A file, and the copy in the cluster if there is one.
    #[must_use]
    pub fn new(file: FileJournal, cluster: Option<ClusterJournal<O>>) -> Self {
        Self { file, cluster }
    }

    /// Leaves the place to others: nothing has begun.
    ///
    /// # Errors
    /// The copy in the cluster could not be written.
    pub fn give_up(&mut self, now: Timestamp) -> Result<(), StoreFailed> {
        self.cluster.as_mut().map_or(Ok(()), |cluster| cluster.give_up(now))
    }
}

impl<O: Objects> JournalStore for Mirrored<O> {
    fn append(&mut self, record: &Record) -> Result<(), StoreFailed> {
        self.file.append(record)?;
        match &mut self.cluster {
            Some(cluster) => cluster.append(record),
            None => Ok(()),
        }
    }

    fn keep_alive(&mut self, now: Timestamp) -> Result<Option<Timestamp>, StoreFailed> {
        match &mut self.cluster {
            Some(cluster) => cluster.keep_alive(now),
            None => Ok(None),
        }
    }
}

/// A file that was brought to where the run stands.
#[derive(Debug)]
pub struct Settled {
    /// The file.
    pub file: FileJournal,
    /// What it holds now.
    pub held: Held,
    /// Which copy won.
    pub winner: Winner,
    /// Where the file's former records are, if they were not all right.
    pub set_aside: Option<PathBuf>,
}

/// Why a file could not be brought to where the run stands.
#[derive(Debug, thiserror::Error)]
pub enum SettleError {
    /// The file and the cluster are of different runs.
    #[error("{} and the journal in the cluster are of different runs", file.display())]
    OtherRun {
        /// The file.
        file: PathBuf,
    },
    /// The file could not be read or written.
    #[error(transparent)]
    Journal(#[from] JournalError),
    /// A record could not be written.
    #[error(transparent)]
    Store(#[from] StoreFailed),
}

/// Brings a file to where the run stands, by the cluster's records. A file that says something else from some record on
/// is set aside, never overwritten.
///
/// # Errors
/// See [`SettleError`].
pub fn settle(file: FileJournal, held: Held, cluster: &[Record]) -> Result<Settled, SettleError> {
    let winner = compare(&held.records, cluster);
    let path = file.path().to_owned();
    match winner {
        Winner::Either | Winner::File { .. } => Ok(Settled { file, held, winner, set_aside: None }),
        Winner::Cluster { more } => {
            let mut file = file;
            append_all(&mut file, &cluster[cluster.len() - more..])?;
            let held = Held { records: cluster.to_vec(), torn_bytes: held.torn_bytes };
            Ok(Settled { file, held, winner, set_aside: None })
        }
        Winner::ClusterInstead { common, .. } => {
            let aside = aside(&path, common);
            std::fs::rename(&path, &aside).map_err(|source| JournalError::Io { file: path.clone(), source })?;
            let (file, new) = adopt(&path, cluster)?;
            let held = Held { records: new.records, torn_bytes: held.torn_bytes };
            Ok(Settled { file, held, winner, set_aside: Some(aside) })
        }
        Winner::Neither => Err(SettleError::OtherRun { file: path }),
    }
}

/// A new file with the cluster's records.
///
/// # Errors
/// See [`SettleError`].
pub fn adopt(path: &Path, cluster: &[Record]) -> Result<(FileJournal, Held), SettleError> {
    let mut file = FileJournal::create(path)?;
    append_all(&mut file, cluster)?;
    Ok((file, Held { records: cluster.to_vec(), torn_bytes: 0 }))
}

fn append_all(file: &mut FileJournal, records: &[Record]) -> Result<(), StoreFailed> {
    records.iter().try_for_each(|record| file.append(record))
}

/// `plan.journal.jsonl` → `plan.journal.jsonl.until-12`, and a number more if that is taken.
fn aside(path: &Path, common: usize) -> PathBuf {
    let named = |suffix: String| {
        let mut name = path.as_os_str().to_owned();
        name.push(suffix);
        PathBuf::from(name)
    };
    let first = named(format!(".until-{common}"));
    let others = (2..).map(|number| named(format!(".until-{common}.{number}")));
    std::iter::once(first).chain(others).find(|aside| !aside.exists()).unwrap_or_else(|| path.to_owned())
}

#[cfg(test)]
mod tests;
