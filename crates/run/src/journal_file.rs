//! The journal on disk: one record a line, flushed before the change that it announces, one process at a time.
//!
//! A line that the crash of a process left unfinished was never flushed, so nothing was sent that it announces: it is
//! cut off, and said. Anything else that is wrong with a journal is refused.

use std::fs::{File, OpenOptions, TryLockError};
use std::io::{self, Read as _, Seek as _, SeekFrom, Write as _};
use std::path::{Path, PathBuf};

use rehome_engine::journal::{self, ChainError, JournalStore, StoreFailed};
use rehome_model::journal::Record;

use crate::write::sync_directory;

/// A journal that cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum JournalError {
    /// A new run would overwrite it.
    #[error("{} exists already: a journal is never overwritten", file.display())]
    Exists {
        /// The file.
        file: PathBuf,
    },
    /// Another process writes it.
    #[error("{} is in use by another process", file.display())]
    InUse {
        /// The file.
        file: PathBuf,
    },
    /// The operating system refused.
    #[error("{} cannot be opened", file.display())]
    Io {
        /// The file.
        file: PathBuf,
        /// What it said.
        #[source]
        source: io::Error,
    },
    /// Not a single whole record.
    #[error("{} holds no record", file.display())]
    Empty {
        /// The file.
        file: PathBuf,
    },
    /// A line that is no record, or one that does not follow from the one before it.
    #[error("{} was changed or damaged", file.display())]
    Chain {
        /// The file.
        file: PathBuf,
        /// Where, and what was expected.
        #[source]
        source: ChainError,
    },
}

/// A journal in a file, locked for this process as long as it lives.
#[derive(Debug)]
pub struct FileJournal {
    path: PathBuf,
    file: File,
    /// The length up to which all is flushed.
    length: u64,
    /// Set once a record could not be kept: the chain has an end that nobody may build on before it was read again.
    failed: Option<StoreFailed>,
}

/// What a journal held when it was opened.
#[derive(Debug)]
pub struct Held {
    /// All records.
    pub records: Vec<Record>,
    /// Bytes of an unfinished last line.
    pub torn_bytes: u64,
}

impl FileJournal {
    /// Creates a journal that does not exist yet.
    ///
    /// # Errors
    /// It exists, or it cannot be created and flushed.
    pub fn create(path: &Path) -> Result<Self, JournalError> {
        let file = OpenOptions::new().read(true).write(true).create_new(true).open(path).map_err(|source| {
            let file = path.to_owned();
            match source.kind() {
                io::ErrorKind::AlreadyExists => JournalError::Exists { file },
                _ => JournalError::Io { file, source },
            }
        })?;
        let journal = Self { path: path.to_owned(), file, length: 0, failed: None };
        journal.lock()?;
        journal.file.sync_all().and_then(|()| sync_directory(path)).map_err(|source| journal.io(source))?;
        Ok(journal)
    }

    /// Opens a journal to go on with it. An unfinished last line is cut off.
    ///
    /// # Errors
    /// It is in use, unreadable, or its chain is broken.
    pub fn open(path: &Path) -> Result<(Self, Held), JournalError> {
        let file = OpenOptions::new()
            .read(true)
            .write(true)
            .open(path)
            .map_err(|source| JournalError::Io { file: path.to_owned(), source })?;
        let mut journal = Self { path: path.to_owned(), file, length: 0, failed: None };
        journal.lock()?;
        let mut bytes = Vec::new();
        journal.file.read_to_end(&mut bytes).map_err(|source| journal.io(source))?;
        let held = parse(path, &bytes)?;
        journal.length = bytes.len() as u64 - held.torn_bytes;
        if held.torn_bytes > 0 {
            journal.cut().map_err(|source| journal.io(source))?;
        }
        Ok((journal, held))
    }

    /// Where it is.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    fn lock(&self) -> Result<(), JournalError> {
        self.file.try_lock().map_err(|error| match error {
            TryLockError::WouldBlock => JournalError::InUse { file: self.path.clone() },
            TryLockError::Error(source) => self.io(source),
        })
    }

    fn io(&self, source: io::Error) -> JournalError {
        JournalError::Io { file: self.path.clone(), source }
    }

    fn cut(&mut self) -> io::Result<()> {
        self.file.set_len(self.length)?;
        self.file.sync_all()
    }

    fn write(&mut self, line: &[u8]) -> io::Result<()> {
        self.file.seek(SeekFrom::Start(self.length))?;
        self.file.write_all(line)?;
        self.file.sync_data()
    }
}

impl JournalStore for FileJournal {
    fn append(&mut self, record: &Record) -> Result<(), StoreFailed> {
        if let Some(failed) = &self.failed {
            return Err(failed.clone());
        }
        let failed = |path: &Path, error: &dyn std::fmt::Display| StoreFailed::Unwritable {
            message: format!("{}: {error}", path.display()),
        };
        let line = journal::line(record).map_err(|error| failed(&self.path, &error))?;
        match self.write(line.as_bytes()) {
            Ok(()) => {
                self.length += line.len() as u64;
                Ok(())
            }
            Err(error) => {
                let failed = failed(&self.path, &error);
                // What was written of the line announces nothing. If it cannot be cut off now, it is a torn tail, or
                // a record without an effect, when the journal is opened again.
                let _ = self.cut();
                self.failed = Some(failed.clone());
                Err(failed)
            }
        }
    }
}

/// Reads a journal without locking or mending it: for those who only look.
///
/// # Errors
/// It is unreadable, or its chain is broken.
pub fn read(path: &Path) -> Result<Held, JournalError> {
    let bytes = std::fs::read(path).map_err(|source| JournalError::Io { file: path.to_owned(), source })?;
    parse(path, &bytes)
}

fn parse(path: &Path, bytes: &[u8]) -> Result<Held, JournalError> {
    let read = journal::read(bytes).map_err(|source| JournalError::Chain { file: path.to_owned(), source })?;
    if read.records.is_empty() {
        return Err(JournalError::Empty { file: path.to_owned() });
    }
    Ok(Held { records: read.records, torn_bytes: read.torn_bytes })
}
