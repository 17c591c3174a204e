//! The filters one by one, in small clusters, and the choice of a node.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test that cannot go on fails")]

mod asking;
mod cluster;
mod node_filters;
mod placing;
mod spread_and_affinity;
mod volume_filters;
