//! `rehome status`.

use rehome_model::exit;
use rehome_model::plan::Plan;
use rehome_run::status::{self, Standing};
use rehome_run::{journal_file, read};

use super::{input, running};
use crate::args::Status;
use crate::error::CliError;
use crate::ui::Ui;
use crate::view;

/// Says how far a run is, from its journal and, where it is at hand, its plan.
pub(crate) fn run(args: &Status, ui: &mut Ui) -> Result<u8, CliError> {
    let held = journal_file::read(&args.journal).map_err(|error| input::journal(&error))?;
    let plan = match &args.plan {
        Some(file) => Some(input::document::<Plan>(file, running::PLAN_MADE_BY)?),
        // Without its plan a run has a status all the same.
        None => read::document::read::<Plan>(&running::plan_beside(&args.journal)).ok(),
    };
    let plan = plan.map(|plan| plan.document);
    let status =
        status::fold(&held.records, plan.as_ref()).ok_or_else(|| CliError::usage("the journal holds no record"))?;
    ui.result(
        &status,
        |wide| {
            let log = if wide { format!("\n{}", view::journal::text(&held.records, true)) } else { String::new() };
            format!("{}{log}", view::status::text(&status))
        },
        || vec![status.run.clone()],
    )?;
    if held.torn_bytes > 0 {
        ui.say(&format!("note: the last record is unfinished ({} bytes); resume cuts it off", held.torn_bytes));
    }
    let journal = args.journal.display();
    let program = ui.program();
    match status.standing {
        Standing::Finished(_) => ui.say(&format!("next: {program} show {journal}   (every record)")),
        Standing::Undoing => ui.say(&format!("next: {program} rollback --journal {journal}")),
        _ => ui.say(&format!("next: {program} resume --journal {journal}   (or rollback)")),
    }
    Ok(exit::DONE)
}
