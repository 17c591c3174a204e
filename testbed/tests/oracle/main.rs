//! What kube-scheduler itself says, newest version and floor: verdicts that are known beforehand, so that what the model is
//! compared with is itself known to be right.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test that cannot go on has failed")]

mod cluster;
mod placing;
mod preemption;
mod refusals;
mod scores;
mod verdicts;
