//! The head: which run, who holds it, since when, and where its records are.

use std::collections::BTreeMap;
use std::fmt;

use rehome_model::journal::{Event, Verdict};
use rehome_model::request::{LANDING_MARGIN, REQUEST_TIMEOUT};
use rehome_model::{Digest, Seconds, Timestamp};
use serde::{Deserialize, Serialize};

/// How long a holder may be silent before somebody else may begin to wait for the run.
/// The value is client-go's for leader election (`tools/leaderelection`, `LeaseDuration` of the control plane's own).
pub const LEASE: Seconds = Seconds::new(15);

/// How often a holder that has nothing to say writes the head: three times in a lease.
pub(super) const RENEW: Seconds = Seconds::new(5);

/// How long a head must stay as it is, watched by the one who wants the run: only then is a request that the silent
/// holder sent last sure to have landed or not.
#[must_use]
pub fn takeover_after() -> Seconds {
    LEASE + REQUEST_TIMEOUT + LANDING_MARGIN
}

/// The key of the head's JSON.
const HEAD_KEY: &str = "head";
/// The key of records, in the head and in segments.
pub(super) const JOURNAL: &str = "journal";
/// The key of a part of the plan.
pub(super) const PLAN: &str = "plan";

/// The head of the journal in the cluster.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Head {
    /// The format.
    pub api_version: String,
    /// One more each time that somebody takes the run.
    pub epoch: u64,
    /// Who holds the run, or held it last.
    pub holder: Holder,
    /// When the holder wrote this, by its own clock: for people. Nothing is decided by it.
    pub renewed: Timestamp,
    /// Why the holder let go of the run; none while it is held.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub released: Option<Release>,
    /// The run.
    pub run: String,
    /// Its plan.
    pub plan: Digest,
    /// The objects that hold the plan's text, in order.
    pub plan_parts: Vec<String>,
    /// The number of the next record.
    pub next_seq: u64,
    /// The digest of the last record.
    pub last: Digest,
    /// The objects that hold records, in order; those after them are in the head itself.
    pub segments: Vec<Segment>,
}

/// An object with records.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Segment {
    /// Its name.
    pub name: String,
    /// How long its text is.
    pub bytes: u64,
}

/// A process that holds a run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Holder {
    /// A random name of the process.
    pub id: String,
    /// The machine's host name.
    pub host: String,
    /// The process on it.
    pub pid: u32,
    /// Which file on that machine it writes (device and inode), if any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub file: Option<String>,
}

impl fmt::Display for Holder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "process {} on {}", self.pid, self.host)
    }
}

/// Why a run is held by nobody.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Release {
    /// Somebody asked to stop.
    Interrupted,
    /// It cannot go on without a person.
    Stuck,
    /// It is done.
    Done,
    /// It was rolled back.
    RolledBack,
}

impl Release {
    /// Whether a record is the last that a process writes.
    pub(super) fn of(event: &Event) -> Option<Self> {
        match event {
            Event::Interrupted {} => Some(Self::Interrupted),
            Event::Stuck { .. } => Some(Self::Stuck),
            Event::Finished { verdict: Verdict::Done } => Some(Self::Done),
            Event::Finished { verdict: Verdict::RolledBack } => Some(Self::RolledBack),
            _ => None,
        }
    }

    /// Whether nothing of the run is left to do.
    #[must_use]
    pub fn ended(self) -> bool {
        matches!(self, Self::Done | Self::RolledBack)
    }
}

impl fmt::Display for Release {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Interrupted => "interrupted",
            Self::Stuck => "stuck",
            Self::Done => "done",
            Self::RolledBack => "rolled back",
        })
    }
}

/// A head that cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum HeadError {
    /// It has no JSON.
    #[error("the key {HEAD_KEY:?} is missing")]
    Missing,
    /// Its JSON is none of ours.
    #[error("{0}")]
    Json(#[from] serde_json::Error),
    /// A name in it that can be none: it ends up in paths and on terminals, and whoever may write ConfigMaps wrote it.
    #[error("{0:?} is no name")]
    Name(String),
    /// It was written by a version with another format.
    #[error("expected apiVersion {expected}, found {found}")]
    Format {
        /// What this version reads.
        expected: &'static str,
        /// What it says.
        found: String,
    },
}

impl Head {
    /// The head in the data of an object.
    ///
    /// # Errors
    /// It is missing, or none that this version reads.
    pub fn parse(data: &BTreeMap<String, String>) -> Result<Self, HeadError> {
        let head: Self = serde_json::from_str(data.get(HEAD_KEY).ok_or(HeadError::Missing)?)?;
        let expected = rehome_model::document::API_VERSION;
        if head.api_version != expected {
            return Err(HeadError::Format { expected, found: head.api_version });
        }
        let names = [&head.run, &head.holder.id, &head.holder.host];
        let parts = head.plan_parts.iter().chain(head.segments.iter().map(|segment| &segment.name));
        let other = names.into_iter().chain(parts).find(|name| !is_name(name)).cloned();
        match other {
            Some(name) => Err(HeadError::Name(name)),
            None => Ok(head),
        }
    }

    /// The data of the head's object with the lines of records that it carries.
    pub(super) fn data(&self, lines: &str) -> Result<BTreeMap<String, String>, serde_json::Error> {
        let head = serde_json::to_string_pretty(self)?;
        Ok([(HEAD_KEY.to_owned(), head), (JOURNAL.to_owned(), lines.to_owned())].into())
    }

    /// The name of the next segment. The epoch is in it, so that two holders never write the same.
    pub(super) fn segment_name(&self) -> String {
        format!("rehome-{}-journal-{}-{}", self.run, self.epoch, self.segments.len())
    }
}

/// What a name of a host, a run or an object is made of.
fn is_name(text: &str) -> bool {
    let fits = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'.' | b'_');
    !text.is_empty() && text.bytes().all(fits) && !text.starts_with('.')
}
