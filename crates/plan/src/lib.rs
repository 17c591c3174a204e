//! crates/plan/src/lib.rs
