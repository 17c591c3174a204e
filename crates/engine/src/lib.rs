//! The machine that carries out a plan.
//!
//! It does no I/O and has no clock: [`machine::Machine`] is a fold over journal records that says what comes next;
//! [`drive::drive`] is the one loop that carries that out against a [`world::World`], simulated or real, and a
//! [`journal::JournalStore`]. Rehearsal and execution are this same loop.

pub mod drive;
pub mod journal;
pub mod world;
