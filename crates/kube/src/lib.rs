//! The real Kubernetes behind the ports: the only crate that knows kube-rs, and async inside only.
//!
//! [`connection`] finds the cluster, [`capture`] takes a snapshot of it, [`access`] asks what we may do, [`world`] is the
//! engine's port to it, and [`config_maps`] is where the journal's copy in the cluster is kept. Requests are written by hand and sent as they are: kube-rs is used for kubeconfigs,
//! credentials, TLS and HTTP, never for bodies (its `EvictParams` of 5.0.0 drop the UID precondition), and never
//! retries a change (its retry layer is off). Nothing here knows what an object means: JSON goes to
//! `rehome_k8s::ingest` as it came.

pub mod access;
mod answer;
pub mod capture;
mod clock;
pub mod config_maps;
pub mod connection;
pub mod interrupt;
mod list;
mod patch;
mod path;
pub mod prometheus;
mod secrecy;
mod send;
mod status;
mod watch;
mod wire;
pub mod world;

pub use connection::{Connection, ConnectionError, ConnectionFlags, Description};
pub use world::KubeWorld;
