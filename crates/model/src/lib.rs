//! The documents of rehome and the vocabulary they share.
//!
//! Everything that rehome makes is a document made from documents: a [`snapshot::Snapshot`] of a cluster and an
//! [`intent::Intent`] give a [`plan::Plan`]; a person's [`approval::Approval`] of it lets the engine write a
//! [`journal::Record`] for each thing it does; two snapshots give a [`verification::Verification`].
//!
//! This crate knows no Kubernetes API types, does no I/O, has no clock and no async. Names of Kubernetes things are
//! plain text here; what they mean is in `rehome-k8s`.

pub mod approval;
pub mod behaviour;
pub mod canonical;
pub mod check;
pub mod condition;
pub mod digest;
pub mod document;
pub mod exit;
pub mod fidelity;
pub mod finding;
pub mod flavor;
pub mod intent;
pub mod journal;
pub mod known;
pub mod plan;
pub mod reference;
pub mod rehearsal;
pub mod request;
pub mod sizing;
pub mod snapshot;
pub mod time;
pub mod verb;
pub mod verification;

pub use digest::Digest;
pub use known::Known;
pub use reference::{ObjectRef, Uid};
pub use time::{Seconds, Timestamp};
