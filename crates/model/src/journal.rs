//! The journal of a run: JSON lines, each naming the one before by digest, flushed to disk before the change that it
//! announces. The state of a run is a fold over it.

use std::collections::BTreeMap;
use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::request::{Outcome, Request};
use crate::snapshot::ClusterIdentity;
use crate::verb::Lineage;
use crate::{Digest, ObjectRef, Timestamp, Uid};

/// One line of a journal.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Record {
    /// 0 for the first line, then one more each.
    pub seq: u64,
    /// When it was written, by the writer's clock.
    pub at: Timestamp,
    /// The digest of the record before; [`Digest::zero`] for the first.
    pub prev: Digest,
    /// What happened.
    #[serde(flatten)]
    pub event: Event,
}

/// What a record says.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "event", rename_all = "camelCase", rename_all_fields = "camelCase")]
pub enum Event {
    /// The run began. Always the first record.
    RunStarted {
        /// The `apiVersion` of the records.
        api_version: String,
        /// The run's name: part of every `Audit-ID`.
        run: String,
        /// The plan.
        plan: Digest,
        /// The approval, if a document was given.
        approval: Option<Digest>,
        /// The cluster.
        cluster: ClusterIdentity,
        /// The version of the program.
        program: String,
    },
    /// A process took the run up again after another had ended.
    Resumed {
        /// The version of the program.
        program: String,
        /// Bytes of an unfinished last line that were cut off.
        torn_bytes: u64,
    },
    /// A step began: what its verb names was resolved to incarnations.
    StepStarted {
        /// The step.
        step: String,
        /// The pods that leave.
        leaving: Vec<LeavingPod>,
        /// All other pods that the lineages had: they are no successors.
        known: Vec<Uid>,
    },
    /// The step needed nothing: what it establishes held already.
    StepAlreadyDone {
        /// The step.
        step: String,
    },
    /// A request is about to be sent. Its `Audit-ID` is `<run>/<seq of this record>/<attempt>`.
    Intent {
        /// The step.
        step: String,
        /// 1 for the first time that this request is sent, then one more each.
        attempt: u32,
        /// The request.
        request: Request,
    },
    /// What became of a request.
    Answer {
        /// The `seq` of the intent.
        intent: u64,
        /// The outcome.
        outcome: Outcome,
    },
    /// A request without an answer was settled by a fresh read.
    Reread {
        /// The `seq` of the intent.
        intent: u64,
        /// Whether it had landed.
        landed: bool,
    },
    /// A pod has left, and its successor is where it should be.
    Moved {
        /// The step.
        step: String,
        /// The receipt.
        receipt: Receipt,
    },
    /// The step is done.
    StepDone {
        /// The step.
        step: String,
    },
    /// Evidence that a node holds nothing but pods that stay: two fresh lists.
    NodeEmpty {
        /// The step that proves it. Journals of before steps ran beside each other do not name it: it was the open one.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        step: Option<String>,
        /// The node.
        node: String,
        /// When the lists were taken, and the pods that stay by name.
        lists: [EmptyList; 2],
    },
    /// Something that the run has put in place, or rests on, is not so any more. Nothing is begun or sent while it lasts.
    Drifted {
        /// What has changed.
        subject: ObjectRef,
        /// What should be so.
        expected: String,
        /// What was seen instead.
        found: String,
    },
    /// It is as it should be again.
    DriftEnded {
        /// What had changed.
        subject: ObjectRef,
    },
    /// The run cannot go on by itself.
    Stuck {
        /// The step.
        step: String,
        /// What is wrong.
        cause: String,
        /// What a person should do, in order.
        instructions: Vec<String>,
    },
    /// The run was asked to stop, and did between two requests.
    Interrupted {},
    /// A person asked to put back what was changed.
    UndoStarted {},
    /// The field has its old value again.
    Undone {
        /// The step whose change was put back.
        step: String,
    },
    /// A change that was not put back.
    Left {
        /// The step.
        step: String,
        /// Why.
        why: String,
    },
    /// The end.
    Finished {
        /// How it ended.
        verdict: Verdict,
    },
}

/// A pod that leaves a node.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct LeavingPod {
    /// Whose pod it is.
    pub workload: ObjectRef,
    /// The pod.
    pub pod: ObjectRef,
    /// The incarnation.
    pub uid: Uid,
    /// The node that it leaves.
    pub node: String,
    /// Whether it was Ready: then its successor has to be, too.
    pub ready: bool,
    /// The PersistentVolumes that it mounts: its receipt waits until they are detached from the node.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub volumes: Vec<String>,
}

/// The receipt of one move.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Receipt {
    /// Whose pod it is.
    pub workload: ObjectRef,
    /// The pod that left.
    pub pod: ObjectRef,
    /// Its incarnation.
    pub uid: Uid,
    /// The node that it left.
    pub from: String,
    /// The pod that was counted as its successor; none for a bare pod.
    pub successor: Option<Successor>,
}

/// The pod that took the place of another.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Successor {
    /// The pod.
    pub pod: ObjectRef,
    /// The incarnation.
    pub uid: Uid,
    /// Where it is.
    pub node: String,
    /// Whether it is Ready.
    pub ready: bool,
}

/// One of the two lists that prove a node empty.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct EmptyList {
    /// When the list was asked for.
    pub at: Timestamp,
    /// The pods on the node, all of which stay.
    pub stays: Vec<ObjectRef>,
}

/// How a run ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum Verdict {
    /// All steps are done.
    Done,
    /// What we changed and still owned was put back.
    RolledBack,
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Done => "done",
            Self::RolledBack => "rolled back",
        })
    }
}

/// The receipts of a run, counted per workload: what a person and the audit checker compare with the plan.
pub type MovesByWorkload = BTreeMap<ObjectRef, usize>;

/// Counts lineages' pods: what the plan says should move.
#[must_use]
pub fn planned(lineages: &[Lineage]) -> MovesByWorkload {
    let mut moves = MovesByWorkload::new();
    for lineage in lineages {
        *moves.entry(lineage.workload.clone()).or_default() += lineage.pods;
    }
    moves
}
