//! How far a run is: a fold over its journal, for people. What the engine goes on with is its own fold.

use std::collections::BTreeSet;

use rehome_engine::cluster_journal::Copied;
use rehome_model::journal::{Event, Record, Verdict};
use rehome_model::plan::Plan;
use rehome_model::request::Outcome;
use rehome_model::{Digest, Timestamp};

use crate::critical_path::{self, CriticalPath};

/// How far a run is.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Status {
    /// The run's name.
    pub run: String,
    /// The plan.
    pub plan: Option<Digest>,
    /// When it began.
    pub began: Timestamp,
    /// When its last record was written.
    pub last: Timestamp,
    /// Where it stands.
    pub standing: Standing,
    /// Steps that are done.
    pub done: usize,
    /// Steps of the plan; none where the plan is not at hand.
    pub steps: Option<usize>,
    /// Steps that were begun and are not done.
    pub under_way: Vec<String>,
    /// Requests that were announced.
    pub requests: usize,
    /// Requests that were refused.
    pub refused: usize,
    /// Pods that were moved.
    pub moved: usize,
    /// Nodes that were proved empty.
    pub empty: Vec<String>,
    /// What has drifted and is waited for: what should be so, and what was found.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub drift: Option<String>,
    /// Changes that were put back.
    pub undone: usize,
    /// Changes that were left in place, with the reason.
    pub left: Vec<(String, String)>,
    /// Who holds the run, where its copy in the cluster was asked.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub held: Option<HeldBy>,
    /// The least that the run could take, once it is done and where the plan is at hand.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub critical_path: Option<CriticalPath>,
}

/// Who holds a run.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "camelCase")]
pub struct HeldBy {
    /// The process.
    pub by: String,
    /// How often the run was taken up.
    pub epoch: u64,
    /// When it last gave a sign of life, by its own clock.
    pub renewed: Timestamp,
    /// Why it let go of the run; none while it holds it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub released: Option<String>,
}

/// Where a run stands.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "camelCase", rename_all_fields = "camelCase")]
pub enum Standing {
    /// A process is at it, or was killed.
    Open,
    /// It was asked to stop.
    Interrupted,
    /// It cannot go on without a person.
    Stuck {
        /// At which step.
        step: String,
        /// Why.
        cause: String,
        /// What to do, in order.
        instructions: Vec<String>,
    },
    /// What was changed is being put back.
    Undoing,
    /// It has ended.
    Finished(Verdict),
}

/// The status that the copy in the cluster tells; `None` without a record.
#[must_use]
pub fn in_cluster(copied: &Copied, plan: Option<&Plan>) -> Option<Status> {
    let head = &copied.head;
    let held = HeldBy {
        by: head.holder.to_string(),
        epoch: head.epoch,
        renewed: head.renewed,
        released: head.released.map(|released| released.to_string()),
    };
    Some(Status { held: Some(held), ..fold(&copied.records, plan)? })
}

/// The status that the records tell; `None` without a record.
#[must_use]
pub fn fold(records: &[Record], plan: Option<&Plan>) -> Option<Status> {
    let (first, last) = (records.first()?, records.last()?);
    let mut status = Status {
        run: String::new(),
        plan: None,
        began: first.at,
        last: last.at,
        standing: Standing::Open,
        done: 0,
        steps: plan.map(|plan| plan.steps().count()),
        under_way: Vec::new(),
        requests: 0,
        refused: 0,
        moved: 0,
        empty: Vec::new(),
        drift: None,
        undone: 0,
        left: Vec::new(),
        held: None,
        critical_path: None,
    };
    let (mut begun, mut done) = (Vec::new(), BTreeSet::new());
    let mut undoing = false;
    for record in records {
        match &record.event {
            Event::RunStarted { run, plan, .. } => {
                status.run.clone_from(run);
                status.plan = Some(plan.clone());
            }
            Event::Resumed { .. } => status.standing = if undoing { Standing::Undoing } else { Standing::Open },
            Event::StepStarted { step, .. } => begun.push(step.clone()),
            Event::StepDone { step } | Event::StepAlreadyDone { step } => {
                done.insert(step.clone());
            }
            Event::Intent { .. } => status.requests += 1,
            Event::Answer { outcome: Outcome::Rejected { .. }, .. } => status.refused += 1,
            Event::Answer { .. } | Event::Reread { .. } => {}
            Event::Moved { .. } => status.moved += 1,
            Event::NodeEmpty { node, .. } => status.empty.push(node.clone()),
            Event::Drifted { subject, expected, found } => {
                status.drift = Some(format!("{subject}: expected {expected}; found: {found}"));
            }
            Event::DriftEnded { .. } => status.drift = None,
            Event::Stuck { step, cause, instructions } => {
                let (step, cause, instructions) = (step.clone(), cause.clone(), instructions.clone());
                status.standing = Standing::Stuck { step, cause, instructions };
            }
            Event::Interrupted {} => status.standing = Standing::Interrupted,
            Event::UndoStarted {} => {
                undoing = true;
                status.standing = Standing::Undoing;
            }
            Event::Undone { .. } => status.undone += 1,
            Event::Left { step, why } => status.left.push((step.clone(), why.clone())),
            Event::Finished { verdict } => status.standing = Standing::Finished(*verdict),
        }
    }
    status.under_way = begun.into_iter().filter(|step| !done.contains(step)).collect();
    status.done = done.len();
    if status.standing == Standing::Finished(Verdict::Done) {
        status.critical_path = plan.map(|plan| critical_path::of(plan, &critical_path::took(records)));
    }
    Some(status)
}
