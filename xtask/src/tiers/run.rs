//! Runs one test program as cargo would, and reads what it says.

use std::io::{BufRead, BufReader};
use std::num::NonZeroUsize;
use std::process::{Command, ExitStatus, Stdio};

use super::Tier;
use super::programs::TestProgram;
use super::verdict::Verdict;
use crate::workspace::{WorkspaceError, environment};

/// How many tests of one program run at a time. Source: the documentation of libtest.
const THREADS: &str = "RUST_TEST_THREADS";

/// Tests on a real control plane wait for it most of the time: one more than there are processors.
fn threads(processors: usize) -> usize {
    processors + 1
}

/// Runs a test program in the folder of its package. Its lines go to `say` as they come.
///
/// # Errors
/// Fails when the program cannot be started.
pub(crate) fn run(
    program: &TestProgram,
    assets: Option<&str>,
    arguments: &[&str],
    say: &mut dyn FnMut(&str),
) -> Result<Verdict, WorkspaceError> {
    say(&format!("\n     Running {} {} ({})", program.package, program.target, program.tier.name()));
    let mut command = Command::new(&program.executable);
    command
        .args(arguments)
        .current_dir(&program.folder)
        .env("CARGO_MANIFEST_DIR", &program.folder)
        .env("CARGO_PKG_NAME", &program.package)
        .env("RUST_BACKTRACE", "1");
    if let Some(folder) = assets {
        // So that no test looks for programs by itself.
        command.env("KUBEBUILDER_ASSETS", folder);
    }
    if program.tier == Tier::ControlPlane && environment(THREADS).is_none() {
        command.env(THREADS, threads(std::thread::available_parallelism().map_or(1, NonZeroUsize::get)).to_string());
    }
    let (verdict, status) = follow(&mut command, say)?;
    Ok(judge(verdict, status))
}

/// Runs a command, says its lines as they come, and counts its closing lines.
///
/// # Errors
/// Fails when the program cannot be started.
pub(crate) fn follow(
    command: &mut Command,
    say: &mut dyn FnMut(&str),
) -> Result<(Verdict, ExitStatus), WorkspaceError> {
    let name = command.get_program().to_string_lossy().into_owned();
    let mut child = command
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .spawn()
        .map_err(|source| WorkspaceError::CannotRun { program: name, source })?;
    let mut verdict = Verdict::default();
    if let Some(stdout) = child.stdout.take() {
        for line in BufReader::new(stdout).split(b'\n') {
            let line = line?;
            let line = String::from_utf8_lossy(&line);
            say(&line);
            verdict.take(&line);
        }
    }
    Ok((verdict, child.wait()?))
}

/// A program that ended badly without a failed test broke off: it counts as one.
pub(crate) fn judge(mut verdict: Verdict, status: ExitStatus) -> Verdict {
    if !status.success() && verdict.failed == 0 {
        println!("the test program broke off: {status}");
        verdict.failed = 1;
    }
    verdict
}
