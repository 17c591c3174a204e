//! A Snapshot from files: one of rehome's own, or what `kubectl get … -o json|yaml` wrote, alone, in a List, in several
//! YAML documents, or in a directory.
//!
//! A kind of which the files hold nothing is a gap and not "none". What the result holds never depends on when it was
//! read: its time is the newest one that the files name.

mod collect;
pub mod document;
pub mod error;
mod kept;
mod outer;
mod text;
mod version;

use std::path::{Path, PathBuf};

use rehome_k8s::View;
use rehome_model::Digest;
use rehome_model::snapshot::Snapshot;

pub use collect::Note;
pub use error::{Fault, Position, ReadError};

use collect::Collector;

/// How deep directories are searched: deeper than any dump of a cluster that is laid out by group, namespace and kind.
const DIRECTORY_DEPTH: usize = 16;

/// A snapshot with its digest, its view, and what a person should know about how it was read.
#[derive(Debug)]
pub struct Loaded {
    /// The snapshot.
    pub snapshot: Snapshot,
    /// Its digest.
    pub digest: Digest,
    /// What it means.
    pub view: View,
    /// What was left out, and which of two was taken.
    pub notes: Vec<Note>,
}

/// Reads a file or a directory.
///
/// # Errors
/// See [`ReadError`].
pub fn path(path: &Path) -> Result<Loaded, ReadError> {
    let metadata = fs_err::metadata(path).map_err(|error| io(path, error))?;
    let name = name(path);
    if !metadata.is_dir() {
        let bytes = fs_err::read(path).map_err(|error| io(path, error))?;
        let mut collector = Collector::new(name);
        let snapshot = collector.add(path, &bytes)?;
        // A capture is large, and so is its view: one goes before the other comes.
        drop(bytes);
        return of(path, collector, snapshot);
    }
    let mut files = Vec::new();
    list(path, 0, &mut files)?;
    if files.is_empty() {
        return Err(Fault::EmptyDirectory.at(path, None));
    }
    let mut collector = Collector::new(name);
    for file in &files {
        let bytes = fs_err::read(file).map_err(|error| io(file, error))?;
        if collector.add(file, &bytes)?.is_some() {
            return Err(Fault::SnapshotAmongObjects.at(file, None));
        }
    }
    collector.finish(path)
}

/// What the cluster of a file or directory is called: `cluster` stands for the directory that it is in.
fn name(path: &Path) -> Option<String> {
    let stem = path.file_stem().map(|stem| stem.to_string_lossy().into_owned())?;
    let parent = path.parent().and_then(Path::file_name).map(|parent| parent.to_string_lossy().into_owned());
    if stem == "cluster" { parent.or(Some(stem)) } else { Some(stem) }
}

/// Reads text that did not come from a named file (standard input).
///
/// # Errors
/// See [`ReadError`].
pub fn bytes(origin: &Path, bytes: &[u8]) -> Result<Loaded, ReadError> {
    let mut collector = Collector::new(None);
    let snapshot = collector.add(origin, bytes)?;
    of(origin, collector, snapshot)
}

/// A snapshot that was taken just now, as if it had been read.
///
/// # Errors
/// An object of it cannot be decoded.
pub fn captured(snapshot: Snapshot) -> Result<Loaded, ReadError> {
    collect::loaded(Path::new("the cluster"), snapshot, Vec::new())
}

fn of(origin: &Path, collector: Collector, snapshot: Option<Snapshot>) -> Result<Loaded, ReadError> {
    match snapshot {
        Some(snapshot) => collect::loaded(origin, snapshot, Vec::new()),
        None => collector.finish(origin),
    }
}

/// The JSON and YAML files below a directory, by name; hidden ones and links to directories are left out.
fn list(directory: &Path, depth: usize, files: &mut Vec<PathBuf>) -> Result<(), ReadError> {
    let mut entries = Vec::new();
    for entry in fs_err::read_dir(directory).map_err(|error| io(directory, error))? {
        let entry = entry.map_err(|error| io(directory, error))?;
        let kind = entry.file_type().map_err(|error| io(directory, error))?;
        entries.push((entry.path(), kind));
    }
    entries.sort_by(|(a, _), (b, _)| a.cmp(b));
    for (path, kind) in entries {
        let hidden = path.file_name().is_some_and(|name| name.to_string_lossy().starts_with('.'));
        if hidden {
            continue;
        }
        if kind.is_dir() {
            if depth < DIRECTORY_DEPTH {
                list(&path, depth + 1, files)?;
            }
        } else if path.extension().is_some_and(|ext| matches!(ext.to_str(), Some("json" | "yaml" | "yml"))) {
            files.push(path);
        }
    }
    Ok(())
}

pub(crate) fn io(path: &Path, error: std::io::Error) -> ReadError {
    let fault = if error.kind() == std::io::ErrorKind::NotFound { Fault::NotFound } else { Fault::Io(error) };
    fault.at(path, None)
}
