//! `rehome rehearse`.

use rehome_model::behaviour::Behaviour;
use rehome_model::exit;
use rehome_model::plan::Plan;
use rehome_model::rehearsal::RehearsedEnd;
use rehome_run::carry_out::Job;
use rehome_run::rehearse::{self, Twin};

use super::{input, running};
use crate::args::Rehearse;
use crate::error::CliError;
use crate::ui::Ui;
use crate::view;

/// Rehearses a plan; a run that got stuck ends with its own exit code.
pub(crate) fn run(args: &Rehearse, ui: &mut Ui) -> Result<u8, CliError> {
    let plan = input::document::<Plan>(&args.plan, running::PLAN_MADE_BY)?;
    let loaded = input::snapshot(&args.snapshot, ui)?;
    if plan.document.snapshot != loaded.digest {
        ui.say("note: this is not the snapshot that the plan was made from; the twin is made of this one");
    }
    let job = Job::new(plan, running::PROGRAM);
    let behaviour = match &args.behaviour {
        Some(file) => input::document::<Behaviour>(file, "rehome demo   (has one)")?.document,
        None => {
            let measured = rehome_sim::measured::behaviour_from(&loaded.view);
            let assumed = measured.assumed.len();
            if assumed > 0 {
                ui.say(&format!("note: durations are taken from the snapshot; for {} something had to be assumed (stopping, mostly)", view::count(assumed, "workload")));
            }
            measured.behaviour
        }
    };
    let twin =
        Twin { view: &loaded.view, snapshot: &loaded.digest, taken: loaded.snapshot.taken, behaviour: &behaviour };
    let rehearsal = rehearse::rehearse(&job, twin, args.seeds).map_err(|error| running::failed(&error, None))?;
    input::keep(&rehearsal, args.out.as_ref(), ui)?;
    ui.document(
        &rehearsal,
        |wide| view::rehearsal::text(&rehearsal, wide),
        || rehearsal.runs.iter().map(|run| run.seed.to_string()).collect(),
    )?;
    let done = rehearsal.runs.iter().all(|run| run.end == RehearsedEnd::Done);
    if !done {
        ui.say("next: read why it got stuck, mend it in the cluster or in the intent, and plan again");
        return Ok(exit::STUCK);
    }
    ui.say(&format!("next: {} execute --plan {}", ui.program(), args.plan.display()));
    Ok(exit::DONE)
}
