//! The rules of the crate on small clusters from JSON.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test that cannot go on fails")]

mod attachments;
mod budgets;
mod cluster;
mod ingest;
mod owners;
mod view;
