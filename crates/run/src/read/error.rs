//! Why a file is not what rehome can read: always with the file, and with the place in it where that is known.

use std::fmt;
use std::path::PathBuf;

/// A place in a file, both counted from one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Position {
    /// The line.
    pub line: usize,
    /// The column; 0 where only the line is known.
    pub column: usize,
}

impl fmt::Display for Position {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self { line, column: 0 } => write!(f, "line {line}"),
            Self { line, column } => write!(f, "line {line}, column {column}"),
        }
    }
}

/// A file or directory that could not be read as a cluster or as a document.
#[derive(Debug, thiserror::Error)]
#[error("{}{}", file.display(), Place(*at))]
pub struct ReadError {
    /// The file.
    pub file: PathBuf,
    /// Where in it.
    pub at: Option<Position>,
    /// What is wrong.
    #[source]
    pub fault: Box<Fault>,
}

struct Place(Option<Position>);

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Some(position) => write!(f, ", {position}"),
            None => Ok(()),
        }
    }
}

/// What is wrong with a file.
#[derive(Debug, thiserror::Error)]
pub enum Fault {
    /// There is no such file or directory.
    #[error("there is no such file or directory")]
    NotFound,
    /// The operating system refused.
    #[error("it cannot be read: {0}")]
    Io(#[source] std::io::Error),
    /// A directory without a single JSON or YAML file.
    #[error("the directory holds no .json, .yaml or .yml file")]
    EmptyDirectory,
    /// Nothing but white space.
    #[error("the file is empty")]
    EmptyFile,
    /// Not text.
    #[error("expected UTF-8 text, found another encoding from byte {byte} on")]
    NotUtf8 {
        /// The offset of the first byte that is no UTF-8.
        byte: usize,
    },
    /// The text ends in the middle of a value.
    #[error("the file is cut short: {detail}")]
    Cut {
        /// What is missing.
        detail: String,
    },
    /// Neither JSON nor YAML.
    #[error("expected {expected}, but {detail}")]
    Syntax {
        /// The format that was tried.
        expected: &'static str,
        /// What the parser says.
        detail: String,
    },
    /// A text that grows beyond all measure, by aliases or by nesting.
    #[error("the YAML exceeds a limit: {detail}")]
    Limit {
        /// Which limit.
        detail: String,
    },
    /// Well-formed, but nothing that Kubernetes has.
    #[error("expected a Kubernetes object with apiVersion, kind and metadata.name, found {found}")]
    NotAnObject {
        /// What it is.
        found: String,
    },
    /// A kind that rehome reads, in a version of its group that it does not know.
    #[error("{kind} {name:?}: expected apiVersion {expected}, found {found}")]
    UnknownVersion {
        /// The kind.
        kind: &'static str,
        /// The object's name.
        name: String,
        /// The version that this build reads.
        expected: String,
        /// The version in the file.
        found: String,
    },
    /// A field of an object has another type than the API has.
    #[error(transparent)]
    Ingest(#[from] rehome_k8s::ingest::IngestError),
    /// A document of rehome that is not the one asked for, or not valid.
    #[error(transparent)]
    Document(#[from] rehome_model::document::ReadError),
    /// A Snapshot beside other files: one of both is meant.
    #[error("a Snapshot stands beside other objects: name the Snapshot alone, or leave it out")]
    SnapshotAmongObjects,
}

impl Fault {
    /// The fault at a place in a file.
    pub(crate) fn at(self, file: impl Into<PathBuf>, at: Option<Position>) -> ReadError {
        ReadError { file: file.into(), at, fault: Box::new(self) }
    }
}
