//! Whole moves in the simulated world, judged by the same audit checker as those on the real control plane.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::print_stdout,
    reason = "a test that cannot go on has failed"
)]

mod beside;
mod drift;
mod fail;
mod moved;
mod saboteurs;
mod scenario;
mod six_to_six;
mod storm;
mod sweep;
mod zombie;
