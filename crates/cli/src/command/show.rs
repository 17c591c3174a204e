//! `rehome show`.

use std::path::Path;

use rehome_model::approval::Approval;
use rehome_model::behaviour::Behaviour;
use rehome_model::check::Check;
use rehome_model::document::Document;
use rehome_model::exit;
use rehome_model::flavor::Catalogue;
use rehome_model::intent::Intent;
use rehome_model::plan::Plan;
use rehome_model::rehearsal::Rehearsal;
use rehome_model::sizing::Sizing;
use rehome_model::verification::Verification;
use rehome_run::{journal_file, read};

use super::input;
use crate::args::Show;
use crate::error::CliError;
use crate::ui::Ui;
use crate::view;

const MADE_BY: &str = "rehome demo   (makes one of each)";

/// Shows a document of any kind, or a journal.
pub(crate) fn run(args: &Show, ui: &mut Ui) -> Result<u8, CliError> {
    let file = args.file.as_path();
    if file.extension().is_some_and(|ext| ext == "jsonl") {
        let held = journal_file::read(file).map_err(|error| input::journal(&error))?;
        ui.out(&view::journal::text(&held.records, ui.wide()))?;
        return Ok(exit::DONE);
    }
    let value = if file.is_dir() {
        None
    } else {
        Some(read::document::value(file).map_err(|error| input::unreadable("the document", &error, MADE_BY))?)
    };
    let kind =
        value.as_ref().filter(|value| value["apiVersion"].as_str().is_some_and(|v| v.starts_with("rehome.dev/")));
    match kind.and_then(|value| value["kind"].as_str()) {
        Some(Plan::KIND) => {
            let plan = input::document::<Plan>(file, MADE_BY)?.document;
            ui.document(&plan, |wide| view::plan::text(&plan, wide), || names(plan.steps().map(|step| &step.name)))?;
        }
        Some(Rehearsal::KIND) => {
            let rehearsal = input::document::<Rehearsal>(file, MADE_BY)?.document;
            ui.document(&rehearsal, |wide| view::rehearsal::text(&rehearsal, wide), Vec::new)?;
        }
        Some(Approval::KIND) => {
            let approval = input::document::<Approval>(file, MADE_BY)?.document;
            ui.document(&approval, |_| view::approval::text(&approval), Vec::new)?;
        }
        Some(Verification::KIND) => {
            let verification = input::document::<Verification>(file, MADE_BY)?.document;
            let names = || names(verification.checks.iter().map(|check| &check.name));
            ui.document(&verification, |wide| view::verification::text(&verification, wide), names)?;
        }
        Some(Sizing::KIND) => {
            let sizing = input::document::<Sizing>(file, MADE_BY)?.document;
            let names = || names(sizing.flavors.iter().map(|one| one.flavor.title()).collect::<Vec<_>>().iter());
            ui.document(&sizing, |wide| view::size::text(&sizing, wide), names)?;
        }
        Some(Check::KIND) => {
            let check = input::document::<Check>(file, MADE_BY)?.document;
            let names = || names(check.findings.iter().map(|finding| &finding.rule));
            ui.document(&check, |wide| super::check::document(&check, wide), names)?;
        }
        Some(Catalogue::KIND) => generic::<Catalogue>(file, ui)?,
        Some(Intent::KIND) => generic::<Intent>(file, ui)?,
        Some(Behaviour::KIND) => generic::<Behaviour>(file, ui)?,
        _ => {
            let loaded = input::snapshot(file, ui)?;
            ui.document(
                &loaded.snapshot,
                |wide| view::snapshot::text(&loaded.snapshot, &loaded.view, &loaded.digest, wide),
                || loaded.view.records().map(|record| record.reference().to_string()).collect(),
            )?;
        }
    }
    Ok(exit::DONE)
}

/// A document that is best read as it is.
fn generic<D: Document>(file: &Path, ui: &mut Ui) -> Result<(), CliError> {
    let document = input::document::<D>(file, MADE_BY)?.document;
    let text = serde_json::to_value(&document)
        .map_err(|error| CliError::unexpected("the document has no JSON").because(&error))
        .and_then(|value| {
            serde_saphyr::to_string(&value)
                .map_err(|error| CliError::unexpected("the document has no YAML").because(&error))
        })?;
    ui.document(&document, |_| text, Vec::new)
}

fn names<'a>(names: impl Iterator<Item = &'a String>) -> Vec<String> {
    names.cloned().collect()
}
