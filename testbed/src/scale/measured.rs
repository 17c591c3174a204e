//! A program that is watched from outside while it runs: its peak memory, and how long it took.

use std::io::Read as _;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use fs_err as fs;
use rehome_model::time::Seconds;

use super::ScaleError;
use crate::clock;

/// How long a program may run.
const LIMIT: Duration = Duration::from_secs(4 * 3600);
/// How many bytes of what a program said are kept for an error.
const TAIL: usize = 2000;

/// What a program cost.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Cost {
    /// The most memory that it held at once, in KiB: `VmHWM`.
    pub peak_kib: u64,
    /// How long it ran.
    pub took: Seconds,
}

impl Cost {
    /// Both, one after the other.
    #[must_use]
    pub fn then(self, other: Self) -> Self {
        Self { peak_kib: self.peak_kib.max(other.peak_kib), took: self.took + other.took }
    }
}

/// Runs a program to its end.
///
/// # Errors
/// It did not start, did not end in time, or ended with a status other than these.
pub fn run(mut command: Command, good: &[i32]) -> Result<Cost, ScaleError> {
    let folder = tempfile::tempdir()?;
    let said = folder.path().join("stderr");
    command.stdin(Stdio::null()).stdout(fs::File::create(folder.path().join("stdout"))?.into_parts().0);
    command.stderr(fs::File::create(&said)?.into_parts().0);
    let began = clock::now();
    let mut child = command.spawn()?;
    let mut peak_kib = 0;
    let status = clock::wait_for("a program to end", LIMIT, || {
        // A high-water mark: what is read last, a moment before the end, is the peak but for that moment.
        peak_kib = peak_kib.max(high_water(&child).unwrap_or(0));
        child.try_wait().map_err(|error| error.to_string())?.ok_or_else(|| "it runs".to_owned())
    })?;
    let took = clock::now() - began;
    if status.code().is_some_and(|code| good.contains(&code)) {
        return Ok(Cost { peak_kib, took });
    }
    let mut stderr = String::new();
    fs::File::open(&said)?.read_to_string(&mut stderr)?;
    let from = stderr.floor_char_boundary(stderr.len().saturating_sub(TAIL));
    let stderr = stderr.split_off(from);
    Err(ScaleError::Failed { what: format!("{command:?}"), status: status.to_string(), stderr })
}

/// The kernel's high-water mark of a process' memory. Source: `proc_pid_status(5)`, `VmHWM`.
fn high_water(child: &Child) -> Option<u64> {
    let status = fs::read_to_string(format!("/proc/{}/status", child.id())).ok()?;
    parse(&status)
}

fn parse(status: &str) -> Option<u64> {
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    line.trim().strip_suffix("kB")?.trim().parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_peak_stands_in_a_line_of_its_own() {
        assert_eq!(parse("Name:\tx\nVmPeak:\t  9 kB\nVmHWM:\t   1234 kB\nVmRSS:\t 7 kB\n"), Some(1234));
        assert_eq!(parse("Name:\tx\n"), None);
    }

    #[test]
    fn a_program_that_ends_badly_is_said_with_its_words() {
        let mut command = Command::new("sh");
        command.args(["-c", "echo no >&2; exit 3"]);
        let error = run(command, &[0]).unwrap_err().to_string();
        assert!(error.contains("exit status: 3") && error.ends_with("no\n"), "{error}");
        let mut command = Command::new("sh");
        command.args(["-c", "exit 3"]);
        assert!(run(command, &[0, 3]).is_ok());
    }
}
