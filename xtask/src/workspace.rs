//! Where the workspace is and what is in it: its root, its tracked files, what cargo says about its packages.
//!
//! Knows git and cargo. Deliberately does not know what is right or wrong about any of it.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::Value;

/// Why the workspace could not be looked at.
#[derive(Debug, thiserror::Error)]
pub(crate) enum WorkspaceError {
    /// A program could not be started.
    #[error("cannot run {program}: {source}")]
    CannotRun {
        /// The program.
        program: String,
        /// Why.
        #[source]
        source: std::io::Error,
    },
    /// A program failed.
    #[error("{command} failed:\n{stderr}")]
    Failed {
        /// The whole command.
        command: String,
        /// What it said.
        stderr: String,
    },
    /// A file could not be read or written.
    #[error(transparent)]
    Io(#[from] std::io::Error),
    /// A program printed something else than JSON.
    #[error("cannot understand the output of cargo metadata: {0}")]
    NotJson(#[from] serde_json::Error),
}

/// The root of the workspace.
#[must_use]
pub(crate) fn root() -> PathBuf {
    // The manifest of this package lies one folder below the root.
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap_or_else(|| Path::new(".")).to_path_buf()
}

/// The tracked files: path from the root, with `/`, and content.
#[derive(Debug, Default)]
pub(crate) struct Tree {
    files: BTreeMap<String, Vec<u8>>,
}

impl Tree {
    /// Reads all files that git tracks below `root`.
    ///
    /// # Errors
    /// Fails when git does, or a file cannot be read.
    pub(crate) fn tracked(root: &Path) -> Result<Self, WorkspaceError> {
        let listed = output(Command::new("git").args(["ls-files", "-z"]).current_dir(root))?;
        let mut files = BTreeMap::new();
        for name in listed.split('\0').filter(|name| !name.is_empty()) {
            let path = root.join(name);
            // A file that was deleted but is still in the index is as good as gone; a folder here is a submodule.
            if path.is_file() {
                files.insert(name.to_owned(), fs_err::read(path)?);
            }
        }
        Ok(Self { files })
    }

    /// A tree made of texts, for tests.
    #[cfg(test)]
    pub(crate) fn of(files: &[(&str, &str)]) -> Self {
        Self { files: files.iter().map(|(path, text)| ((*path).to_owned(), text.as_bytes().to_vec())).collect() }
    }

    /// All files with their bytes.
    pub(crate) fn files(&self) -> impl Iterator<Item = (&str, &[u8])> {
        self.files.iter().map(|(path, bytes)| (path.as_str(), bytes.as_slice()))
    }

    /// All files that are text.
    pub(crate) fn texts(&self) -> impl Iterator<Item = (&str, &str)> {
        self.files().filter_map(|(path, bytes)| Some((path, std::str::from_utf8(bytes).ok()?)))
    }

    /// All Rust sources.
    pub(crate) fn rust(&self) -> impl Iterator<Item = (&str, &str)> {
        self.texts().filter(|(path, _)| path.ends_with(".rs"))
    }

    /// The text of one file.
    #[must_use]
    pub(crate) fn text(&self, path: &str) -> Option<&str> {
        std::str::from_utf8(self.files.get(path)?).ok()
    }
}

/// What `cargo metadata` says, without using the network.
///
/// # Errors
/// Fails when cargo does.
pub(crate) fn cargo_metadata(root: &Path) -> Result<Value, WorkspaceError> {
    let metadata = || {
        let mut cargo = cargo();
        cargo.args(["metadata", "--format-version", "1", "--locked"]).current_dir(root);
        cargo
    };
    // In a fresh checkout the sources of crates for other platforms are not on the disk yet: metadata needs their
    // manifests, so the second try may fetch them.
    let text = output(metadata().arg("--offline")).or_else(|_| output(&mut metadata()))?;
    Ok(serde_json::from_str(&text)?)
}

/// The cargo that runs us, or the one in `PATH`, without the variables by which it told us which package we are.
///
/// Build scripts can see these, and ring's asks to be run again when they change: with them, each change between
/// `cargo xtask test` and a plain `cargo` would compile ring and everything above it anew.
#[must_use]
pub(crate) fn cargo() -> Command {
    let mut cargo = Command::new(environment("CARGO").unwrap_or_else(|| "cargo".to_owned()));
    for (name, _) in std::env::vars_os() {
        let text = name.to_string_lossy();
        let about_us = text.starts_with("CARGO_PKG_") || text.starts_with("CARGO_MANIFEST_");
        if about_us || matches!(&*text, "CARGO_BIN_NAME" | "CARGO_CRATE_NAME" | "CARGO_PRIMARY_PACKAGE") {
            cargo.env_remove(&name);
        }
    }
    cargo
}

/// A variable of the environment. The only place where the project's tasks read it.
#[must_use]
pub(crate) fn environment(name: &str) -> Option<String> {
    #[expect(clippy::disallowed_methods, reason = "the tasks of the project are a command line, too")]
    std::env::var(name).ok().filter(|value| !value.is_empty())
}

/// Runs a command to its end and gives back what it printed.
fn output(command: &mut Command) -> Result<String, WorkspaceError> {
    let program = command.get_program().to_string_lossy().into_owned();
    let done = command
        .stdin(Stdio::null())
        .output()
        .map_err(|source| WorkspaceError::CannotRun { program: program.clone(), source })?;
    if done.status.success() {
        Ok(String::from_utf8_lossy(&done.stdout).into_owned())
    } else {
        let arguments: Vec<_> = command.get_args().map(|argument| argument.to_string_lossy().into_owned()).collect();
        Err(WorkspaceError::Failed {
            command: format!("{program} {}", arguments.join(" ")),
            stderr: String::from_utf8_lossy(&done.stderr).into_owned(),
        })
    }
}
