//! Reads the files that arguments name, and says what to do when one is not what it should be.

use std::io::Read as _;
use std::path::{Path, PathBuf};

use rehome_kube::Connection;
use rehome_kube::capture::{self, CaptureError};
use rehome_model::document::{Document, Loaded};
use rehome_model::{Timestamp, exit};
use rehome_run::journal_file::JournalError;
use rehome_run::read::{self, Fault, ReadError};
use rehome_run::write::{self, WriteError};

use super::connect;
use crate::error::CliError;
use crate::ui::Ui;
use crate::{args, view};

/// A snapshot from a file, a directory, or standard input (`-`).
pub(crate) fn snapshot(path: &Path, ui: &Ui) -> Result<read::Loaded, CliError> {
    let loaded = if path == Path::new("-") {
        let mut bytes = Vec::new();
        std::io::stdin()
            .lock()
            .read_to_end(&mut bytes)
            .map_err(|error| CliError::usage("standard input could not be read").because(&error))?;
        read::bytes(Path::new("standard input"), &bytes)
    } else {
        read::path(path)
    };
    let loaded = loaded.map_err(|error| unreadable("the snapshot", &error, "rehome capture --out cluster.json"))?;
    for note in &loaded.notes {
        ui.say(&format!("note: {note}"));
    }
    Ok(loaded)
}

/// The cluster that the arguments mean: files, or a capture of the live one.
pub(crate) fn source(source: &args::Source, ui: &Ui) -> Result<read::Loaded, CliError> {
    match &source.snapshot {
        Some(path) => snapshot(path, ui),
        None => live(&connect::open(&source.connection)?, ui),
    }
}

/// A capture of the cluster that is connected.
pub(crate) fn live(connection: &Connection, ui: &Ui) -> Result<read::Loaded, CliError> {
    let mut progress = view::progress::Capturing::new(ui);
    let captured = capture::capture(connection, &mut |state| progress.at(state));
    progress.done();
    let snapshot = captured.map_err(|error| uncaptured(&error))?;
    for gap in &snapshot.gaps {
        ui.say(&format!("note: {} are not known: {}", gap.source, gap.message));
    }
    read::captured(snapshot).map_err(|error| CliError::unexpected("the cluster cannot be understood").because(&error))
}

/// A capture that did not come about.
fn uncaptured(error: &CaptureError) -> CliError {
    let what = "the cluster could not be captured";
    match error {
        CaptureError::Unreachable { .. } => CliError::unexpected(what).because(error).next("kubectl cluster-info"),
        CaptureError::Unauthorized { .. } => CliError::usage(what)
            .because(error)
            .next("log in again as your provider says, then check with: kubectl auth whoami"),
        CaptureError::Forbidden { .. } => CliError::usage(what).because(error).next(
            "log in, or ask whoever grants access to apply: rehome rbac --capture-only --to-user NAME   (who you are to \
             the server: kubectl auth whoami)",
        ),
    }
}

/// A document of rehome; `made_by` is the command that makes one.
pub(crate) fn document<D: Document>(path: &Path, made_by: &str) -> Result<Loaded<D>, CliError> {
    read::document::read(path).map_err(|error| unreadable(&format!("the {}", D::KIND), &error, made_by))
}

/// An input that is not what it should be.
pub(crate) fn unreadable(what: &str, error: &ReadError, made_by: &str) -> CliError {
    let cli = CliError::usage(format!("{what} cannot be read")).because(error);
    match &*error.fault {
        Fault::Cut { .. } => cli.next(format!("copy or write the file again, whole; {made_by}")),
        Fault::UnknownVersion { expected, .. } => {
            cli.next(format!("write the objects as {expected}, as a server that serves it would: kubectl get … -o yaml"))
        }
        Fault::SnapshotAmongObjects => cli.next("name the Snapshot alone: --snapshot FILE"),
        Fault::NotAnObject { .. } | Fault::EmptyDirectory | Fault::EmptyFile => cli.next(format!(
            "{made_by}   (or kubectl get nodes,pods,deployments,replicasets,statefulsets,daemonsets,pdb,pv,pvc -A -o yaml)"
        )),
        Fault::Io(error) if error.kind() == std::io::ErrorKind::IsADirectory => cli.next("name a file"),
        _ => cli.next(made_by),
    }
}

/// A journal that cannot be used.
pub(crate) fn journal(error: &JournalError) -> CliError {
    let cli = CliError::usage("the journal cannot be used").because(error);
    match error {
        JournalError::Exists { file } => {
            cli.next(format!("rehome resume --journal {0}   (or another --journal for a new run)", file.display()))
        }
        JournalError::InUse { .. } => CliError { code: exit::INTERRUPTED, ..cli }
            .next("wait for the other process, or stop it, then rehome resume"),
        JournalError::Chain { .. } => cli.next(
            "nothing was changed; find the copy that was not edited, or compare the cluster by hand: rehome capture",
        ),
        JournalError::Empty { file } => {
            cli.next(format!("nothing had begun; remove {} and run rehome execute again", file.display()))
        }
        JournalError::Io { source, .. } if source.kind() == std::io::ErrorKind::NotFound => {
            cli.next("rehome execute --plan plan.json   (it says where its journal is)")
        }
        JournalError::Io { .. } => {
            CliError { code: exit::UNEXPECTED, ..cli }.next("mend the disk or the permissions, and run it again")
        }
    }
}

/// A result that could not be kept.
pub(crate) fn unwritable(error: &WriteError) -> CliError {
    CliError::unexpected("the result could not be written")
        .because(error)
        .next("free some space, or write elsewhere with --out")
}

/// Writes a document if a file was named. Returns whether it was.
pub(crate) fn keep<D: Document>(document: &D, out: Option<&PathBuf>, ui: &Ui) -> Result<bool, CliError> {
    let Some(path) = out else { return Ok(false) };
    write::document(path, document).map_err(|error| unwritable(&error))?;
    ui.say(&format!("{} written to {}", D::KIND, path.display()));
    Ok(true)
}

/// The time: the command line is the only place that asks for it.
#[expect(clippy::disallowed_methods, reason = "the clock enters here, and goes on as an argument")]
pub(crate) fn now() -> Timestamp {
    rehome_model::Timestamp::from(jiff::Timestamp::now())
}

/// An environment variable: the command line is the only place that reads it.
#[expect(clippy::disallowed_methods, reason = "the environment enters here, and goes on as an argument")]
pub(crate) fn environment(name: &str) -> Option<String> {
    std::env::var(name).ok().filter(|value| !value.is_empty())
}
