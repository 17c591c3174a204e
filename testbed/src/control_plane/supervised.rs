//! A program that cannot outlive us, however we end.
//!
//! A shell of its own process group starts the program and then reads from a pipe that only we hold open. When we drop
//! it, panic, exit or are killed with SIGKILL, the kernel closes the pipe, and the shell kills its whole group. No
//! signal handler and no `Drop` has to run for that.

use std::io::Write as _;
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use fs_err as fs;

/// `$1` is the file that gets the exit status; the rest is the program with its arguments. `read` returns at the end
/// of the pipe. SIGKILL, because everything lives in a folder that is thrown away; `0` is the shell's own group.
const SUPERVISOR: &str = r#"status=$1; shift; ("$@" </dev/null; echo "$?" >"$status") & read -r _; kill -KILL 0"#;

/// Removes the folder `$1` after the end of the pipe, by when the supervisors have killed what writes into it; again
/// if a dying program was still writing.
const JANITOR: &str = r#"read -r _; for _ in 1 2 3 4 5 6 7 8 9; do sleep 0.3; rm -rf -- "$1" && exit; done"#;

/// What is to be run.
#[derive(Clone, Debug)]
pub(super) struct Spec {
    /// The name, also of the log file.
    pub(super) name: &'static str,
    /// The program's file.
    pub(super) program: PathBuf,
    /// Its arguments.
    pub(super) arguments: Vec<String>,
}

/// A running program, killed on drop.
#[derive(Debug)]
pub(super) struct Supervised {
    supervisor: Child,
    status: PathBuf,
}

impl Supervised {
    /// Starts a program in `folder`; what it prints is appended to `<name>.log` there.
    pub(super) fn start(spec: &Spec, folder: &Path) -> std::io::Result<Self> {
        let status = folder.join(format!("{}.status", spec.name));
        if status.exists() {
            fs::remove_file(&status)?;
        }
        let log = fs::OpenOptions::new().create(true).append(true).open(log_path(folder, spec.name))?;
        let supervisor = Command::new("sh")
            .args(["-c", SUPERVISOR, "sh"])
            .arg(&status)
            .arg(&spec.program)
            .args(&spec.arguments)
            .current_dir(folder)
            // kwok and kubectl keep files in the home folder.
            .env("HOME", folder)
            .stdin(Stdio::piped())
            .stdout(Stdio::from(log.file().try_clone()?))
            .stderr(Stdio::from(log.into_parts().0))
            .process_group(0)
            .spawn()?;
        Ok(Self { supervisor, status })
    }

    /// The exit status, if the program has ended by itself.
    pub(super) fn ended(&self) -> Option<String> {
        let text = std::fs::read_to_string(&self.status).ok()?;
        (!text.is_empty()).then(|| text.trim().to_owned())
    }
}

impl Drop for Supervised {
    fn drop(&mut self) {
        // Closing the pipe is the signal; the supervisor ends by its own SIGKILL.
        drop(self.supervisor.stdin.take());
        let _ = self.supervisor.wait();
    }
}

/// Starts the process that removes `folder` when we have ended without doing it.
pub(super) fn janitor(folder: &Path) -> std::io::Result<Child> {
    Command::new("sh")
        .args(["-c", JANITOR, "sh"])
        .arg(folder)
        .current_dir("/")
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .process_group(0)
        .spawn()
}

/// The log of a program.
pub(super) fn log_path(folder: &Path, name: &str) -> PathBuf {
    folder.join(format!("{name}.log"))
}

/// The last lines of a program's log, for an error.
pub(super) fn log_tail(folder: &Path, name: &str) -> String {
    /// Enough to hold a Go panic's message and the first frames.
    const LINES: usize = 15;
    let text = fs::read(log_path(folder, name)).unwrap_or_default();
    let text = String::from_utf8_lossy(&text);
    let lines: Vec<&str> = text.lines().collect();
    lines[lines.len().saturating_sub(LINES)..].join("\n")
}

/// Runs a program to its end with `input` on stdin.
pub(super) fn run(command: &mut Command, input: Option<&str>) -> std::io::Result<std::process::Output> {
    let mut child = command
        .stdin(if input.is_some() { Stdio::piped() } else { Stdio::null() })
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()?;
    if let (Some(mut pipe), Some(input)) = (child.stdin.take(), input) {
        // A program that ended early says why by its status.
        let _ = pipe.write_all(input.as_bytes());
    }
    child.wait_with_output()
}
