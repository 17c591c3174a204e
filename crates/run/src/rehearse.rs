//! A rehearsal: the plan carried out, by the same machine, on a simulated twin of a captured cluster, once for each seed.

use std::collections::BTreeMap;

use rehome_engine::drive::End;
use rehome_k8s::View;
use rehome_model::behaviour::Behaviour;
use rehome_model::document::Header;
use rehome_model::journal::Record;
use rehome_model::rehearsal::{Rehearsal, RehearsedEnd, RehearsedRun};
use rehome_model::time::Seconds;
use rehome_model::verb::{Successor, Verb};
use rehome_model::{Digest, ObjectRef, Timestamp};
use rehome_sim::SimWorld;

use crate::carry_out::{self, Job, RunError};

/// How long after the end of a run the scheduler has tried again what it could not place: its longest backoff is 10 s
/// (`k8s.io/kubernetes/pkg/scheduler/backend/queue`, `DefaultPodMaxBackoffDuration`).
const LAST_TRY: Seconds = Seconds::new(15);

/// The cluster that a twin is made of.
#[derive(Clone, Copy, Debug)]
pub struct Twin<'a> {
    /// What was captured.
    pub view: &'a View,
    /// The snapshot's digest.
    pub snapshot: &'a Digest,
    /// When: the twin's clock begins there.
    pub taken: Timestamp,
    /// How its pods behave.
    pub behaviour: &'a Behaviour,
}

/// Rehearses a plan with the seeds from 1 to `seeds`.
///
/// # Errors
/// The plan does not fit the cluster, or the machine's records do not hold together.
pub fn rehearse(job: &Job, twin: Twin<'_>, seeds: u64) -> Result<Rehearsal, RunError> {
    let mut runs = Vec::new();
    for seed in 1..=seeds {
        let mut run = one(job, twin, seed)?;
        if seed > 1 {
            run.journal.clear();
        }
        runs.push(run);
    }
    Ok(Rehearsal { header: Header::of::<Rehearsal>(), plan: job.digest.clone(), snapshot: twin.snapshot.clone(), runs })
}

fn one(job: &Job, twin: Twin<'_>, seed: u64) -> Result<RehearsedRun, RunError> {
    let mut world = SimWorld::new(twin.view.clone(), twin.behaviour.clone(), seed, twin.taken);
    let mut journal: Vec<Record> = Vec::new();
    let end = match carry_out::execute(job, None, &mut world, &mut journal, &mut ())? {
        End::Finished(_) => RehearsedEnd::Done,
        End::Stuck { step, cause, .. } => RehearsedEnd::Stuck { step, cause },
        End::Interrupted => RehearsedEnd::Stuck { step: String::new(), cause: "interrupted".to_owned() },
    };
    let (took, without_ready) = (world.took(), without_ready(job, &world));
    // What the last step changed lets the scheduler try again, a moment after the run has ended.
    world.advance(LAST_TRY);
    Ok(RehearsedRun {
        seed,
        end,
        took,
        without_ready,
        placements: world.placements(&moved(job)),
        pending: world.pending(),
        journal,
    })
}

/// For how long workloads had no Ready pod. What the plan deletes for good is not listed: it never has one again.
pub fn without_ready(job: &Job, world: &SimWorld) -> BTreeMap<String, Seconds> {
    let gone = |workload: &ObjectRef| {
        job.plan.steps().any(|step| match &step.verb {
            Verb::Delete(delete) => delete.successor == Successor::None && delete.lineage.workload == *workload,
            _ => false,
        })
    };
    let without = world.without_ready().into_iter();
    without.filter(|(workload, _)| !gone(workload)).map(|(workload, time)| (workload.to_string(), time)).collect()
}

/// The workloads that the plan moves.
#[must_use]
pub fn moved(job: &Job) -> Vec<ObjectRef> {
    let mut workloads: Vec<ObjectRef> = job.plan.moves.iter().flat_map(|planned| planned.workloads.clone()).collect();
    workloads.sort();
    workloads
}
