//! `cargo xtask tidy`: rules about the tree that neither the compiler nor clippy can hold. One check per file.
//!
//! A check is a pure function of the tracked files, so each has a test that it fires and one that it stays silent.

use crate::complaint::Complaint;
use crate::workspace::Tree;

mod catalogue;
mod exit_codes;
mod format;
mod machine_paths;
mod module_docs;
mod pure;
mod size;
mod unfinished;

/// One check.
pub(crate) struct Check {
    /// Its name, as in its file.
    pub(crate) name: &'static str,
    /// Gives all complaints about the tree.
    pub(crate) run: fn(&Tree) -> Vec<Complaint>,
}

/// All checks, in the order in which they run.
pub(crate) const CHECKS: &[Check] = &[
    Check { name: "size", run: size::check },
    Check { name: "module_docs", run: module_docs::check },
    Check { name: "catalogue", run: catalogue::check },
    Check { name: "exit_codes", run: exit_codes::check },
    Check { name: "pure", run: pure::check },
    Check { name: "unfinished", run: unfinished::check },
    Check { name: "machine_paths", run: machine_paths::check },
    Check { name: "format", run: format::check },
];
