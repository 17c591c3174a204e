//! Where records are kept. The file itself is `rehome-run`'s concern; the chain is checked here.

use rehome_model::journal::Record;
use rehome_model::{Digest, Timestamp};

/// A store of records that survives the process.
pub trait JournalStore {
    /// Appends a record, and returns only when it is on stable storage.
    ///
    /// # Errors
    /// It could not be written in full and flushed; then nothing may be sent that it announces.
    fn append(&mut self, record: &Record) -> Result<(), StoreFailed>;

    /// Gives a sign of life if one is due, and says when the next is; none where nobody waits for one.
    ///
    /// # Errors
    /// As [`append`](Self::append): the run may have been taken over.
    fn keep_alive(&mut self, now: Timestamp) -> Result<Option<Timestamp>, StoreFailed> {
        let _ = now;
        Ok(None)
    }
}

/// A record that could not be kept: nothing may be sent after it.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum StoreFailed {
    /// It could not be written.
    #[error("the journal could not be written: {message}")]
    Unwritable {
        /// What went wrong: a full disk, say.
        message: String,
    },
    /// Another process holds the run now.
    #[error("run {run} was taken over by {by}")]
    Superseded {
        /// Who holds it.
        by: String,
        /// The run that it holds.
        run: String,
    },
}

impl JournalStore for Vec<Record> {
    fn append(&mut self, record: &Record) -> Result<(), StoreFailed> {
        self.push(record.clone());
        Ok(())
    }
}

/// The records of a journal's text, and how many bytes of an unfinished last line follow them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Read {
    /// Whole records, in order.
    pub records: Vec<Record>,
    /// Bytes that are a part of a record: the process was killed while it wrote.
    pub torn_bytes: u64,
    /// Bytes of whole records.
    pub whole_bytes: u64,
}

/// A journal that was changed or damaged.
#[derive(Debug, thiserror::Error)]
pub enum ChainError {
    /// A line that is no record, and is not the last one.
    #[error("line {line} is no record: {source}")]
    NotARecord {
        /// The line, from 1.
        line: u64,
        /// What is wrong with it.
        #[source]
        source: serde_json::Error,
    },
    /// A record that does not name the one before.
    #[error("record {seq} does not follow from the one before: expected {expected}, found {found}")]
    Broken {
        /// The record.
        seq: u64,
        /// The digest, or the number, that should be there.
        expected: String,
        /// What is there.
        found: String,
    },
}

/// Reads a journal and checks its chain. A last line without its line break is a torn tail, whatever it holds: the line
/// break is written with the record, so without it the flush had not returned, and nothing was sent.
///
/// # Errors
/// A line in the middle that is no record, or a chain that is broken.
pub fn read(text: &[u8]) -> Result<Read, ChainError> {
    let mut read = Read::default();
    let mut prev = Digest::zero();
    let whole = text.iter().rposition(|byte| *byte == b'\n').map_or(0, |end| end + 1);
    read.torn_bytes = (text.len() - whole) as u64;
    read.whole_bytes = whole as u64;
    for (index, line) in text[..whole].split_inclusive(|byte| *byte == b'\n').enumerate() {
        let not_a_record = |source| ChainError::NotARecord { line: index as u64 + 1, source };
        // Generic first: the digest covers fields that this build does not know.
        let value: serde_json::Value = serde_json::from_slice(line).map_err(not_a_record)?;
        let record: Record = serde_json::from_value(value.clone()).map_err(not_a_record)?;
        let broken = |expected: String, found: String| ChainError::Broken { seq: record.seq, expected, found };
        if record.seq != index as u64 {
            return Err(broken(format!("number {index}"), record.seq.to_string()));
        }
        if record.prev != prev {
            return Err(broken(prev.to_string(), record.prev.to_string()));
        }
        prev = Digest::of(&value).map_err(not_a_record)?;
        read.records.push(record);
    }
    Ok(read)
}

/// A record as a line of a journal, its line break included.
///
/// # Errors
/// It cannot be represented as JSON.
pub fn line(record: &Record) -> Result<String, serde_json::Error> {
    let mut line = serde_json::to_string(record)?;
    line.push('\n');
    Ok(line)
}
