//! The one loop that carries out what the machine says.

use rehome_model::journal::{Event, Record};
use rehome_model::snapshot::ClusterIdentity;
use rehome_model::{Digest, Timestamp};

use crate::journal::{JournalStore, StoreFailed};
use crate::machine::{Action, Machine, ReplayError};
use crate::world::{Stop, World};

/// How a drive ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum End {
    /// All steps are done, or all that could be put back was.
    Finished(rehome_model::journal::Verdict),
    /// It cannot go on without a person. Resumable.
    Stuck {
        /// The step.
        step: String,
        /// What is wrong.
        cause: String,
        /// What to do, in order.
        instructions: Vec<String>,
    },
    /// Somebody asked to stop. Resumable.
    Interrupted,
}

/// Why a drive could not go on.
#[derive(Debug, thiserror::Error)]
pub enum DriveError {
    /// A record could not be kept: nothing was sent after it.
    #[error(transparent)]
    Store(#[from] StoreFailed),
    /// A record does not follow from the ones before: a fault of the machine.
    #[error(transparent)]
    Replay(#[from] ReplayError),
}

/// Somebody who follows a run: the progress view, the rehearsal's statistics.
pub trait Observer {
    /// A record was written.
    fn recorded(&mut self, record: &Record);

    /// The run waits at a step, and why. Called again only when the reason changes.
    fn waiting(&mut self, step: &str, reason: &str);
}

impl Observer for () {
    fn recorded(&mut self, _: &Record) {}

    fn waiting(&mut self, _: &str, _: &str) {}
}

/// Carries out what the machine says until it ends.
///
/// # Errors
/// A record could not be kept, or does not follow from the ones before. Nothing was sent after it.
pub fn drive(
    machine: &mut Machine,
    world: &mut dyn World,
    store: &mut dyn JournalStore,
    observer: &mut dyn Observer,
) -> Result<End, DriveError> {
    let mut told = String::new();
    loop {
        let now = world.now();
        let alive_until = store.keep_alive(now)?;
        let action = machine.next(world.view(), now);
        let stop = match world.stop() {
            Stop::No => false,
            Stop::AfterSteps => {
                machine.wind_down();
                false
            }
            // Between two requests, never between an announcement and its request: that would only cost time later.
            Stop::Now => !matches!(action, Action::Send { .. } | Action::End(_)),
        };
        if stop || action == Action::Stop {
            keep(machine, store, observer, Event::Interrupted {}, now)?;
            return Ok(End::Interrupted);
        }
        match action {
            Action::Record(event) => keep(machine, store, observer, event, now)?,
            Action::Send { intent, request, audit_id } => {
                // A process that was stopped since the announcement may hold the run no more.
                store.keep_alive(world.now())?;
                let outcome = world.send(&request, &audit_id);
                let now = world.now();
                keep(machine, store, observer, Event::Answer { intent, outcome }, now)?;
            }
            Action::Read { step, target } => {
                let result = world.read(&target);
                machine.observe_read(&step, target, result, now);
            }
            Action::ListPods { step, node } => {
                let result = world.list_pods_on(&node);
                let at = world.now();
                machine.observe_list(&step, result, now, at);
            }
            Action::Wait { until, step, reason } => {
                let line = format!("{step}: {reason}");
                if line != told {
                    observer.waiting(&step, &reason);
                    told = line;
                }
                world.wait(alive_until.map_or(until, |alive| until.min(alive)));
            }
            Action::Stop => {}
            Action::End(end) => return Ok(end),
        }
    }
}

/// Appends a record, and lets the machine know once it is kept.
///
/// # Errors
/// See [`drive`].
pub fn keep(
    machine: &mut Machine,
    store: &mut dyn JournalStore,
    observer: &mut dyn Observer,
    event: Event,
    now: Timestamp,
) -> Result<(), DriveError> {
    let record = machine.record(event, now);
    machine.check(&record)?;
    store.append(&record)?;
    machine.apply(&record)?;
    observer.recorded(&record);
    Ok(())
}

/// What the first record of a run says.
#[derive(Clone, Debug)]
pub struct Start {
    /// The run's name.
    pub run: String,
    /// The plan.
    pub plan: Digest,
    /// The approval, if a document was given.
    pub approval: Option<Digest>,
    /// The cluster.
    pub cluster: ClusterIdentity,
    /// The version of the program.
    pub program: String,
}

/// Writes the first record of a run.
///
/// # Errors
/// See [`drive`].
pub fn start(
    machine: &mut Machine,
    store: &mut dyn JournalStore,
    observer: &mut dyn Observer,
    start: Start,
    now: Timestamp,
) -> Result<(), DriveError> {
    let Start { run, plan, approval, cluster, program } = start;
    let api_version = rehome_model::document::API_VERSION.to_owned();
    keep(machine, store, observer, Event::RunStarted { api_version, run, plan, approval, cluster, program }, now)
}

/// Takes a run up again: writes that it goes on, after a process had ended or a person had looked at what was stuck.
///
/// # Errors
/// See [`drive`]; a run that was rolled back does not go on.
pub fn resume(
    machine: &mut Machine,
    store: &mut dyn JournalStore,
    observer: &mut dyn Observer,
    program: &str,
    torn_bytes: u64,
    now: Timestamp,
) -> Result<(), DriveError> {
    keep(machine, store, observer, Event::Resumed { program: program.to_owned(), torn_bytes }, now)
}

/// From here on, what was changed is put back.
///
/// # Errors
/// See [`drive`]; a run that was rolled back is not rolled back again.
pub fn begin_undo(
    machine: &mut Machine,
    store: &mut dyn JournalStore,
    observer: &mut dyn Observer,
    now: Timestamp,
) -> Result<(), DriveError> {
    keep(machine, store, observer, Event::UndoStarted {}, now)
}
