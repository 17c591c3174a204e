//! The simulated world: a cluster in which a plan is rehearsed.
//!
//! [`SimWorld`] is the engine's [`rehome_engine::world::World`] over a simulated clock: an API server ([`api`]), the
//! controllers ([`controllers`]), a scheduler, kubelets driven by a `Behaviour`, and faults ([`fault`]). A clone is a
//! fork: it shares all objects until one of the two changes them. The same view, behaviour, seed and requests give the
//! same history, to the byte.
//!
//! What it does not model is said by each file. It is compared with the real control plane by the contract suite of
//! `testbed/`.

pub mod api;
pub mod audit;
pub mod controllers;
mod event;
mod eviction;
pub mod fault;
mod kubelet;
pub mod measured;
mod outage;
mod placement;
mod random;
pub mod render;
mod scheduler;
mod store;
pub mod world;

pub use fault::{Fault, Faults, When};
pub use world::SimWorld;
