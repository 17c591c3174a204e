//! A person's approval of one plan.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::document::{Document, Header};
use crate::snapshot::ClusterIdentity;
use crate::{Digest, Timestamp};

/// An approval. It names the plan by digest: a plan that was edited afterwards is another plan.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Approval {
    /// `apiVersion` and `kind`.
    #[serde(flatten)]
    pub header: Header,
    /// The plan.
    pub plan: Digest,
    /// The cluster that it was approved for.
    pub cluster: ClusterIdentity,
    /// Who approved it, as the operating system or the kubeconfig names them.
    pub by: String,
    /// When.
    pub at: Timestamp,
}

impl Document for Approval {
    const KIND: &'static str = "Approval";
}
