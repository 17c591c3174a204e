//! testbed/src/lib.rs
