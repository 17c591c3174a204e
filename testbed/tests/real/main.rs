//! Tests on the real control plane, in one binary, so that all of them share one: each has its own namespace, nodes
//! and identity.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test that cannot go on has failed")]
#![allow(clippy::print_stdout, reason = "a test tells what it measured")]

mod adapter;
mod behaviour;
mod checker;
mod eviction;
mod forced;
mod lifetime;
mod saboteurs;
mod sampled;
mod scenario;
mod workload;
