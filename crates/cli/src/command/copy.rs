//! The journal's copy in the cluster: who we are to others, how a run is claimed, and what to do when it cannot be.

use std::hash::{BuildHasher as _, Hasher as _};
use std::path::Path;

use rehome_engine::cluster_journal::{self, ClaimError, Claimant, ClusterJournal, Copied, CopyError, Holder, Watching};
use rehome_kube::config_maps::ConfigMaps;
use rehome_model::{Timestamp, exit};

use super::input;
use crate::error::CliError;
use crate::ui::Ui;

/// What to do where the copy cannot be used at all.
const WITHOUT: &str = "ask whoever grants access (rehome needs get, create and update of ConfigMaps in rehome-system), \
     or add --no-cluster-journal if nobody else can be at it";

/// This process, to others. The file is the one that it writes, and whose lock it has.
pub(crate) fn holder(file: &Path) -> Holder {
    // Keys of a hash map are seeded by the operating system: enough to tell two processes apart.
    let id = std::hash::RandomState::new().build_hasher().finish();
    let pid = std::process::id();
    Holder { id: format!("{id:016x}-{pid}"), host: host(), pid, file: identity(file) }
}

fn host() -> String {
    // Linux first: a variable can be inherited from elsewhere.
    let kernel = std::fs::read_to_string("/proc/sys/kernel/hostname").ok();
    let named = kernel.or_else(|| input::environment("HOSTNAME")).or_else(|| input::environment("COMPUTERNAME"));
    // A name of a host is letters, digits, dashes and dots (RFC 1123); anything else would be refused by who reads it.
    let fits = |letter: &char| letter.is_ascii_alphanumeric() || matches!(letter, '-' | '.' | '_');
    let name: String = named.unwrap_or_default().trim().chars().filter(fits).collect();
    if name.is_empty() || name.starts_with('.') { "unknown".to_owned() } else { name }
}

/// What a file is on this machine, whatever it is called: a copy of a journal is another file.
#[cfg(unix)]
fn identity(file: &Path) -> Option<String> {
    use std::os::unix::fs::MetadataExt as _;
    std::fs::metadata(file).ok().map(|metadata| format!("{}:{}", metadata.dev(), metadata.ino()))
}

#[cfg(not(unix))]
fn identity(_: &Path) -> Option<String> {
    None
}

/// Tells that a silent holder is waited for.
struct Told<'a>(&'a Ui);

impl Watching for Told<'_> {
    fn silent(&mut self, holder: &Holder, since: Timestamp, until: Timestamp) {
        self.0.say(&format!("the run is held by {}; if it stays silent it is taken over in {}", holder, until - since));
    }
}

/// Refuses early where another run is in the way.
pub(crate) fn free(objects: &mut ConfigMaps, instead_of: Option<&str>) -> Result<(), CliError> {
    cluster_journal::free(objects, instead_of).map_err(|error| unclaimed(&error))
}

/// Begins a run in the cluster.
pub(crate) fn begin(
    objects: ConfigMaps,
    claimant: Claimant,
    plan: &str,
    instead_of: Option<&str>,
    ui: &Ui,
) -> Result<ClusterJournal<ConfigMaps>, CliError> {
    cluster_journal::begin(objects, claimant, plan, instead_of, &mut Told(ui)).map_err(|error| unclaimed(&error))
}

/// Takes a run up. The process that held it is known to have ended if it wrote the file whose lock is ours.
pub(crate) fn take(
    objects: ConfigMaps,
    claimant: Claimant,
    copied: Option<Copied>,
    plan: &str,
    ui: &Ui,
) -> Result<ClusterJournal<ConfigMaps>, CliError> {
    let us = claimant.holder.clone();
    let ours = |holder: &Holder| holder.host == us.host && holder.file.is_some() && holder.file == us.file;
    cluster_journal::take(objects, claimant, copied, plan, ours, &mut Told(ui)).map_err(|error| unclaimed(&error))
}

/// Reads the copy.
pub(crate) fn read(objects: &mut ConfigMaps) -> Result<Option<Copied>, CliError> {
    cluster_journal::read(objects).map_err(|error| unreadable(&error))
}

fn unreadable(error: &CopyError) -> CliError {
    let cli = CliError::unexpected("the journal's copy in the cluster cannot be read").because(error);
    match error {
        CopyError::Objects(_) => cli.next(WITHOUT),
        _ => cli.next(
            "look at it: kubectl -n rehome-system get configmap rehome-journal -o yaml; \
             with the journal's file at hand: add --no-cluster-journal",
        ),
    }
}

fn unclaimed(error: &ClaimError) -> CliError {
    match error {
        ClaimError::Held { run, .. } => {
            CliError::new(exit::INTERRUPTED, format!("run {run} is at work on this cluster"))
                .because(error)
                .next("rehome status   (shows how far it is)")
        }
        ClaimError::Unfinished { run, .. } => CliError::new(exit::BLOCKED, format!("run {run} is not finished"))
            .because(error)
            .next("rehome resume or rehome rollback   (goes on with it, or puts back what it changed)")
            .next(format!("or give it up: add --instead-of {run}")),
        ClaimError::OtherRun { .. } => CliError::new(exit::STALE, "the cluster is in the middle of another run")
            .because(error)
            .next("rehome status   (shows that run)"),
        ClaimError::Copy(copy) => unreadable(copy),
        ClaimError::Write(_) => {
            CliError::new(exit::BLOCKED, "the journal's copy in the cluster cannot be written; nothing was changed")
                .because(error)
                .next(WITHOUT)
        }
    }
}
