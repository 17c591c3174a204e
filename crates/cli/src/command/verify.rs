//! `rehome verify`.

use rehome_model::exit;
use rehome_model::plan::Plan;
use rehome_run::verify;

use super::{connect, input, running};
use crate::args::Verify;
use crate::error::CliError;
use crate::ui::Ui;
use crate::view;

/// Compares the cluster after the move with the one before; a check that failed ends with its own exit code.
pub(crate) fn run(args: &Verify, ui: &mut Ui) -> Result<u8, CliError> {
    let plan = input::document::<Plan>(&args.plan, running::PLAN_MADE_BY)?;
    let before = input::snapshot(&args.before, ui)?;
    let after = match &args.after {
        Some(path) => input::snapshot(path, ui)?,
        None => input::live(&connect::open(&args.connection)?, ui)?,
    };
    if before.snapshot.cluster.uid != after.snapshot.cluster.uid {
        let uid = |loaded: &rehome_run::read::Loaded| {
            loaded.snapshot.cluster.uid.as_ref().map_or_else(|| "unknown".to_owned(), ToString::to_string)
        };
        return Err(CliError::usage("the two snapshots are not of one cluster")
            .why(format!("expected kube-system UID {}, found {}", uid(&before), uid(&after)))
            .next("rehome capture --out after.json"));
    }
    let verification =
        verify::verify((&before.view, before.digest), (&after.view, after.digest), (&plan.document, plan.digest));
    input::keep(&verification, args.out.as_ref(), ui)?;
    ui.document(
        &verification,
        |wide| view::verification::text(&verification, wide),
        || verification.checks.iter().map(|check| check.name.clone()).collect(),
    )?;
    Ok(if verification.passed() { exit::DONE } else { exit::VERIFICATION_FAILED })
}
