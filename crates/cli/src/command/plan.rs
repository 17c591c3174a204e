//! `rehome plan`.

use rehome_model::exit;

use super::{input, wish};
use crate::args::PlanArgs;
use crate::error::CliError;
use crate::ui::Ui;
use crate::view;

/// Makes a plan. One with blocking findings is shown and kept, but ends with its own exit code.
pub(crate) fn run(args: &PlanArgs, ui: &mut Ui) -> Result<u8, CliError> {
    let intent = wish::intent(&args.wish)?;
    let loaded = input::source(&args.source, ui)?;
    let plan = rehome_plan::plan(&loaded.view, loaded.digest, &intent).map_err(|error| wish::unreadable(&error))?;
    let kept = input::keep(&plan, args.out.as_ref(), ui)?;
    if !kept {
        ui.for_the_next_command();
    }
    ui.document(&plan, |wide| view::plan::text(&plan, wide), || plan.steps().map(|step| step.name.clone()).collect())?;
    if ui.structured() {
        ui.say(&view::plan::summary(&plan));
    }
    let file = args.out.as_ref().map_or_else(|| "plan.json".to_owned(), |path| path.display().to_string());
    if plan.blockers().count() > 0 {
        ui.say(&format!("next: mend what blocks, or agree to it with --consent, and plan again (rehome show {file})"));
        return Ok(exit::BLOCKED);
    }
    let snapshot =
        args.source.snapshot.as_ref().map_or_else(|| "SNAPSHOT".to_owned(), |path| path.display().to_string());
    ui.say(&format!("next: {} rehearse --plan {file} --snapshot {snapshot}", ui.program()));
    let pending = args.detailed_exitcode && !plan.moves.is_empty();
    Ok(if pending { exit::CHANGES_PENDING } else { exit::DONE })
}
