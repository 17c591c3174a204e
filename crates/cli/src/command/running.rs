//! What `execute`, `resume` and `rollback` have in common: the plan and its copy, how a run ends, and what comes next.

use std::path::{Path, PathBuf};

use rehome_engine::drive::{DriveError, End};
use rehome_engine::journal::StoreFailed;
use rehome_model::exit;
use rehome_model::journal::Verdict;
use rehome_run::carry_out::RunError;
use rehome_run::write;

use super::input;
use crate::args::Continue;
use crate::error::CliError;
use crate::ui::{BAD, BOLD, GOOD, Ui, paint};

/// The version that journals name.
pub(crate) const PROGRAM: &str = concat!("rehome ", env!("CARGO_PKG_VERSION"));
/// What makes a plan.
pub(crate) const PLAN_MADE_BY: &str = "rehome plan --from pool=old --to pool=new --out plan.json";

/// What the plan expects and the cluster is not: this many are shown. The first few tell whether it is the wrong cluster
/// or a changed one.
const REFUSALS_SHOWN: usize = 8;

/// Where the journal of a plan goes unless told: `plan.json` → `plan.journal.jsonl`.
pub(crate) fn journal_beside(plan: &Path) -> PathBuf {
    plan.with_extension("journal.jsonl")
}

/// Where the copy of the plan is that a run goes on with.
pub(crate) fn plan_beside(journal: &Path) -> PathBuf {
    let mut name = journal.as_os_str().to_owned();
    name.push(".plan.json");
    PathBuf::from(name)
}

/// The plan that `resume` and `rollback` go on with.
pub(crate) fn plan_of(args: &Continue, journal: &Path) -> PathBuf {
    args.plan.clone().unwrap_or_else(|| plan_beside(journal))
}

/// How a run is taken up again.
pub(crate) fn resume(program: &str, journal: &Path) -> String {
    format!("{program} resume --journal {}", journal.display())
}

/// Keeps the plan beside the journal, exactly as it is: its digest covers fields that this version does not know.
/// Returns its text.
pub(crate) fn keep_plan(plan: &Path, journal: &Path) -> Result<String, CliError> {
    let text = std::fs::read_to_string(plan)
        .map_err(|error| CliError::usage("the plan cannot be read").because(&error).next(PLAN_MADE_BY))?;
    write::text_file(&plan_beside(journal), &text).map_err(|error| input::unwritable(&error))?;
    Ok(text)
}

/// What a person reads at the end, and the exit code.
pub(crate) fn ended(end: &End, journal: &Path, ui: &mut Ui) -> Result<u8, CliError> {
    let resume = resume(ui.program(), journal);
    match end {
        End::Finished(Verdict::Done) => {
            ui.out(&format!(
                "{} done: all steps are carried out; the journal is {}\n",
                paint(GOOD, "✓"),
                journal.display()
            ))?;
            ui.say(&format!("next: {} verify --plan {} --before …", ui.program(), plan_beside(journal).display()));
            Ok(exit::DONE)
        }
        End::Finished(Verdict::RolledBack) => {
            ui.out(&format!("{} rolled back: what was changed and still ours has its old value\n", paint(GOOD, "✓")))?;
            ui.say(&format!(
                "next: {} status --journal {}   (lists what was left in place, and why)",
                ui.program(),
                journal.display()
            ));
            Ok(exit::ROLLED_BACK)
        }
        End::Stuck { step, cause, instructions } => {
            ui.out(&format!("{} stuck at {step}\n    because {cause}\n", paint(BAD, "✗")))?;
            for instruction in instructions {
                ui.out(&format!("    {} {instruction}\n", paint(BOLD, "do:")))?;
            }
            ui.say(&format!("next: {resume}   (or {} rollback --journal {})", ui.program(), journal.display()));
            Ok(exit::STUCK)
        }
        End::Interrupted => {
            ui.out("stopped: the steps that were under way are done, and no other was begun\n")?;
            ui.say(&format!("next: {resume}"));
            Ok(exit::INTERRUPTED)
        }
    }
}

/// A run that did not begin, or could not go on.
pub(crate) fn failed(error: &RunError, journal: Option<&Path>) -> CliError {
    let again = journal.map(|journal| format!("rehome resume --journal {}", journal.display()));
    match error {
        RunError::Refused(refusals) => {
            let other_cluster = refusals.iter().any(|refusal| refusal.expected.contains("kube-system UID"));
            let mut cli = if other_cluster {
                CliError::new(exit::STALE, "the plan is for another cluster")
            } else if refusals.iter().all(|refusal| refusal.expected.starts_with("no blocking finding")) {
                CliError::new(exit::BLOCKED, "the plan has blocking findings")
            } else {
                CliError::new(exit::STALE, "the cluster is not the one of the plan any more")
            };
            for refusal in refusals.iter().take(REFUSALS_SHOWN) {
                cli = cli.why(format!("{}: expected {}, found {}", refusal.step, refusal.expected, refusal.found));
            }
            if refusals.len() > REFUSALS_SHOWN {
                cli = cli.why(format!("{} more are not as the plan expects", refusals.len() - REFUSALS_SHOWN));
            }
            if other_cluster {
                cli.next("choose the cluster with --context, or plan for this one")
            } else {
                cli.next(PLAN_MADE_BY)
            }
        }
        RunError::OtherCluster { .. } => CliError::new(exit::STALE, "the journal is of another cluster")
            .because(error)
            .next("choose the cluster with --context"),
        RunError::Replay(source) => CliError::usage("the journal does not belong to this plan")
            .because(source)
            .next("name the plan of the run: --plan FILE"),
        RunError::Ended(verdict) => {
            let cli = CliError::usage(format!("the run has ended already: {verdict}"));
            match verdict {
                Verdict::Done => cli.next("rehome verify --plan … --before …, or rehome rollback --journal …"),
                Verdict::RolledBack => cli.next(PLAN_MADE_BY),
            }
        }
        RunError::Drive(DriveError::Store(source @ StoreFailed::Superseded { .. })) => {
            CliError::new(exit::INTERRUPTED, "this process holds the run no more, and sends nothing more")
                .because(source)
                .next("rehome status   (shows how far the run is, and who holds it)")
        }
        RunError::Drive(DriveError::Store(source)) => {
            let cli = CliError::unexpected("the journal could not be kept, so nothing more was sent").because(source);
            cli.next(format!("mend what stands above, then {}", again.unwrap_or_else(|| "run it again".to_owned())))
        }
        RunError::Drive(source) => {
            let cli = CliError::unexpected("the run could not go on").because(source);
            match again {
                Some(again) => cli.next(again),
                None => cli,
            }
        }
    }
}
