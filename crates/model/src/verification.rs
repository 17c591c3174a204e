//! A verification: the cluster after the move against the cluster before it.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::Digest;
use crate::ObjectRef;
use crate::document::{Document, Header};

/// What a comparison of two snapshots says.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Verification {
    /// `apiVersion` and `kind`.
    #[serde(flatten)]
    pub header: Header,
    /// The snapshot from before the move.
    pub before: Digest,
    /// The snapshot from after it.
    pub after: Digest,
    /// The plan that was carried out.
    pub plan: Digest,
    /// The checks, in the order in which they are shown.
    pub checks: Vec<Check>,
}

impl Document for Verification {
    const KIND: &'static str = "Verification";
}

impl Verification {
    /// Whether no check failed.
    #[must_use]
    pub fn passed(&self) -> bool {
        self.checks.iter().all(|check| !matches!(check.result, CheckResult::Failed))
    }
}

/// One thing that was compared.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Check {
    /// The check's name: its file name in `rehome-run`, `verify/`.
    pub name: String,
    /// How it came out.
    pub result: CheckResult,
    /// One sentence with the figures.
    pub message: String,
    /// The objects that it failed on, with what is wrong with each.
    pub offenders: Vec<Offender>,
}

/// How a check came out.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum CheckResult {
    /// As it should be.
    Passed,
    /// Different from before, or from what the plan says.
    Failed,
    /// A source is missing in one of the snapshots.
    Unknown,
}

/// An object that a check failed on.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Offender {
    /// The object.
    pub object: ObjectRef,
    /// What is wrong with it.
    pub why: String,
}
