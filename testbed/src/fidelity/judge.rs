//! The port behind which kube-scheduler's packages and our model answer the same question, and both sides of it.

use rehome_k8s::{Key, View, ingest};
use rehome_model::snapshot::ClusterIdentity;
use rehome_sched::{Judgement, Minor, Model, Preemption, Profile};

use super::generate::Cluster;
use super::verdict::{Cleared, NodeVerdict, PodVerdict, Preemptions, Rejection};
use crate::oracle::{self, Oracle, OracleError, Request, Version};

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
    Ingest(#[from] ingest::IngestError),
    /// A pod that is to be judged is not in the cluster.
    #[error("expected the pod {0} in the cluster, found none")]
    NoPod(String),
    /// The oracle has no answer.
    #[error(transparent)]
    Oracle(#[from] OracleError),
}

/// Our model of a minor.
#[derive(Clone, Copy, Debug)]
pub struct OurModel(pub Minor);

impl Judge for OurModel {
    fn judge(&mut self, cluster: &Cluster) -> Result<Vec<PodVerdict>, JudgeError> {
        let mut view = View::new(ClusterIdentity::default());
        for object in &cluster.objects {
            if let Some(record) = ingest::object(&object.to_string())? {
                view.insert(record);
            }
        }
        let mut model = Model::new(&view, Profile::of(self.0));
        let mut verdicts = vec![];
        for name in &cluster.pods {
            let (namespace, short) = name.split_once('/').unwrap_or(("", name));
            let pod = view.pod(&Key::new(namespace, short)).ok_or_else(|| JudgeError::NoPod(name.clone()))?;
            let mut verdict = of_judgement(name, &model.judge(pod));
            if verdict.message.is_some() {
                verdict.preemption = preemptions(cluster, &model.preemptions(pod));
            }
            verdicts.push(verdict);
        }
        Ok(verdicts)
    }
}

fn preemptions(cluster: &Cluster, found: &[Preemption]) -> Option<Preemptions> {
    let cleared = |candidate: &Preemption| {
        let victims = candidate.victims.iter().map(|pod| pod.meta.key().to_string()).collect();
        let violations = i64::try_from(candidate.violations).unwrap_or(i64::MAX);
        (candidate.node.clone(), Cleared::of(cluster, victims, violations))
    };
    let ties = Preemption::ties(found).into_iter().map(|tie| tie.node.clone()).collect();
    (!found.is_empty()).then(|| Preemptions { ties, candidates: found.iter().map(cleared).collect() })
}

fn of_judgement(pod: &str, judgement: &Judgement) -> PodVerdict {
    let rejection = |rejection: &rehome_sched::Rejection| Rejection {
        plugin: rejection.plugin.to_owned(),
        reasons: rejection.reasons.iter().cloned().collect(),
    };
    let nodes = judgement.nodes.iter().map(|node| NodeVerdict {
        node: node.node.clone(),
        first: node.first.as_ref().map(rejection),
        alone: node.alone.iter().map(rejection).map(|by| (by.plugin, by.reasons)).collect(),
        scores: node.scores.iter().map(|(plugin, score)| ((*plugin).to_owned(), *score)).collect(),
        total: node.total,
    });
    PodVerdict {
        pod: pod.to_owned(),
        blocked: judgement.blocked.as_ref().map(rejection),
        nodes: nodes.collect(),
        message: judgement.message(),
        ..PodVerdict::default()
    }
}

/// kube-scheduler's own packages, of one version.
#[derive(Debug)]
pub struct KubeScheduler {
    oracle: Oracle,
    /// The version of Kubernetes; empty until the first answer.
    pub version: String,
}

impl KubeScheduler {
    /// Starts the program, and builds it if need be.
    ///
    /// # Errors
    /// See [`OracleError`].
    pub fn start(version: Version) -> Result<Self, OracleError> {
        Ok(Self { oracle: Oracle::start(version)?, version: String::new() })
    }
}

impl Judge for KubeScheduler {
    fn judge(&mut self, cluster: &Cluster) -> Result<Vec<PodVerdict>, JudgeError> {
        let request = Request { objects: cluster.objects.clone(), pods: cluster.pods.clone() };
        let response = self.oracle.ask(&request)?;
        self.version = response.version;
        Ok(response.pods.into_iter().map(|pod| of_response(cluster, pod)).collect())
    }
}

fn of_response(cluster: &Cluster, pod: oracle::PodVerdict) -> PodVerdict {
    let rejection =
        |verdict: oracle::Verdict| Rejection { plugin: verdict.plugin, reasons: verdict.reasons.into_iter().collect() };
    let nodes = pod.nodes.into_iter().map(|node| NodeVerdict {
        node: node.node,
        first: node.first.map(rejection),
        alone: node.alone.into_iter().map(|(plugin, reasons)| (plugin, reasons.into_iter().collect())).collect(),
        scores: node.scores,
        total: node.total,
    });
    let preemption = pod.preemption.map(|preemption| Preemptions {
        ties: preemption.ties.into_iter().collect(),
        candidates: preemption
            .candidates
            .into_iter()
            .map(|candidate| (candidate.node, Cleared::of(cluster, candidate.victims, candidate.violations)))
            .collect(),
    });
    PodVerdict {
        pod: pod.pod,
        blocked: pod.blocked.map(rejection),
        nodes: nodes.collect(),
        message: pod.message,
        preemption,
        error: pod.error.unwrap_or_default(),
    }
}

/// The minor that our model has for a version of the oracle, and its number.
#[must_use]
pub fn minor(version: Version) -> (Minor, u32) {
    match version {
        Version::Newest => (Minor::V1_37, 37),
        Version::Floor => (Minor::V1_34, 34),
    }
}
