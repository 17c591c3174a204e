//! Reads the whole copy: for whoever takes the run up, and for those who only look.

use rehome_model::Digest;
use rehome_model::journal::Record;

use super::head::{self, Head, HeadError};
use super::objects::{HEAD, Objects, ObjectsError, Version};
use crate::journal::{self, ChainError};

/// The copy in the cluster.
#[derive(Clone, Debug)]
pub struct Copied {
    /// The head.
    pub head: Head,
    /// The version of the head's object.
    pub version: Version,
    /// All records.
    pub records: Vec<Record>,
    /// The lines that the head itself carries.
    pub(super) tail: String,
    /// The plan's text.
    pub plan: String,
}

/// A copy that cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum CopyError {
    /// It could not be read.
    #[error(transparent)]
    Objects(#[from] ObjectsError),
    /// The head is none.
    #[error("ConfigMap {HEAD} is no head of a journal: {0}")]
    Head(#[from] HeadError),
    /// An object that the head names is not there.
    #[error("ConfigMap {name} is gone, or does not hold {key:?}")]
    Missing {
        /// The object.
        name: String,
        /// The key.
        key: &'static str,
    },
    /// The records do not follow from each other.
    #[error("the records were changed or damaged: {0}")]
    Chain(#[from] ChainError),
    /// The records are not those that the head means.
    #[error("expected {expected} as the last record, found {found}")]
    Last {
        /// What the head says.
        expected: String,
        /// What is there.
        found: String,
    },
}

/// Reads the copy; `None` when there is no head.
///
/// # Errors
/// It could not be read, or is damaged.
pub fn read(objects: &mut impl Objects) -> Result<Option<Copied>, CopyError> {
    let Some(stored) = objects.get(HEAD)? else { return Ok(None) };
    let head = Head::parse(&stored.data)?;
    let mut lines = String::new();
    for segment in &head.segments {
        lines.push_str(&part(objects, &segment.name, head::JOURNAL)?);
    }
    let missing = || CopyError::Missing { name: HEAD.to_owned(), key: head::JOURNAL };
    let tail = stored.data.get(head::JOURNAL).ok_or_else(missing)?.clone();
    lines.push_str(&tail);
    let records = journal::read(lines.as_bytes())?.records;
    let last = match records.last() {
        Some(record) => Digest::of(record).map_err(|source| ChainError::NotARecord { line: record.seq + 1, source })?,
        None => Digest::zero(),
    };
    if last != head.last || records.len() as u64 != head.next_seq {
        let say = |seq: u64, digest: &Digest| format!("number {seq}, {digest}");
        let (expected, found) = (say(head.next_seq, &head.last), say(records.len() as u64, &last));
        return Err(CopyError::Last { expected, found });
    }
    let mut plan = String::new();
    for name in &head.plan_parts {
        plan.push_str(&part(objects, name, head::PLAN)?);
    }
    Ok(Some(Copied { head, version: stored.version, records, tail, plan }))
}

fn part(objects: &mut impl Objects, name: &str, key: &'static str) -> Result<String, CopyError> {
    let stored = objects.get(name)?;
    let text = stored.and_then(|mut stored| stored.data.remove(key));
    text.ok_or_else(|| CopyError::Missing { name: name.to_owned(), key })
}
