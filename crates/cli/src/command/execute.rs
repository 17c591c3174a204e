//! `rehome execute`.

use std::path::Path;

use rehome_engine::cluster_journal::Claimant;
use rehome_kube::Connection;
use rehome_kube::config_maps::ConfigMaps;
use rehome_model::approval::Approval;
use rehome_model::plan::Plan;
use rehome_model::{Digest, exit};
use rehome_run::access;
use rehome_run::carry_out::{self, Job, RunError};
use rehome_run::journal_file::FileJournal;
use rehome_run::mirrored::Mirrored;

use super::interrupts::Interrupts;
use super::{connect, copy, input, permitted, running};
use crate::args::Execute;
use crate::error::CliError;
use crate::ui::{BOLD, Ui, paint};
use crate::view;

/// Carries a plan out: everything that can be asked is asked before the first write.
pub(crate) fn run(args: &Execute, ui: &mut Ui) -> Result<u8, CliError> {
    let job = Job::new(input::document::<Plan>(&args.plan, running::PLAN_MADE_BY)?, running::PROGRAM);
    if job.plan.blockers().count() > 0 {
        return Err(CliError::new(exit::BLOCKED, "the plan has blocking findings")
            .next(format!("rehome show {}", args.plan.display())));
    }
    let approval = approval(args.approval.as_deref(), &args.plan, &job, ui)?;
    let journal = args.journal.clone().unwrap_or_else(|| running::journal_beside(&args.plan));
    if journal.exists() {
        let exists = rehome_run::journal_file::JournalError::Exists { file: journal };
        return Err(input::journal(&exists));
    }
    let connection = connect::open(&args.connection)?;
    introduce(&connection, &job, ui);
    let needed = access::to_carry_out(&job.plan).into_iter().chain(args.copy.needed()).collect();
    permitted::ask(&connection, needed, Some(&args.plan))?;
    let interrupts = Interrupts::default();
    let mut objects = ConfigMaps::new(&connection);
    if !args.copy.no_cluster_journal {
        copy::free(&mut objects, args.instead_of.as_deref())?;
    }
    let mut world = connect::world(&connection, &interrupts)?;
    let refusals = carry_out::refusals(&job, rehome_engine::world::World::view(&world));
    if !refusals.is_empty() {
        return Err(running::failed(&RunError::Refused(refusals), None));
    }
    if approval.is_none() {
        confirm(&job, ui)?;
    }
    let file = FileJournal::create(&journal).map_err(|error| input::journal(&error))?;
    let run = carry_out::run_name(&job, input::now());
    let mut store = copies(args, &job, &run, (file, &journal), objects, ui).inspect_err(|_| forget(&journal))?;
    let end = {
        let mut progress = view::progress::Running::new(ui, job.plan.steps().count());
        interrupts.listen(&connection, progress.speaker(), running::resume(ui.program(), &journal))?;
        let end = carry_out::execute_as(&job, run, approval, &mut world, &mut store, &mut progress);
        progress.done();
        if matches!(end, Err(RunError::Refused(_))) {
            // Nothing has begun; who finds a place that was not left waits a minute, no more.
            let _ = store.give_up(input::now());
            forget(&journal);
        }
        end.map_err(|error| running::failed(&error, Some(&journal)))?
    };
    running::ended(&end, &journal, ui)
}

/// Both copies of the journal, and the plan beside each.
fn copies(
    args: &Execute,
    job: &Job,
    run: &str,
    (file, journal): (FileJournal, &Path),
    objects: ConfigMaps,
    ui: &Ui,
) -> Result<Mirrored<ConfigMaps>, CliError> {
    let plan = running::keep_plan(&args.plan, journal)?;
    if args.copy.no_cluster_journal {
        return Ok(Mirrored::new(file, None));
    }
    let claimant = Claimant { holder: copy::holder(journal), run: run.to_owned(), plan: job.digest.clone() };
    let cluster = copy::begin(objects, claimant, &plan, args.instead_of.as_deref(), ui)?;
    Ok(Mirrored::new(file, Some(cluster)))
}

/// Nothing has begun: an empty journal would only stand in the way of the next run.
fn forget(journal: &Path) {
    let _ = std::fs::remove_file(journal);
    let _ = std::fs::remove_file(running::plan_beside(journal));
}

/// The digest of the approval that was given. Where nobody can be asked, there must be one.
pub(crate) fn approval(file: Option<&Path>, plan: &Path, job: &Job, ui: &Ui) -> Result<Option<Digest>, CliError> {
    let plan = plan.display();
    let approve = format!(
        "rehome approve --plan {plan} --out approval.json, then rehome execute --plan {plan} --approval approval.json"
    );
    let Some(file) = file else {
        if ui.can_ask() {
            return Ok(None);
        }
        return Err(CliError::usage("nobody can be asked here, and there is no approval").next(approve));
    };
    let loaded = input::document::<Approval>(file, &approve)?;
    carry_out::approved(job, &loaded.document)
        .map_err(|error| CliError::usage("the approval does not cover this plan").because(&error).next(approve))?;
    Ok(Some(loaded.digest))
}

/// Shows which cluster this is.
pub(crate) fn introduce(connection: &Connection, job: &Job, ui: &Ui) {
    let found = connection.describe();
    let or_none = |text: Option<&String>| text.cloned().unwrap_or_else(|| "<none>".to_owned());
    ui.say(&format!("context   {}", or_none(found.context.as_ref())));
    ui.say(&format!("server    {}", found.server));
    ui.say(&format!("cluster   {}", view::cluster(&found.identity())));
    ui.say(&format!("plan      {}", job.digest.short()));
    for line in view::plan::in_lines(&job.plan) {
        ui.say(&format!("          {line}"));
    }
}

/// Asks for the name of the cluster: not something that a hand types by itself.
pub(crate) fn confirm(job: &Job, ui: &Ui) -> Result<(), CliError> {
    let name = view::cluster_name(&job.plan.cluster);
    let answer = ui.ask(&format!("Type the name of the cluster to go on ({}): ", paint(BOLD, name)))?;
    if answer == name {
        return Ok(());
    }
    Err(CliError::usage(format!("expected {name:?}, found {answer:?}; nothing was changed")).next("rehome execute …"))
}

/// The plan of a run that goes on.
pub(crate) fn job_of(journal: &Path, plan: Option<&Path>) -> Result<Job, CliError> {
    let beside = running::plan_beside(journal);
    let file = plan.unwrap_or(&beside);
    let made_by = "name the plan of the run: --plan FILE";
    Ok(Job::new(input::document::<Plan>(file, made_by)?, running::PROGRAM))
}
