//! The folder of the demo: what it writes there, and only there.

use std::path::{Path, PathBuf};

use rehome_model::document::Document;
use rehome_run::write;

use super::super::input;
use crate::error::CliError;

pub(crate) const INTENT: &str = "intent.yaml";
pub(crate) const BEHAVIOUR: &str = "behaviour.yaml";

/// By this file the demo knows its own folder again.
const MARKER: &str = "WRITTEN-BY-REHOME-DEMO.txt";
const MARKER_TEXT: &str = "\
This folder was written by `rehome demo`, which overwrites its files when it runs again.
cluster/ is a made-up cluster as `kubectl get -o yaml` would write it: edit it, and run the commands that the demo shows.
";

/// The case `cases/demo`, as it is in the sources.
macro_rules! case {
    ($($file:literal),* $(,)?) => { &[$(($file, include_str!(concat!("../../../../../cases/demo/", $file)))),*] };
}

const CASE: &[(&str, &str)] = case![
    "intent.yaml",
    "behaviour.yaml",
    "cluster/budgets.yaml",
    "cluster/cluster.yaml",
    "cluster/nodes.yaml",
    "cluster/none.yaml",
    "cluster/pods.yaml",
    "cluster/services.yaml",
    "cluster/storage.yaml",
    "cluster/workloads.yaml",
];

/// Documents that an earlier demo made.
const MADE: &[&str] = &[
    "sizing.json",
    "nodes.svg",
    "plan.json",
    "rehearsal.json",
    "approval.json",
    "plan.journal.jsonl",
    "plan.journal.jsonl.plan.json",
    "after.json",
    "verification.json",
];

/// The folder, ready.
pub(crate) struct Folder {
    path: PathBuf,
}

impl Folder {
    /// Makes the folder, or makes an earlier demo's folder new. Anything else that stands there is left alone.
    pub(crate) fn prepare(path: &Path) -> Result<Self, CliError> {
        let io = |error: std::io::Error| {
            CliError::unexpected(format!("{} cannot be prepared", path.display()))
                .because(&error)
                .next("rehome demo --dir DIR")
        };
        let ours = path.join(MARKER).is_file();
        if !ours && path.exists() {
            let empty = path.is_dir() && std::fs::read_dir(path).map_err(io)?.next().is_none();
            if !empty {
                return Err(CliError::usage(format!("{} exists and was not made by a demo", path.display()))
                    .why("a demo overwrites only what a demo has written")
                    .next("rehome demo --dir DIR   (another folder)"));
            }
        }
        std::fs::create_dir_all(path.join("cluster")).map_err(io)?;
        for name in MADE {
            match std::fs::remove_file(path.join(name)) {
                Err(error) if error.kind() != std::io::ErrorKind::NotFound => return Err(io(error)),
                _ => {}
            }
        }
        let folder = Self { path: path.to_owned() };
        for (name, text) in [(MARKER, MARKER_TEXT)].iter().chain(CASE) {
            write::text_file(&folder.path(name), text).map_err(|error| input::unwritable(&error))?;
        }
        Ok(folder)
    }

    /// A file in it.
    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.path.join(name)
    }

    /// The same, for people.
    pub(crate) fn show(&self, name: &str) -> String {
        self.path(name).display().to_string()
    }

    /// A document in it.
    pub(crate) fn document<D: Document>(&self, name: &str) -> Result<D, CliError> {
        Ok(input::document(&self.path(name), "rehome demo")?.document)
    }
}
