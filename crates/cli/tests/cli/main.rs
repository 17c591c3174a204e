//! The built program, as a person uses it: what it prints, where, and with which exit code.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod bad_input;
mod demo;
mod offline;
mod rbac;
mod size;
mod usage;

use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

/// The repository's cases.
fn case(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../cases").join(name)
}

/// A command in a folder, with an environment of its own: nobody's kubeconfig is found.
fn rehome(folder: &Path, args: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_rehome"));
    command.args(args).current_dir(folder).env_clear().env("HOME", folder).env("USER", "ada").stdin(Stdio::null());
    command
}

/// What a run of the program came to.
struct Ran {
    code: i32,
    stdout: String,
    stderr: String,
}

impl Ran {
    fn of(output: &Output) -> Self {
        Self {
            code: output.status.code().unwrap(),
            stdout: String::from_utf8(output.stdout.clone()).unwrap(),
            stderr: String::from_utf8(output.stderr.clone()).unwrap(),
        }
    }

    /// Exit code, standard output and standard error, for a snapshot.
    fn text(&self) -> String {
        format!("exit {}\n--- stdout\n{}--- stderr\n{}", self.code, self.stdout, self.stderr)
    }
}

/// Runs the program to its end.
fn run(folder: &Path, args: &[&str]) -> Ran {
    let ran = Ran::of(&rehome(folder, args).output().unwrap());
    assert!(!ran.stderr.contains("panicked"), "{}", ran.stderr);
    ran
}

/// A folder with the demo's cluster, and the plan and the journal of its move.
fn after_demo() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let ran = run(folder.path(), &["demo"]);
    assert_eq!(ran.code, 0, "{}", ran.text());
    folder
}
