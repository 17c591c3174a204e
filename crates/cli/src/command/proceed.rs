//! `rehome resume` and `rehome rollback`: both take a journal up again.

use rehome_engine::drive::End;
use rehome_run::access;
use rehome_run::carry_out::{self, RunError};
use rehome_run::journal_file::FileJournal;

use super::interrupts::Interrupts;
use super::{connect, execute, input, permitted, running};
use crate::args::Continue;
use crate::error::CliError;
use crate::ui::Ui;
use crate::view;

/// Which way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Direction {
    /// To the end of the plan.
    Forward,
    /// To where the cluster came from.
    Back,
}

/// Takes a run up again.
pub(crate) fn run(args: &Continue, direction: Direction, ui: &mut Ui) -> Result<u8, CliError> {
    let (mut store, held) = FileJournal::open(&args.journal).map_err(|error| input::journal(&error))?;
    if held.torn_bytes > 0 {
        ui.say(&format!(
            "note: the last record was unfinished: {} cut off; nothing was sent that it announced",
            view::count(usize::try_from(held.torn_bytes).unwrap_or(usize::MAX), "byte")
        ));
    }
    let job = execute::job_of(&args.journal, args.plan.as_deref())?;
    let connection = connect::open(&args.connection)?;
    let needed = match direction {
        Direction::Forward => access::to_carry_out(&job.plan),
        Direction::Back => access::to_put_back(&job.plan),
    };
    permitted::ask(&connection, needed, Some(&running::plan_of(args)))?;
    let interrupts = Interrupts::default();
    let mut world = connect::world(&connection, &interrupts)?;
    let end: Result<End, RunError> = {
        let mut progress = view::progress::Running::new(ui, job.plan.steps().count());
        interrupts.listen(&connection, progress.speaker(), running::resume(ui.program(), &args.journal))?;
        let end = match direction {
            Direction::Forward => carry_out::resume(&job, &held, &mut world, &mut store, &mut progress),
            Direction::Back => carry_out::rollback(&job, &held, &mut world, &mut store, &mut progress),
        };
        progress.done();
        end
    };
    let end = end.map_err(|error| running::failed(&error, Some(&args.journal)))?;
    running::ended(&end, &args.journal, ui)
}
