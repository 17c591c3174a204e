//! Begins a run, goes on with one, and puts back what one changed: on any world, simulated or real.
//!
//! Who may begin (a person at a terminal, an approval) is decided by [`approved`] and by the command line; what must
//! hold before the first write is the engine's preflight.

use std::sync::Arc;

use rehome_engine::drive::{self, DriveError, End, Observer};
use rehome_engine::journal::JournalStore;
use rehome_engine::machine::{Machine, ReplayError};
use rehome_engine::preflight::{self, Refusal};
use rehome_engine::world::World;
use rehome_k8s::View;
use rehome_model::Digest;
use rehome_model::approval::Approval;
use rehome_model::document::Loaded;
use rehome_model::journal::{Event, Verdict};
use rehome_model::plan::Plan;
use rehome_model::snapshot::ClusterIdentity;

use crate::journal_file::Held;

/// A plan that is carried out, with the digest by which approvals and journals name it.
#[derive(Clone, Debug)]
pub struct Job {
    /// The plan.
    pub plan: Arc<Plan>,
    /// Its digest.
    pub digest: Digest,
    /// The version of the program, for the journal.
    pub program: String,
}

impl Job {
    /// A plan that was read.
    #[must_use]
    pub fn new(plan: Loaded<Plan>, program: impl Into<String>) -> Self {
        Self { plan: Arc::new(plan.document), digest: plan.digest, program: program.into() }
    }
}

/// Why a run did not begin or go on. Nothing was sent.
#[derive(Debug, thiserror::Error)]
pub enum RunError {
    /// The cluster is not what the plan was made for.
    #[error("{}", first(.0))]
    Refused(Vec<Refusal>),
    /// The journal belongs to another plan, or does not hold together.
    #[error("the journal does not belong to this plan: {0}")]
    Replay(#[from] ReplayError),
    /// The run of the journal is of another cluster.
    #[error("expected the cluster with kube-system UID {expected}, found {found}")]
    OtherCluster {
        /// The cluster of the run.
        expected: String,
        /// The cluster that is connected.
        found: String,
    },
    /// The run has ended, and there is nothing to go on with.
    #[error("the run has ended: {0}")]
    Ended(Verdict),
    /// A record could not be kept.
    #[error(transparent)]
    Drive(#[from] DriveError),
}

fn first(refusals: &[Refusal]) -> String {
    match refusals {
        [] => "refused".to_owned(),
        [Refusal { step, expected, found }, rest @ ..] => {
            let more = if rest.is_empty() { String::new() } else { format!(" (and {} more)", rest.len()) };
            format!("{step}: expected {expected}, found {found}{more}")
        }
    }
}

/// Why an approval does not cover a plan.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub enum NotApproved {
    /// It is for another plan; an edited plan is another plan.
    #[error("expected an approval of plan {expected}, found one of {found}")]
    OtherPlan {
        /// The plan.
        expected: Digest,
        /// The plan that was approved.
        found: Digest,
    },
    /// It is for another cluster.
    #[error("expected an approval for the cluster {expected}, found one for {found}")]
    OtherCluster {
        /// The plan's cluster.
        expected: String,
        /// The approval's.
        found: String,
    },
}

/// Whether an approval covers a plan.
///
/// # Errors
/// See [`NotApproved`].
pub fn approved(job: &Job, approval: &Approval) -> Result<(), NotApproved> {
    if approval.plan != job.digest {
        return Err(NotApproved::OtherPlan { expected: job.digest.clone(), found: approval.plan.clone() });
    }
    if approval.cluster.uid != job.plan.cluster.uid {
        let (expected, found) = (uid(&job.plan.cluster), uid(&approval.cluster));
        return Err(NotApproved::OtherCluster { expected, found });
    }
    Ok(())
}

/// What keeps a plan from being started on what the view shows.
#[must_use]
pub fn refusals(job: &Job, view: &View) -> Vec<Refusal> {
    preflight::refusals(&job.plan, view)
}

/// The run's name: part of every `Audit-ID`. It is told apart from other runs of the plan by its time.
#[must_use]
pub fn run_name(job: &Job, now: rehome_model::Timestamp) -> String {
    format!("{}-{:x}", job.digest.short(), now.as_millis())
}

/// Begins a run: preflight, the first record, and then everything that the machine says.
///
/// # Errors
/// See [`RunError`].
pub fn execute(
    job: &Job,
    approval: Option<Digest>,
    world: &mut dyn World,
    store: &mut dyn JournalStore,
    observer: &mut dyn Observer,
) -> Result<End, RunError> {
    let run = run_name(job, world.now());
    execute_as(job, run, approval, world, store, observer)
}

/// Begins a run under a name that was made with [`run_name`].
///
/// # Errors
/// See [`RunError`].
pub fn execute_as(
    job: &Job,
    run: String,
    approval: Option<Digest>,
    world: &mut dyn World,
    store: &mut dyn JournalStore,
    observer: &mut dyn Observer,
) -> Result<End, RunError> {
    let refusals = refusals(job, world.view());
    if !refusals.is_empty() {
        return Err(RunError::Refused(refusals));
    }
    let mut machine = Machine::new(Arc::clone(&job.plan), job.digest.clone());
    let started = Event::RunStarted {
        api_version: rehome_model::document::API_VERSION.to_owned(),
        run,
        plan: job.digest.clone(),
        approval,
        cluster: world.view().cluster.clone(),
        program: job.program.clone(),
    };
    let now = world.now();
    drive::keep(&mut machine, store, observer, started, now)?;
    Ok(drive::drive(&mut machine, world, store, observer)?)
}

/// Goes on with a run.
///
/// # Errors
/// See [`RunError`].
pub fn resume(
    job: &Job,
    held: &Held,
    world: &mut dyn World,
    store: &mut dyn JournalStore,
    observer: &mut dyn Observer,
) -> Result<End, RunError> {
    let mut machine = taken_up(job, held, world)?;
    if let Some(verdict) = machine.finished() {
        return Err(RunError::Ended(verdict));
    }
    again(&mut machine, job, held, world, store, observer)?;
    Ok(drive::drive(&mut machine, world, store, observer)?)
}

/// Puts back what a run changed and still owns.
///
/// # Errors
/// See [`RunError`].
pub fn rollback(
    job: &Job,
    held: &Held,
    world: &mut dyn World,
    store: &mut dyn JournalStore,
    observer: &mut dyn Observer,
) -> Result<End, RunError> {
    let mut machine = taken_up(job, held, world)?;
    if machine.finished() == Some(Verdict::RolledBack) {
        return Err(RunError::Ended(Verdict::RolledBack));
    }
    again(&mut machine, job, held, world, store, observer)?;
    if !machine.undoing() {
        let now = world.now();
        drive::keep(&mut machine, store, observer, Event::UndoStarted {}, now)?;
    }
    Ok(drive::drive(&mut machine, world, store, observer)?)
}

/// The machine where the records left off, if they are of this plan and this cluster.
fn taken_up(job: &Job, held: &Held, world: &dyn World) -> Result<Machine, RunError> {
    if let Some(Event::RunStarted { cluster, .. }) = held.records.first().map(|record| &record.event)
        && cluster.uid.is_some()
        && cluster.uid != world.view().cluster.uid
    {
        return Err(RunError::OtherCluster { expected: uid(cluster), found: uid(&world.view().cluster) });
    }
    Ok(Machine::replay(Arc::clone(&job.plan), job.digest.clone(), &held.records)?)
}

fn again(
    machine: &mut Machine,
    job: &Job,
    held: &Held,
    world: &dyn World,
    store: &mut dyn JournalStore,
    observer: &mut dyn Observer,
) -> Result<(), RunError> {
    let event = Event::Resumed { program: job.program.clone(), torn_bytes: held.torn_bytes };
    Ok(drive::keep(machine, store, observer, event, world.now())?)
}

fn uid(cluster: &ClusterIdentity) -> String {
    cluster.uid.as_ref().map_or_else(|| "unknown".to_owned(), ToString::to_string)
}
