//! The built program.

use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

/// What a run of the program gave.
pub(crate) struct Ran {
    pub(crate) code: i32,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl Ran {
    /// What a process that has ended left.
    pub(crate) fn of(output: &Output) -> Self {
        Self {
            code: output.status.code().unwrap_or(-1),
            stdout: String::from_utf8_lossy(&output.stdout).into_owned(),
            stderr: String::from_utf8_lossy(&output.stderr).into_owned(),
        }
    }
}

/// The binary `rehome` beside the test's own binary: `cargo xtask test` builds it before.
pub(crate) fn path() -> PathBuf {
    let test = std::env::current_exe().unwrap();
    let binary = test.parent().and_then(Path::parent).unwrap().join("rehome");
    assert!(binary.exists(), "{} is not built: cargo build -p rehome", binary.display());
    binary
}

/// The program with these arguments, in this folder, as nobody in particular.
pub(crate) fn command(folder: &Path, arguments: &[&str]) -> Command {
    let mut command = Command::new(path());
    command.current_dir(folder).args(arguments).env_remove("KUBECONFIG").env("HOME", folder).stdin(Stdio::null());
    command
}

/// Runs the program to its end.
pub(crate) fn run(folder: &Path, arguments: &[&str]) -> Ran {
    let ran = Ran::of(&command(folder, arguments).output().unwrap());
    println!("$ rehome {}\n{}{}exit {}\n", arguments.join(" "), tail(&ran.stdout), tail(&ran.stderr), ran.code);
    ran
}

/// Runs it and insists on an exit code.
pub(crate) fn expect(code: u8, folder: &Path, arguments: &[&str]) -> Ran {
    let ran = run(folder, arguments);
    assert_eq!(ran.code, i32::from(code), "rehome {}\n{}\n{}", arguments.join(" "), ran.stdout, ran.stderr);
    ran
}

/// The last lines: a failed test's output is for reading.
fn tail(text: &str) -> String {
    let lines: Vec<&str> = text.lines().collect();
    let from = lines.len().saturating_sub(12);
    lines[from..].iter().map(|line| format!("  {line}\n")).collect()
}
