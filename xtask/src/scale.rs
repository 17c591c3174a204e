//! `cargo xtask scale`: a large cluster moved on the real control plane. What is measured, the testbed knows.

use std::path::Path;

use crate::workspace::{WorkspaceError, cargo};

/// Builds the program and what measures it, and runs that. Gives back whether it could be measured; a target that is not
/// met is in the table, and no failure.
///
/// # Errors
/// Fails when cargo cannot be run.
pub(crate) fn main(root: &Path, arguments: &[&str]) -> Result<bool, WorkspaceError> {
    let calls: [&[&str]; 2] = [
        &["build", "--release", "--quiet", "--package", "rehome"],
        &["run", "--release", "--quiet", "--package", "rehome-testbed", "--bin", "scale", "--"],
    ];
    for (place, call) in calls.into_iter().enumerate() {
        let arguments = if place + 1 == calls.len() { arguments } else { &[] };
        let status = cargo()
            .args(call)
            .args(arguments)
            .current_dir(root)
            .status()
            .map_err(|source| WorkspaceError::CannotRun { program: "cargo".to_owned(), source })?;
        if !status.success() {
            return Ok(false);
        }
    }
    Ok(true)
}
