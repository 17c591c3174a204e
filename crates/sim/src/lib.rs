//! crates/sim/src/lib.rs
