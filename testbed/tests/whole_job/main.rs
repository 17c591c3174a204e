//! The whole job on the real control plane, through the built program: capture, check, plan, rehearse, execute, verify;
//! and the same cluster drained node by node with kubectl, for comparison.
//!
//! These tests break their clusters, so each starts a control plane of its own.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::print_stdout,
    reason = "a test that cannot go on has failed"
)]

mod cluster;
mod compared;
mod counted;
mod drained;
mod killed;
mod moved;
mod program;
mod table;
