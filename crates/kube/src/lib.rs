//! crates/kube/src/lib.rs
