//! The port to a place for small objects: ConfigMaps of one namespace, or the simulator's.

use std::collections::BTreeMap;
use std::fmt;

use rehome_model::{Seconds, Timestamp};

/// The name of the head: one for the cluster, so that two runs at once are seen.
pub const HEAD: &str = "rehome-journal";

/// Small objects that are created, read and swapped. Each call is one request, and none is repeated here.
pub trait Objects {
    /// The time.
    fn now(&self) -> Timestamp;

    /// Lets time go by.
    fn pause(&mut self, time: Seconds);

    /// An object, from a consistent read.
    ///
    /// # Errors
    /// It could not be read.
    fn get(&mut self, name: &str) -> Result<Option<Stored>, ObjectsError>;

    /// Creates an object of a run. All but the head never change.
    ///
    /// # Errors
    /// [`WriteError::Conflict`] when it exists.
    fn create(&mut self, name: &str, run: &str, data: &BTreeMap<String, String>) -> Result<Version, WriteError>;

    /// Writes an object if it is still at this version.
    ///
    /// # Errors
    /// [`WriteError::Conflict`] when it is not.
    fn swap(&mut self, name: &str, at: &Version, data: &BTreeMap<String, String>) -> Result<Version, WriteError>;
}

/// An object as it was read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stored {
    /// Its version.
    pub version: Version,
    /// What it holds.
    pub data: BTreeMap<String, String>,
}

/// Which version of which incarnation: `metadata.uid` and `metadata.resourceVersion`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Version {
    /// The incarnation.
    pub uid: String,
    /// Its version.
    pub resource_version: String,
}

impl fmt::Display for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.resource_version)
    }
}

/// An object that could not be read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ObjectsError {
    /// Asking again can help.
    #[error("no answer: {0}")]
    NoAnswer(String),
    /// It cannot.
    #[error("{0}")]
    Refused(String),
}

/// An object that was not written, or of which that is not known.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum WriteError {
    /// It is at another version, or exists already.
    #[error("it was changed meanwhile")]
    Conflict,
    /// It is gone.
    #[error("it is gone")]
    Gone,
    /// It may have been written.
    #[error("no answer: {0}")]
    NoAnswer(String),
    /// It was not written, and will not be.
    #[error("{0}")]
    Refused(String),
}
