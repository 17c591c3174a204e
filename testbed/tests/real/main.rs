//! Tests on the real control plane, in one binary, so that all of them share one: each has its own namespace, nodes
//! and identity.

mod eviction;
mod lifetime;
mod workload;
