//! What a check complains about. One form for tidy and boundaries, so that every complaint names a file and a cure.

use std::fmt;

/// One thing that is not as it should be.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Complaint {
    /// The file, from the root of the workspace; or the package.
    pub(crate) place: String,
    /// The line, where there is one.
    pub(crate) line: Option<usize>,
    /// What is wrong, and what would be right.
    pub(crate) message: String,
}

impl Complaint {
    /// About a whole file or package.
    pub(crate) fn about(place: impl Into<String>, message: impl Into<String>) -> Self {
        Self { place: place.into(), line: None, message: message.into() }
    }

    /// About one line of a file, counted from 1.
    pub(crate) fn at(place: impl Into<String>, line: usize, message: impl Into<String>) -> Self {
        Self { place: place.into(), line: Some(line), message: message.into() }
    }
}

impl fmt::Display for Complaint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.line {
            Some(line) => write!(f, "{}:{line}: {}", self.place, self.message),
            None => write!(f, "{}: {}", self.place, self.message),
        }
    }
}
