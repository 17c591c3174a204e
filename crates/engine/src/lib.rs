//! crates/engine/src/lib.rs
