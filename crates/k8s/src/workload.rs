//! Controllers of pods: Deployments, ReplicaSets, StatefulSets, DaemonSets, Jobs and their kin.

use std::fmt;

use crate::meta::Meta;
use crate::percent::IntOrPercent;
use crate::selector::Selector;
use crate::template::Template;

/// A controller of pods. Which one is told by the [`crate::record::Record`] that holds it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Workload {
    /// Names, owner, generation.
    pub meta: Meta,
    /// `spec.replicas`, 1 where absent; `parallelism` of a Job; `status.desiredNumberScheduled` of a DaemonSet;
    /// `None` for a CronJob.
    pub replicas: Option<i64>,
    /// `spec.selector`.
    pub selector: Selector,
    /// What its pods are made from.
    pub template: Template,
    /// How it replaces pods.
    pub strategy: WorkloadStrategy,
    /// `volumeClaimTemplates[].metadata.name` of a StatefulSet.
    pub claim_templates: Vec<String>,
    /// `spec.serviceName` of a StatefulSet.
    pub service: Option<String>,
    /// `spec.paused` of a Deployment, `spec.suspend` of a Job.
    pub paused: bool,
    /// `spec.completions` of a Job, 1 where absent.
    pub completions: Option<i64>,
    /// `spec.minReadySeconds`.
    pub min_ready_seconds: i64,
    /// The status.
    pub status: WorkloadStatus,
}

/// How a workload replaces its pods.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum WorkloadStrategy {
    /// Deployment, `RollingUpdate`.
    Rolling {
        /// `maxSurge`, 25 % where absent.
        max_surge: IntOrPercent,
        /// `maxUnavailable`, 25 % where absent.
        max_unavailable: IntOrPercent,
    },
    /// Deployment, `Recreate`.
    Recreate,
    /// StatefulSet, `OrderedReady`.
    #[default]
    Ordered,
    /// StatefulSet, `Parallel`.
    Parallel,
    /// A kind that has none.
    NotApplicable,
}

impl fmt::Display for WorkloadStrategy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Rolling { max_surge, max_unavailable } => {
                write!(f, "RollingUpdate maxSurge={max_surge} maxUnavailable={max_unavailable}")
            }
            Self::Recreate => f.write_str("Recreate"),
            Self::Ordered => f.write_str("OrderedReady"),
            Self::Parallel => f.write_str("Parallel"),
            Self::NotApplicable => f.write_str("none"),
        }
    }
}

/// Status counters, 0 where absent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct WorkloadStatus {
    /// `observedGeneration`.
    pub observed_generation: i64,
    /// `replicas` (`currentNumberScheduled` of a DaemonSet, `active` of a Job).
    pub replicas: i64,
    /// `updatedReplicas`.
    pub updated: i64,
    /// `readyReplicas` (`numberReady` of a DaemonSet).
    pub ready: i64,
    /// `availableReplicas` (`numberAvailable` of a DaemonSet).
    pub available: i64,
    /// `succeeded` of a Job.
    pub succeeded: i64,
}
