//! The model of kube-scheduler: would it put this pod on this node, and which node would it take?
//!
//! Filters and scores are those of the default profile of a named minor, in its order and in its own words, so that a
//! forecast and an event can be compared word by word. That the answers are the same is not claimed but measured: an
//! oracle on kube-scheduler's own packages judges random clusters beside it (`cargo xtask fidelity`).
//!
//! **Not modelled**: DynamicResources (claims of devices), scheduling gates and groups, extenders and profiles other than
//! the default one, and in-tree volumes that a CSI driver took over. A kind that could not be read (a gap of the view)
//! rejects nothing. What is left to chance (ties, sampling in large clusters) takes a seed: one seed is no prediction.

mod chance;
mod cycle;
mod drain;
mod filter;
mod intern;
mod judge;
mod model;
mod place;
mod preempt;
mod profile;
mod score;
mod verdict;

pub use chance::{Chance, Sampling};
pub use drain::WhatIf;
pub use judge::{Judgement, NodeJudgement, fit_error_message};
pub use model::Model;
pub use place::Unschedulable;
pub use preempt::Preemption;
pub use profile::{Minor, Profile};
pub use verdict::Among;

/// Why a node does not take a pod.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Rejection {
    /// The plugin that rejects: `NodeResourcesFit`.
    pub plugin: &'static str,
    /// The scheduler's words, as in the message of an event: `Insufficient cpu`.
    pub reasons: Vec<String>,
}
