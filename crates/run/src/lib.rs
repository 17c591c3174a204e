//! The use cases of rehome as functions: read, rehearse, execute, resume, roll back, verify.
//!
//! This crate joins the planner, the engine and a world. It knows files and no terminal: what a person sees is the
//! command line's concern, and so are the clock and the environment.

pub mod access;
pub mod carry_out;
pub mod critical_path;
pub mod journal_file;
pub mod mirrored;
pub mod peaks;
pub mod rbac;
pub mod read;
pub mod rehearse;
pub mod simulated;
pub mod status;
pub mod verify;
pub mod write;
