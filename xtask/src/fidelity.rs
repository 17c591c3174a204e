//! `cargo xtask fidelity`: starts the comparison with kube-scheduler's own packages. What it does, the testbed knows.

use std::path::Path;

use crate::workspace::{WorkspaceError, cargo};

/// What compares random clusters.
const COMPARE: [&str; 4] = ["--package", "rehome-testbed", "--bin", "fidelity"];
/// What writes the answers anew by which wrong rules are caught.
const RECORD: [&str; 6] = ["--package", "rehome-mutants", "--features", "rehome-mutants/mutants", "--bin", "record"];

/// Builds and runs the comparison, in the profile that tests have, or with `--record` writes the recording anew. Gives
/// back whether all is well.
///
/// # Errors
/// Fails when cargo cannot be run.
pub(crate) fn main(root: &Path, arguments: &[&str]) -> Result<bool, WorkspaceError> {
    let (program, arguments) = match arguments {
        ["--record", rest @ ..] => (&RECORD[..], rest),
        all => (&COMPARE[..], all),
    };
    let status = cargo()
        .args(["run", "--release", "--quiet"])
        .args(program)
        .arg("--")
        .args(arguments)
        .current_dir(root)
        .status()
        .map_err(|source| WorkspaceError::CannotRun { program: "cargo".to_owned(), source })?;
    Ok(status.success())
}
