//! A rehearsal: the plan carried out on a simulated twin of the cluster.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::document::{Document, Header};
use crate::journal::Record;
use crate::time::Seconds;
use crate::{Digest, ObjectRef};

/// What came of a rehearsal.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Rehearsal {
    /// `apiVersion` and `kind`.
    #[serde(flatten)]
    pub header: Header,
    /// The plan that was rehearsed.
    pub plan: Digest,
    /// The snapshot that the twin was made from.
    pub snapshot: Digest,
    /// One run per seed, in the order of the seeds.
    pub runs: Vec<RehearsedRun>,
}

impl Document for Rehearsal {
    const KIND: &'static str = "Rehearsal";
}

/// One run of the plan on the twin.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct RehearsedRun {
    /// The seed of ties and jitter.
    pub seed: u64,
    /// How it ended.
    pub end: RehearsedEnd,
    /// How long it took on the twin's clock.
    pub took: Seconds,
    /// For how long each workload had no Ready pod; workloads that always had one are not listed.
    pub without_ready: BTreeMap<String, Seconds>,
    /// Where each pod of the moved workloads ended up.
    pub placements: Vec<Placement>,
    /// Pods that are Pending at the end, with the scheduler's reasons counted over all nodes.
    pub pending: Vec<crate::plan::PendingPod>,
    /// The journal, for the first seed only: it is long.
    pub journal: Vec<Record>,
}

/// How a rehearsed run ended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "end", rename_all = "camelCase")]
pub enum RehearsedEnd {
    /// All steps done.
    Done,
    /// It could not go on.
    Stuck {
        /// At which step.
        step: String,
        /// Why.
        cause: String,
    },
}

/// Where a pod ended up.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
pub struct Placement {
    /// The workload.
    pub workload: ObjectRef,
    /// The pod.
    pub pod: ObjectRef,
    /// The node.
    pub node: String,
}
