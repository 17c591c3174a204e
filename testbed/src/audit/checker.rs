//! Asks every invariant.

use std::fmt;

use rehome_model::Timestamp;

use super::evidence::Evidence;
use super::invariants::INVARIANTS;

/// A broken invariant.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Violation {
    /// The invariant's name.
    pub invariant: &'static str,
    /// When.
    pub at: Timestamp,
    /// What is wrong, with what was expected and what was found.
    pub message: String,
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}: {}", self.at, self.invariant, self.message)
    }
}

/// The violations of all invariants, in the order of time.
#[must_use]
pub fn check(evidence: &Evidence<'_>) -> Vec<Violation> {
    let mut violations: Vec<Violation> = INVARIANTS
        .iter()
        .flat_map(|invariant| {
            (invariant.find)(evidence).into_iter().map(|(at, message)| Violation {
                invariant: invariant.name,
                at,
                message,
            })
        })
        .collect();
    violations.sort_by_key(|violation| (violation.at, violation.invariant));
    violations
}
