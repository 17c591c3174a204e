//! Writes documents so that a file is either the old one or the new one, whole.

use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use rehome_model::document::{self, Document};

/// A file that could not be written. What stood there before still stands there.
#[derive(Debug, thiserror::Error)]
#[error("{} could not be written; what was there before is unchanged", file.display())]
pub struct WriteError {
    /// The file.
    pub file: PathBuf,
    /// What went wrong: a full disk, say.
    #[source]
    pub source: io::Error,
}

/// Writes a document as JSON.
///
/// # Errors
/// See [`WriteError`].
pub fn document<D: Document>(file: &Path, document: &D) -> Result<(), WriteError> {
    let text = document::to_pretty(document)
        .map_err(|error| WriteError { file: file.to_owned(), source: io::Error::other(error) })?;
    text_file(file, &text)
}

/// Writes text: into a new file beside it, flushed, then renamed.
///
/// # Errors
/// See [`WriteError`].
pub fn text_file(file: &Path, text: &str) -> Result<(), WriteError> {
    atomically(file, text.as_bytes()).map_err(|source| WriteError { file: file.to_owned(), source })
}

fn atomically(file: &Path, bytes: &[u8]) -> io::Result<()> {
    // A device or a pipe (`/dev/stdout`, `/dev/full`) cannot be replaced: it is written to.
    if std::fs::metadata(file).is_ok_and(|metadata| !metadata.is_file() && !metadata.is_dir()) {
        let mut device = std::fs::OpenOptions::new().write(true).open(file)?;
        device.write_all(bytes)?;
        return device.flush();
    }
    let Some(name) = file.file_name() else {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, "it names no file"));
    };
    let mut temporary_name = std::ffi::OsString::from(".");
    temporary_name.push(name);
    temporary_name.push(format!(".{}.new", std::process::id()));
    let temporary = file.with_file_name(temporary_name);
    let written = write_new(&temporary, bytes).and_then(|()| std::fs::rename(&temporary, file));
    if written.is_err() {
        // The error that matters is the one above; the file may not even exist.
        let _ = std::fs::remove_file(&temporary);
        return written;
    }
    sync_directory(file)
}

fn write_new(file: &Path, bytes: &[u8]) -> io::Result<()> {
    let mut new = std::fs::File::create(file)?;
    new.write_all(bytes)?;
    new.sync_all()
}

/// Makes a new name in a directory survive a crash. Source: fsync(2), "does not necessarily ensure that the entry in
/// the directory containing the file has also reached disk".
pub(crate) fn sync_directory(file: &Path) -> io::Result<()> {
    let directory = match file.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    };
    std::fs::File::open(directory)?.sync_all()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_full_disk_is_an_error_and_leaves_nothing_half_written() {
        let error = text_file(Path::new("/dev/full"), "text").unwrap_err();
        assert_eq!(error.source.kind(), io::ErrorKind::StorageFull, "{error:?}");
    }

    #[test]
    fn a_file_is_replaced_whole_and_no_other_file_stays() {
        let directory = tempfile::tempdir().unwrap();
        let file = directory.path().join("plan.json");
        text_file(&file, "a").unwrap();
        text_file(&file, "b").unwrap();
        assert_eq!(std::fs::read_to_string(&file).unwrap(), "b");
        assert_eq!(std::fs::read_dir(directory.path()).unwrap().count(), 1);
    }

    #[test]
    fn a_directory_that_is_not_there_is_named() {
        let error = text_file(Path::new("no/such/plan.json"), "a").unwrap_err();
        assert!(error.to_string().contains("no/such/plan.json"), "{error}");
    }
}
