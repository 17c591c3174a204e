//! crates/run/src/lib.rs
