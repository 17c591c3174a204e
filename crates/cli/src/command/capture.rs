//! `rehome capture`.

use rehome_model::exit;

use super::input;
use crate::args::Capture;
use crate::error::CliError;
use crate::ui::Ui;
use crate::view;

/// Takes a snapshot and writes it.
pub(crate) fn run(args: &Capture, ui: &mut Ui) -> Result<u8, CliError> {
    let loaded = input::source(&args.source, ui)?;
    if !input::keep(&loaded.snapshot, args.out.as_ref(), ui)? {
        ui.for_the_next_command();
    }
    ui.document(
        &loaded.snapshot,
        |wide| view::snapshot::text(&loaded.snapshot, &loaded.view, &loaded.digest, wide),
        || loaded.view.records().map(|record| record.reference().to_string()).collect(),
    )?;
    ui.say(&format!(
        "{} of {}",
        view::count(loaded.snapshot.objects.len(), "object"),
        view::cluster(&loaded.snapshot.cluster)
    ));
    Ok(exit::DONE)
}
