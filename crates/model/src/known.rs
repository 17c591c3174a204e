//! What is known, and what is not because its source is missing.

use crate::snapshot::Gap;

/// A fact, or the gap in the capture that keeps it from being known.
///
/// "None" is never guessed: a capture without PodDisruptionBudgets does not say that there are none.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Known<T> {
    /// The source was read, and this is what it says.
    Known(T),
    /// The source could not be read.
    Unknown(Gap),
}

impl<T> Known<T> {
    /// Applies a function to the fact, if it is known.
    pub fn map<U>(self, f: impl FnOnce(T) -> U) -> Known<U> {
        match self {
            Known::Known(value) => Known::Known(f(value)),
            Known::Unknown(gap) => Known::Unknown(gap),
        }
    }

    /// The fact, if it is known.
    pub fn known(self) -> Option<T> {
        match self {
            Known::Known(value) => Some(value),
            Known::Unknown(_) => None,
        }
    }

    /// The same, by reference.
    pub fn as_ref(&self) -> Known<&T> {
        match self {
            Known::Known(value) => Known::Known(value),
            Known::Unknown(gap) => Known::Unknown(gap.clone()),
        }
    }
}
