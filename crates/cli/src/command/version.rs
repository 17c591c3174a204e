//! `rehome version`.

use rehome_model::document::API_VERSION;
use rehome_model::exit;

use crate::error::CliError;
use crate::ui::Ui;

/// The version of the program and of its documents.
pub(crate) fn run(ui: &mut Ui) -> Result<u8, CliError> {
    ui.out(&format!("rehome {}\ndocuments {API_VERSION}\n", env!("CARGO_PKG_VERSION")))?;
    Ok(exit::DONE)
}
