//! How a process comes to hold a run: by beginning it, by taking up one that was let go of, or by waiting until its
//! holder has been silent for long enough.
//!
//! Silence is what the claimant itself has seen, on its own clock, of an unchanged head: clocks of two machines are never
//! compared (as in client-go's leader election, `tools/leaderelection`, `observedTime`).

use rehome_model::{Digest, Timestamp};

use super::head::{self, Head, Holder, Release, takeover_after};
use super::objects::{HEAD, Objects, ObjectsError, Version, WriteError};
use super::read::{Copied, CopyError};
use super::{ClusterJournal, TRY_AGAIN, pieces};

/// Who wants a run.
#[derive(Clone, Debug)]
pub struct Claimant {
    /// The process.
    pub holder: Holder,
    /// The run.
    pub run: String,
    /// Its plan.
    pub plan: Digest,
}

/// Why a run could not be claimed. Nothing was changed.
#[derive(Debug, thiserror::Error)]
pub enum ClaimError {
    /// Another process is at it, or at another run.
    #[error("run {run} is held by {holder}, which gave a sign of life at {renewed}")]
    Held {
        /// The run.
        run: String,
        /// Who holds it.
        holder: Holder,
        /// When it last wrote, by its own clock.
        renewed: Timestamp,
    },
    /// Another run was left unfinished.
    #[error("run {run} was begun and is not finished: {}", .released.map_or_else(|| "its process may be dead".to_owned(), |why| why.to_string()))]
    Unfinished {
        /// The run.
        run: String,
        /// Why it stands; none if nobody said.
        released: Option<Release>,
    },
    /// The copy is of another run.
    #[error("expected run {expected} in the cluster, found {found}")]
    OtherRun {
        /// The run of the journal at hand.
        expected: String,
        /// The run in the cluster.
        found: String,
    },
    /// The copy cannot be used.
    #[error(transparent)]
    Copy(#[from] CopyError),
    /// The copy could not be written.
    #[error("the journal's copy in the cluster could not be written: {0}")]
    Write(String),
}

impl From<ObjectsError> for ClaimError {
    fn from(error: ObjectsError) -> Self {
        Self::Copy(CopyError::Objects(error))
    }
}

/// Somebody who is told that a holder's silence is waited for.
pub trait Watching {
    /// The head has been watched since `since`, and may be taken at `until`.
    fn silent(&mut self, holder: &Holder, since: Timestamp, until: Timestamp);
}

impl Watching for () {
    fn silent(&mut self, _: &Holder, _: Timestamp, _: Timestamp) {}
}

/// Whether a new run could begin: for whoever wants to know before it looks at anything else.
///
/// # Errors
/// See [`ClaimError`].
pub fn free(objects: &mut impl Objects, instead_of: Option<&str>) -> Result<(), ClaimError> {
    let Some(stored) = objects.get(HEAD)? else { return Ok(()) };
    let head = Head::parse(&stored.data).map_err(CopyError::Head)?;
    in_the_way(&head, instead_of).map_or(Ok(()), Err)
}

/// Why a run stands in the way of a new one. One whose process may be dead, and with which nothing is lost, does not.
fn in_the_way(head: &Head, instead_of: Option<&str>) -> Option<ClaimError> {
    let given_up = instead_of == Some(head.run.as_str());
    match head.released {
        _ if given_up => None,
        Some(released) if released.ended() => None,
        released @ Some(_) => Some(ClaimError::Unfinished { run: head.run.clone(), released }),
        // Not one record: its process died, or is about to write it.
        None if head.next_seq == 0 => None,
        None => Some(held(head)),
    }
}

/// Begins a new run: keeps the plan's text, and makes the head this run's.
///
/// `instead_of` names an unfinished run that is given up.
///
/// # Errors
/// See [`ClaimError`].
pub fn begin<O: Objects>(
    mut objects: O,
    claimant: Claimant,
    plan: &str,
    instead_of: Option<&str>,
    watching: &mut dyn Watching,
) -> Result<ClusterJournal<O>, ClaimError> {
    let found = match objects.get(HEAD)? {
        Some(stored) => Some((Head::parse(&stored.data).map_err(CopyError::Head)?, stored.version)),
        None => None,
    };
    if let Some((head, version)) = &found {
        if let Some(error) = in_the_way(head, instead_of) {
            return Err(error);
        }
        if head.released.is_none() {
            silence(&mut objects, head, version, watching)?;
        }
    }
    let plan_parts = keep_plan(&mut objects, &claimant.run, plan)?;
    let epoch = found.as_ref().map_or(0, |(head, _)| head.epoch) + 1;
    let head = fresh(claimant, epoch, plan_parts, objects.now());
    let version = write(&mut objects, &head, "", found.map(|(_, version)| version).as_ref())?;
    let now = objects.now();
    Ok(ClusterJournal::new(objects, head, version, String::new(), now))
}

/// Takes a run up whose copy was read, or makes a new copy where there is none. `ours` says that the process that held it
/// last is known to have ended (it wrote the same file of this machine, whose lock we have).
///
/// # Errors
/// See [`ClaimError`].
pub fn take<O: Objects>(
    mut objects: O,
    claimant: Claimant,
    copied: Option<Copied>,
    plan: &str,
    ours: impl Fn(&Holder) -> bool,
    watching: &mut dyn Watching,
) -> Result<ClusterJournal<O>, ClaimError> {
    let Some(copied) = copied else { return begin(objects, claimant, plan, None, watching) };
    if copied.head.run != claimant.run {
        let (expected, found) = (claimant.run, copied.head.run.clone());
        // A run that has ended leaves the place to ours.
        if copied.head.released.is_some_and(Release::ended) {
            let claimant = Claimant { run: expected, ..claimant };
            return begin(objects, claimant, plan, None, watching);
        }
        return Err(ClaimError::OtherRun { expected, found });
    }
    if copied.head.released.is_none() && !ours(&copied.head.holder) {
        silence(&mut objects, &copied.head, &copied.version, watching)?;
    }
    let now = objects.now();
    let head =
        Head { epoch: copied.head.epoch + 1, holder: claimant.holder, renewed: now, released: None, ..copied.head };
    let version = write(&mut objects, &head, &copied.tail, Some(&copied.version))?;
    Ok(ClusterJournal::new(objects, head, version, copied.tail, now))
}

fn fresh(claimant: Claimant, epoch: u64, plan_parts: Vec<String>, now: Timestamp) -> Head {
    let Claimant { holder, run, plan } = claimant;
    let api_version = rehome_model::document::API_VERSION.to_owned();
    let (next_seq, last, segments) = (0, Digest::zero(), Vec::new());
    Head { api_version, epoch, holder, renewed: now, released: None, run, plan, plan_parts, next_seq, last, segments }
}

fn held(head: &Head) -> ClaimError {
    ClaimError::Held { run: head.run.clone(), holder: head.holder.clone(), renewed: head.renewed }
}

/// Watches the head until its holder was silent for long enough.
fn silence(
    objects: &mut impl Objects,
    head: &Head,
    version: &Version,
    watching: &mut dyn Watching,
) -> Result<(), ClaimError> {
    let since = objects.now();
    let until = since + takeover_after();
    watching.silent(&head.holder, since, until);
    while objects.now() < until {
        objects.pause(TRY_AGAIN);
        match objects.get(HEAD) {
            Ok(Some(stored)) if stored.version == *version => {}
            Ok(Some(stored)) => {
                let newer = Head::parse(&stored.data).map_err(CopyError::Head)?;
                return Err(held(&newer));
            }
            Ok(None) => return Err(held(head)),
            // Not seen is not silent: but the head is compared once more by the swap itself.
            Err(ObjectsError::NoAnswer(_)) => {}
            Err(error) => return Err(error.into()),
        }
    }
    Ok(())
}

/// Writes the head of a new epoch. An answer that did not come is looked for.
fn write(objects: &mut impl Objects, head: &Head, lines: &str, at: Option<&Version>) -> Result<Version, ClaimError> {
    let data = head.data(lines).map_err(|error| ClaimError::Write(error.to_string()))?;
    let written = match at {
        Some(version) => objects.swap(HEAD, version, &data),
        None => objects.create(HEAD, &head.run, &data),
    };
    match written {
        Ok(version) => Ok(version),
        Err(WriteError::Refused(message)) => Err(ClaimError::Write(message)),
        Err(WriteError::Gone) => Err(ClaimError::Write("the head was deleted meanwhile".to_owned())),
        Err(WriteError::Conflict | WriteError::NoAnswer(_)) => match objects.get(HEAD)? {
            Some(stored) if stored.data == data => Ok(stored.version),
            Some(stored) => Err(held(&Head::parse(&stored.data).map_err(CopyError::Head)?)),
            None => Err(ClaimError::Write("no answer, and the head is not there".to_owned())),
        },
    }
}

/// Keeps the plan's text, so that another machine can go on.
fn keep_plan(objects: &mut impl Objects, run: &str, plan: &str) -> Result<Vec<String>, ClaimError> {
    let mut names = Vec::new();
    for part in pieces(plan) {
        let name = format!("rehome-{run}-plan-{}", names.len());
        let data = [(head::PLAN.to_owned(), part.to_owned())].into();
        match objects.create(&name, run, &data) {
            Ok(_) => {}
            Err(WriteError::Refused(message)) => return Err(ClaimError::Write(message)),
            Err(error) => match objects.get(&name)? {
                Some(stored) if stored.data == data => {}
                _ => return Err(ClaimError::Write(format!("ConfigMap {name}: {error}"))),
            },
        }
        names.push(name);
    }
    Ok(names)
}
