//! What people complain of in other tools, one test for each complaint, named by its number: the same set-up twice on the
//! real control plane, once for `kubectl drain` and once for rehome.
//!
//! What both did is the table `docs/drain-comparison.md` (see `table`). All tests share one control plane; each has its
//! own namespaces and nodes, and rehome sees no others ([`rehome`]), because a run fences what it does not own.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test that cannot go on has failed")]

mod audited;
mod availability;
mod budgets;
mod catalogue;
mod churn;
mod drain;
mod home;
mod identity;
mod objects;
mod rehome;
mod state;
mod table;
mod volumes;
