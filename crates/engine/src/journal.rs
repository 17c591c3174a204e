//! Where records are kept. The file itself is `rehome-run`'s concern; the chain is checked here.

use rehome_model::journal::Record;

/// A store of records that survives the process.
pub trait JournalStore {
    /// Appends a record, and returns only when it is on stable storage.
    ///
    /// # Errors
    /// It could not be written in full and flushed; then nothing may be sent that it announces.
    fn append(&mut self, record: &Record) -> Result<(), StoreFailed>;
}

/// A record that could not be kept.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the journal could not be written: {message}")]
pub struct StoreFailed {
    /// What went wrong: a full disk, say.
    pub message: String,
}

impl JournalStore for Vec<Record> {
    fn append(&mut self, record: &Record) -> Result<(), StoreFailed> {
        self.push(record.clone());
        Ok(())
    }
}
