//! What must hold of every run. Each file holds one invariant; its name is the file's, with dashes.

mod attempts_do_not_overlap;
mod every_deletion_is_accounted_for;
mod lineage_moves_once;
mod log_is_not_empty;
mod never_below_budget;
mod right_incarnation;
mod written_before_sent;

#[cfg(test)]
pub(super) mod cases;

use rehome_model::Timestamp;

use super::evidence::Evidence;

/// One invariant.
#[derive(Clone, Copy, Debug)]
pub struct Invariant {
    /// The name by which reports and tests call it.
    pub name: &'static str,
    /// Finds violations: when, and what is wrong.
    pub find: fn(&Evidence<'_>) -> Vec<Found>,
}

/// When something was wrong, and what.
pub type Found = (Timestamp, String);

/// All invariants.
pub const INVARIANTS: &[Invariant] = &[
    Invariant { name: "log-is-not-empty", find: log_is_not_empty::find },
    Invariant { name: "written-before-sent", find: written_before_sent::find },
    Invariant { name: "attempts-do-not-overlap", find: attempts_do_not_overlap::find },
    Invariant { name: "right-incarnation", find: right_incarnation::find },
    Invariant { name: "every-deletion-is-accounted-for", find: every_deletion_is_accounted_for::find },
    Invariant { name: "lineage-moves-once", find: lineage_moves_once::find },
    Invariant { name: "never-below-budget", find: never_below_budget::find },
];
