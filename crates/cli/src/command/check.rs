//! `rehome check`.

use rehome_model::check::Check as Document;
use rehome_model::exit;
use rehome_model::finding::{Finding, Severity};

use super::{input, wish};
use crate::args::Check;
use crate::error::CliError;
use crate::ui::{GOOD, Ui, paint};
use crate::view;

/// Says what the rules find; blocking findings end with their own exit code.
pub(crate) fn run(args: &Check, ui: &mut Ui) -> Result<u8, CliError> {
    let intent = wish::intent(&args.wish)?;
    let loaded = input::source(&args.source, ui)?;
    let check = rehome_plan::examine(&loaded.view, &intent).map_err(|error| wish::unreadable(&error))?;
    let findings = &check.findings;
    let blocking = findings.iter().filter(|finding| finding.severity == Severity::Blocking).count();
    ui.document(
        &check,
        |wide| document(&check, wide),
        || findings.iter().map(|finding| format!("{} {}", finding.code, finding.subject)).collect(),
    )?;
    if blocking > 0 {
        ui.say(&format!("next: mend what blocks, or agree to it: {} plan … --consent …", ui.program()));
        return Ok(exit::BLOCKED);
    }
    ui.say(&format!("next: {} plan --from {:?} --to {:?} …", ui.program(), intent.from, intent.to));
    Ok(exit::DONE)
}

/// The whole document.
pub(crate) fn document(check: &Document, wide: bool) -> String {
    format!("{}{}", text(&check.findings, wide), view::fidelity::text(&check.fidelity, wide))
}

/// The findings and their count.
pub(crate) fn text(findings: &[Finding], wide: bool) -> String {
    if findings.is_empty() {
        return format!("{} nothing stands in the way\n", paint(GOOD, "✓"));
    }
    format!("{}\nCheck: {}\n", view::findings::text(findings, wide), view::findings::summary(findings))
}
