//! `cargo xtask bench`: starts the measurements. What they are, the testbed knows.

use std::path::Path;

use crate::workspace::{WorkspaceError, cargo};

/// The profile that is measured: the one of tests and of the README's commands.
const PROFILE: &str = "release";

/// Builds and runs the table of the scheduler's model, all rows or these. Gives back whether it could be measured; a
/// target that is not met is in the table, and no failure: a machine that is shared tells little.
///
/// # Errors
/// Fails when cargo cannot be run.
pub(crate) fn sched(root: &Path, rows: &[&str]) -> Result<bool, WorkspaceError> {
    let status = cargo()
        .args(["run", "--profile", PROFILE, "--quiet", "--package", "rehome-testbed", "--bin", "bench", "--", PROFILE])
        .args(rows)
        .current_dir(root)
        .status()
        .map_err(|source| WorkspaceError::CannotRun { program: "cargo".to_owned(), source })?;
    Ok(status.success())
}
