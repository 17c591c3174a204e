//! The machine that carries out a plan.
//!
//! It does no I/O and has no clock: [`machine::Machine`] is a fold over journal records that says what comes next;
//! [`drive::drive`] is the one loop that carries that out against a [`world::World`], simulated or real, and a
//! [`journal::JournalStore`]. Rehearsal and execution are this same loop.
//!
//! The rule that everything else rests on: a record that announces a request is on stable storage before the request
//! is sent, and nothing that the cluster was asked to do is ever taken as done because no error came.

pub mod cluster_journal;
pub mod condition;
mod drift;
pub mod drive;
pub mod journal;
mod limits;
pub mod machine;
mod order;
pub mod preflight;
pub mod world;
pub mod zombie;

mod state;
mod undo;
mod verbs;
