//! Programs that are built from our Go modules, into folders that are named by the digest of what they are built from.
//!
//! It knows how `go build` is called and that only one process builds at a time. What is built, and what for, is in
//! [`crate::assets`] and [`crate::oracle`].

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// How many lines of `go build`'s complaint an error repeats.
const COMPLAINT_LINES: usize = 20;

/// One call of `go build`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Build<'a> {
    /// What it gives, for messages.
    pub(crate) what: &'a str,
    /// The folder of the Go module.
    pub(crate) module: &'a Path,
    /// The program that it writes.
    pub(crate) output: &'a Path,
    /// Options of the linker.
    pub(crate) ldflags: &'a str,
    /// Options besides those that all builds have. They are part of the key of Go's cache, so `.ci/run` says the same.
    pub(crate) flags: &'a [&'a str],
    /// The package.
    pub(crate) package: &'a str,
}

/// Why a program could not be built.
#[derive(Debug, thiserror::Error)]
pub enum GoError {
    /// Go is not installed.
    #[error(
        "expected the program `go` (to build {missing}), found none in PATH. Install Go 1.26 or newer from \
         https://go.dev/dl/"
    )]
    Missing {
        /// What it was needed for.
        missing: String,
    },
    /// A build failed.
    #[error("`go build` of {what} in {folder} failed ({status}); what it said last:\n{complaint}")]
    Failed {
        /// What was built.
        what: String,
        /// The Go module.
        folder: PathBuf,
        /// How `go` ended.
        status: String,
        /// The end of its output.
        complaint: String,
    },
    /// A file could not be read or written.
    #[error(transparent)]
    Io(#[from] std::io::Error),
}

impl Build<'_> {
    /// Builds the program.
    ///
    /// # Errors
    /// See [`GoError`].
    pub(crate) fn run(&self) -> Result<(), GoError> {
        let done = Command::new("go")
            .current_dir(self.module)
            // A program without C libraries runs wherever it is copied; git metadata may be absent or not ours.
            .env("CGO_ENABLED", "0")
            .env("GOFLAGS", "-mod=readonly")
            .args(["build", "-trimpath", "-buildvcs=false", "-ldflags", self.ldflags])
            .args(self.flags)
            .arg("-o")
            .arg(self.output)
            .arg(self.package)
            .stdin(Stdio::null())
            .output()
            .map_err(|error| match error.kind() {
                std::io::ErrorKind::NotFound => GoError::Missing { missing: self.what.to_owned() },
                _ => GoError::Io(error),
            })?;
        if done.status.success() {
            return Ok(());
        }
        let said = String::from_utf8_lossy(&done.stderr);
        let lines: Vec<&str> = said.lines().collect();
        Err(GoError::Failed {
            what: self.what.to_owned(),
            folder: self.module.to_owned(),
            status: done.status.to_string(),
            complaint: lines[lines.len().saturating_sub(COMPLAINT_LINES)..].join("\n"),
        })
    }
}

/// The folder of this crate, which holds the Go modules.
pub(crate) fn testbed_folder() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// Cargo's target folder: builds of Go live beside those of Rust and are ignored by git with them.
pub(crate) fn target_folder() -> PathBuf {
    let default = testbed_folder().join("../target");
    let folder = std::env::var_os("CARGO_TARGET_DIR").filter(|value| !value.is_empty()).map_or(default, PathBuf::from);
    // `go build` runs in another folder than we do.
    std::path::absolute(&folder).unwrap_or(folder)
}
