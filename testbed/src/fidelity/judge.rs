//! The port behind which kube-scheduler's packages and our model answer the same question.

use super::generate::Cluster;
use super::verdict::PodVerdict;

/// Somebody who can judge the pods of a cluster.
pub trait Judge {
    /// What it says about the cluster's pods, in their order; none is placed.
    ///
    /// # Errors
    /// The cluster cannot be read, or there is no answer.
    fn judge(&mut self, cluster: &Cluster) -> Result<Vec<PodVerdict>, JudgeError>;
}

/// There is no answer.
#[derive(Debug, thiserror::Error)]
pub enum JudgeError {
    /// An object cannot be read by the model.
    #[error(transparent)]
    Ingest(#[from] rehome_k8s::ingest::IngestError),
    /// A pod that is to be judged is not in the cluster.
    #[error("expected the pod {0} in the cluster, found none")]
    NoPod(String),
    /// The oracle has no answer.
    #[error("the oracle: {0}")]
    Oracle(String),
}
