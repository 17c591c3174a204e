//! Two actors on one cluster, and a run that goes on elsewhere: another process or machine, a person with kubectl, a
//! controller that reverts what we write. The built program on the real control plane.
//!
//! All share one control plane and take turns: there is one journal in a cluster.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::print_stdout,
    reason = "a test that cannot go on has failed"
)]

mod at_once;
mod elsewhere;
mod frozen;
mod meddling;
#[path = "../privilege/place.rs"]
mod place;
#[path = "../privilege/planted.rs"]
mod planted;
#[path = "../whole_job/program.rs"]
mod program;
mod run;
