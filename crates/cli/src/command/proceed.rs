//! `rehome resume` and `rehome rollback`: both take a journal up again, from its file, from the cluster, or from both.

use std::path::{Path, PathBuf};

use rehome_engine::cluster_journal::{Claimant, Copied, Winner};
use rehome_engine::drive::End;
use rehome_kube::config_maps::ConfigMaps;
use rehome_model::journal::{Event, Record};
use rehome_run::access;
use rehome_run::carry_out::{self, Job, RunError};
use rehome_run::journal_file::{FileJournal, Held};
use rehome_run::mirrored::{self, Mirrored, SettleError};
use rehome_run::write;

use super::interrupts::Interrupts;
use super::{connect, copy, execute, input, permitted, running};
use crate::args::Continue;
use crate::error::CliError;
use crate::ui::Ui;
use crate::view;

/// Which way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Direction {
    /// To the end of the plan.
    Forward,
    /// To where the cluster came from.
    Back,
}

/// A run that can go on.
struct TakenUp {
    job: Job,
    held: Held,
    store: Mirrored<ConfigMaps>,
    journal: PathBuf,
}

/// Takes a run up again.
pub(crate) fn run(args: &Continue, direction: Direction, ui: &mut Ui) -> Result<u8, CliError> {
    // What can be refused without a cluster is refused first.
    let file = match &args.journal {
        Some(path) if path.exists() || args.copy.no_cluster_journal => {
            Some(FileJournal::open(path).map_err(|error| input::journal(&error))?)
        }
        _ => None,
    };
    if file.is_none() && args.copy.no_cluster_journal {
        return Err(CliError::usage("there is no journal").next("name it: --journal FILE"));
    }
    if let Some(torn_bytes) = file.as_ref().map(|(_, held)| held.torn_bytes).filter(|torn| *torn > 0) {
        ui.say(&format!(
            "note: the last record was unfinished: {} cut off; nothing was sent that it announced",
            view::count(usize::try_from(torn_bytes).unwrap_or(usize::MAX), "byte")
        ));
    }
    let connection = connect::open(&args.connection)?;
    let interrupts = Interrupts::default();
    let mut objects = ConfigMaps::new(&connection);
    let permit = |job: &Job, journal: &Path| {
        let needed = match direction {
            Direction::Forward => access::to_carry_out(&job.plan),
            Direction::Back => access::to_put_back(&job.plan),
        };
        let needed = needed.into_iter().chain(args.copy.needed()).collect();
        permitted::ask(&connection, needed, Some(&running::plan_of(args, journal)))
    };
    let copied = if args.copy.no_cluster_journal { None } else { copy::read(&mut objects)? };
    let taken = match (file, copied) {
        (Some((file, held)), _) if args.copy.no_cluster_journal => {
            let journal = file.path().to_owned();
            let job = execute::job_of(&journal, args.plan.as_deref())?;
            permit(&job, &journal)?;
            TakenUp { job, held, store: Mirrored::new(file, None), journal }
        }
        (Some((file, held)), copied) => from_file(args, (file, held), copied, objects, permit, ui)?,
        (None, Some(copied)) => {
            let job = |journal: &Path| {
                let job = trusted(args, journal, &copied, &connection, ui)?;
                permit(&job, journal).map(|()| job)
            };
            from_cluster(args, &copied, objects, job, ui)?
        }
        (None, None) => {
            return Err(CliError::usage("there is no run in this cluster")
                .next("name its journal: --journal FILE   (or rehome execute …)"));
        }
    };
    let TakenUp { job, held, mut store, journal } = taken;
    let mut world = connect::world(&connection, &interrupts)?;
    let end: Result<End, RunError> = {
        let mut progress = view::progress::Running::new(ui, job.plan.steps().count());
        interrupts.listen(&connection, progress.speaker(), running::resume(ui.program(), &journal))?;
        let end = match direction {
            Direction::Forward => carry_out::resume(&job, &held, &mut world, &mut store, &mut progress),
            Direction::Back => carry_out::rollback(&job, &held, &mut world, &mut store, &mut progress),
        };
        progress.done();
        end
    };
    let end = end.map_err(|error| running::failed(&error, Some(&journal)))?;
    running::ended(&end, &journal, ui)
}

/// Goes on from the file, brought to where the run stands by the copy in the cluster.
fn from_file(
    args: &Continue,
    (file, held): (FileJournal, Held),
    copied: Option<Copied>,
    objects: ConfigMaps,
    permit: impl Fn(&Job, &Path) -> Result<(), CliError>,
    ui: &Ui,
) -> Result<TakenUp, CliError> {
    let journal = file.path().to_owned();
    let job = execute::job_of(&journal, args.plan.as_deref())?;
    permit(&job, &journal)?;
    let plan = plan_text(&running::plan_of(args, &journal))?;
    let run = run_of(&held.records);
    let same_run = copied.as_ref().filter(|copied| copied.head.run == run);
    let (file, held, ahead) = match same_run {
        None => (file, held, 0),
        Some(copied) => {
            let settled = mirrored::settle(file, held, &copied.records).map_err(|error| unsettled(&error))?;
            if let Some(note) = note(settled.winner, settled.set_aside.as_deref()) {
                ui.say(&note);
            }
            (settled.file, settled.held, copied.records.len())
        }
    };
    let claimant = Claimant { holder: copy::holder(&journal), run, plan: job.digest.clone() };
    let mut cluster = copy::take(objects, claimant, copied, &plan, ui)?;
    cluster
        .ahead(&held.records[ahead..])
        .map_err(|error| CliError::unexpected("a record has no JSON").because(&error))?;
    Ok(TakenUp { job, held, store: Mirrored::new(file, Some(cluster)), journal })
}

/// Goes on from the copy in the cluster alone.
fn from_cluster(
    args: &Continue,
    copied: &Copied,
    objects: ConfigMaps,
    job: impl FnOnce(&Path) -> Result<Job, CliError>,
    ui: &Ui,
) -> Result<TakenUp, CliError> {
    let journal = args.journal.clone().unwrap_or_else(|| PathBuf::from(format!("{}.journal.jsonl", copied.head.run)));
    let beside = running::plan_beside(&journal);
    if beside.exists() {
        return Err(CliError::usage(format!("{} exists already, and is not overwritten", beside.display()))
            .next("name another file for the journal: --journal FILE"));
    }
    write::text_file(&beside, &copied.plan).map_err(|error| input::unwritable(&error))?;
    let forget = |_: &CliError| {
        let _ = std::fs::remove_file(&beside);
    };
    let job = job(&journal).inspect_err(forget)?;
    let (file, held) = mirrored::adopt(&journal, &copied.records).map_err(|error| unsettled(&error))?;
    ui.say(&format!("the journal was read from the cluster and is kept in {}", journal.display()));
    let claimant = Claimant { holder: copy::holder(&journal), run: copied.head.run.clone(), plan: job.digest.clone() };
    let cluster = copy::take(objects, claimant, Some(copied.clone()), &copied.plan, ui).inspect_err(|error| {
        forget(error);
        let _ = std::fs::remove_file(&journal);
    })?;
    Ok(TakenUp { job, held, store: Mirrored::new(file, Some(cluster)), journal })
}

/// The plan that came from the cluster, once somebody stands for it: whoever may write ConfigMaps there could have
/// changed it.
fn trusted(
    args: &Continue,
    journal: &Path,
    copied: &Copied,
    connection: &rehome_kube::Connection,
    ui: &Ui,
) -> Result<Job, CliError> {
    let job = execute::job_of(journal, args.plan.as_deref())?;
    if job.digest != copied.head.plan {
        return Err(CliError::usage("the plan is not that of the run in the cluster")
            .why(format!("expected {}, found {}", copied.head.plan, job.digest))
            .next("name the plan of the run: --plan FILE"));
    }
    execute::introduce(connection, &job, ui);
    let plan = running::plan_of(args, journal);
    if args.plan.is_none() && execute::approval(args.approval.as_deref(), &plan, &job, ui)?.is_none() {
        execute::confirm(&job, ui)?;
    }
    Ok(job)
}

/// The name of the run, from its first record.
fn run_of(records: &[Record]) -> String {
    match records.first().map(|record| &record.event) {
        Some(Event::RunStarted { run, .. }) => run.clone(),
        _ => String::new(),
    }
}

fn plan_text(file: &Path) -> Result<String, CliError> {
    std::fs::read_to_string(file)
        .map_err(|error| CliError::usage("the plan cannot be read").because(&error).next(running::PLAN_MADE_BY))
}

/// What a person should know of the two copies.
fn note(winner: Winner, set_aside: Option<&Path>) -> Option<String> {
    match winner {
        Winner::Either | Winner::File { .. } | Winner::Neither => None,
        Winner::Cluster { more } => {
            Some(format!("note: the run went on elsewhere; {} taken from the cluster", view::count(more, "record")))
        }
        Winner::ClusterInstead { common, dropped } => Some(format!(
            "note: the run went on elsewhere after record {common}; what the file says after that was never sent ({}) \
             and is kept in {}",
            view::count(dropped, "record"),
            set_aside.map_or_else(String::new, |file| file.display().to_string())
        )),
    }
}

fn unsettled(error: &SettleError) -> CliError {
    match error {
        SettleError::Journal(error) => input::journal(error),
        SettleError::OtherRun { .. } => CliError::usage("the journal is of another run")
            .because(error)
            .next("rehome status   (shows the run in the cluster)"),
        SettleError::Store(_) => {
            CliError::unexpected("the journal could not be kept").because(error).next("mend the disk, and run it again")
        }
    }
}
