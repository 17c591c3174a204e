//! `cargo xtask fidelity`: starts the comparison with kube-scheduler's own packages. What it does, the testbed knows.

use std::path::Path;

use crate::workspace::{WorkspaceError, cargo};

/// Builds and runs the comparison, in the profile that tests have. Gives back whether all is well.
///
/// # Errors
/// Fails when cargo cannot be run.
pub(crate) fn main(root: &Path, arguments: &[&str]) -> Result<bool, WorkspaceError> {
    let status = cargo()
        .args(["run", "--release", "--quiet", "--package", "rehome-testbed", "--bin", "fidelity", "--"])
        .args(arguments)
        .current_dir(root)
        .status()
        .map_err(|source| WorkspaceError::CannotRun { program: "cargo".to_owned(), source })?;
    Ok(status.success())
}
