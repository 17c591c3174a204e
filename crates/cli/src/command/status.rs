//! `rehome status`.

use rehome_kube::config_maps::ConfigMaps;
use rehome_model::exit;
use rehome_model::journal::Record;
use rehome_model::plan::Plan;
use rehome_run::status::{self, Standing};
use rehome_run::{journal_file, read};

use super::{connect, copy, input, running};
use crate::args::Status;
use crate::error::CliError;
use crate::ui::Ui;
use crate::view;

/// Says how far a run is, from its journal or from the copy in the cluster and, where it is at hand, its plan.
pub(crate) fn run(args: &Status, ui: &mut Ui) -> Result<u8, CliError> {
    match &args.journal {
        Some(_) => of_file(args, ui),
        None => of_cluster(args, ui),
    }
}

fn of_file(args: &Status, ui: &mut Ui) -> Result<u8, CliError> {
    let Some(journal) = &args.journal else { return of_cluster(args, ui) };
    let held = journal_file::read(journal).map_err(|error| input::journal(&error))?;
    let plan = match named(args)? {
        // Without its plan a run has a status all the same.
        None => read::document::read::<Plan>(&running::plan_beside(journal)).ok().map(|plan| plan.document),
        plan => plan,
    };
    let status = status::fold(&held.records, plan.as_ref()).ok_or_else(no_record)?;
    show(&status, &held.records, ui)?;
    if held.torn_bytes > 0 {
        ui.say(&format!("note: the last record is unfinished ({} bytes); resume cuts it off", held.torn_bytes));
    }
    let journal = journal.display();
    let program = ui.program();
    match status.standing {
        Standing::Finished(_) => ui.say(&format!("next: {program} show {journal}   (every record)")),
        Standing::Undoing => ui.say(&format!("next: {program} rollback --journal {journal}")),
        _ => ui.say(&format!("next: {program} resume --journal {journal}   (or rollback)")),
    }
    Ok(exit::DONE)
}

fn of_cluster(args: &Status, ui: &mut Ui) -> Result<u8, CliError> {
    let connection = connect::open(&args.connection)?;
    let mut objects = ConfigMaps::new(&connection);
    let Some(copied) = copy::read(&mut objects)? else {
        return Err(CliError::usage("no run was ever begun in this cluster, or its journal is in a file alone")
            .next("rehome status --journal FILE"));
    };
    let plan = match named(args)? {
        None => rehome_model::document::read::<Plan>(&copied.plan).ok().map(|plan| plan.document),
        plan => plan,
    };
    let status = status::in_cluster(&copied, plan.as_ref()).ok_or_else(no_record)?;
    show(&status, &copied.records, ui)?;
    let program = ui.program();
    match (&status.standing, copied.head.released) {
        (Standing::Finished(_), _) => {}
        (_, None) => ui.say(&format!(
            "next: look again; if the process is dead: {program} resume   (takes the run over once it was silent for {})",
            rehome_engine::cluster_journal::takeover_after()
        )),
        _ => ui.say(&format!("next: {program} resume   (or rollback)")),
    }
    Ok(exit::DONE)
}

fn named(args: &Status) -> Result<Option<Plan>, CliError> {
    let plan = args.plan.as_ref().map(|file| input::document::<Plan>(file, running::PLAN_MADE_BY)).transpose()?;
    Ok(plan.map(|plan| plan.document))
}

fn no_record() -> CliError {
    CliError::usage("the journal holds no record")
}

fn show(status: &status::Status, records: &[Record], ui: &mut Ui) -> Result<(), CliError> {
    ui.result(
        status,
        |wide| {
            let log = if wide { format!("\n{}", view::journal::text(records, true)) } else { String::new() };
            format!("{}{log}", view::status::text(status, input::now()))
        },
        || vec![status.run.clone()],
    )
}
