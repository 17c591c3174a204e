//! crates/sched/src/lib.rs
