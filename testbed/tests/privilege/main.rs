//! Least privilege, secrets, signals and the terminal: the built program on the real control plane.
//!
//! All share one control plane, whose audit log also has what the program reads, and take turns: a move fences nodes,
//! and a capture shows all of them.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::print_stdout,
    reason = "a test that cannot go on has failed"
)]

mod credentials;
mod least;
mod missing;
mod place;
mod planted;
#[path = "../whole_job/program.rs"]
mod program;
mod rights;
mod shown;
mod signals;
mod terminal;
