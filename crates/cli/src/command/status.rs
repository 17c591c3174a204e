//! `rehome status`.

use rehome_model::exit;
use rehome_run::journal_file;

use super::input;
use crate::args::Status;
use crate::error::CliError;
use crate::ui::Ui;
use crate::view;

/// Says how far a run is, from its journal alone.
pub(crate) fn run(args: &Status, ui: &mut Ui) -> Result<u8, CliError> {
    let held = journal_file::read(&args.journal).map_err(|error| input::journal(&error))?;
    ui.out(&view::journal::text(&held.records, ui.wide()))?;
    Ok(exit::DONE)
}
