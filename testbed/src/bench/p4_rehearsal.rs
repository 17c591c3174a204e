//! P4: one rehearsal of a move: 30,000 pods, 3,000 volumes and 500 budgets on 500 nodes go to 500 others.
//!
//! The planner makes a wave of each node that is emptied, so that the move has more than the two waves of the issue; the
//! steps, requests and pods are the same. What is timed is what `rehome rehearse --seeds 1` does with a plan and a view:
//! the twin, the run, and the report.

use std::sync::Arc;

use rehome_model::intent::Intent;
use rehome_model::rehearsal::RehearsedEnd;
use rehome_model::{Digest, Timestamp};
use rehome_run::carry_out::Job;
use rehome_run::rehearse::{Twin, rehearse};
use serde_json::json;

use super::figures::{RUNS, Row, Unit};
use super::stopwatch::{Took, timed};
use super::{BenchError, objects, whole};

/// Seconds that the issue allows.
const TARGET: f64 = 1.2;

/// Measures the row.
///
/// # Errors
/// See [`BenchError`]; also where the rehearsal does not come to its end.
pub fn row(size: whole::Size) -> Result<Row, BenchError> {
    let otherwise =
        |what: &str, found: String| BenchError::Otherwise { what: what.to_owned(), expected: "done".to_owned(), found };
    let view = objects::view(&whole::objects(size))?;
    let intent = json!({"apiVersion": "rehome.dev/v1alpha1", "kind": "Intent", "from": "pool=old", "to": "pool=new"});
    let intent: Intent = serde_json::from_value(intent).map_err(|error| otherwise("the intent", error.to_string()))?;
    let snapshot = Digest::of(&"generated").map_err(|error| otherwise("the digest", error.to_string()))?;
    let plan = rehome_plan::plan(&view, snapshot.clone(), &intent)
        .map_err(|error| otherwise("the plan", error.to_string()))?;
    let digest = Digest::of(&plan).map_err(|error| otherwise("the digest", error.to_string()))?;
    let (waves, steps) = (plan.waves.len(), plan.steps().count());
    let job = Job { plan: Arc::new(plan), digest, program: "bench".to_owned() };
    let behaviour = rehome_sim::measured::behaviour_from(&view).behaviour;
    let twin = Twin {
        view: &view,
        snapshot: &snapshot,
        taken: Timestamp::from_millis(1_800_000_000_000),
        behaviour: &behaviour,
    };
    let (mut took, mut moved): (Vec<Took>, usize) = (Vec::new(), 0);
    for _ in 0..RUNS {
        let (rehearsal, time) = timed(|| rehearse(&job, twin, 1));
        let rehearsal = rehearsal.map_err(|error| otherwise("the rehearsal", error.to_string()))?;
        for run in &rehearsal.runs {
            if run.end != RehearsedEnd::Done {
                return Err(otherwise("the rehearsal", format!("{:?}", run.end)));
            }
            moved = run.placements.len();
        }
        took.push(time);
    }
    let what = format!("one rehearsal: {moved} pods move in {waves} waves, {steps} steps");
    Ok(Row::timed("P4", what, Unit::Seconds, &took, |seconds| seconds).target(TARGET))
}
