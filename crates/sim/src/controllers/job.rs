//! Jobs: keep pods running until enough have succeeded.
//!
//! Source: `k8s.io/kubernetes/pkg/controller/job/job_controller.go` (`manageJob`), with the default
//! `podReplacementPolicy: TerminatingOrFailed`. Not modelled: back-off and its limit, indexed completion, pod failure
//! policies, deadlines. No pod of the simulated world finishes by itself.

use std::sync::Arc;

use rehome_k8s::pod::{Phase, Pod};
use rehome_k8s::workload::{Workload, WorkloadStatus};
use rehome_k8s::{Key, Kind, Record, View, template};
use rehome_model::{Timestamp, Uid};

use super::{Change, Controller, Mutation, Reconciled, active, count, itself_or_owner};

/// The controller of Jobs.
#[derive(Clone, Copy, Debug)]
pub struct Jobs;

impl Controller for Jobs {
    fn user(&self) -> &'static str {
        "system:serviceaccount:kube-system:job-controller"
    }

    fn concerned(&self, _view: &View, change: &Change) -> Vec<(Kind, Key)> {
        itself_or_owner(Kind::Job, change)
    }

    fn reconcile(&mut self, view: &View, kind: Kind, key: &Key, now: Timestamp) -> Reconciled {
        let Some(job) = view.workload(kind, key) else { return Reconciled::default() };
        let pods: Vec<&Arc<Pod>> = view.pods_controlled_by(&job.meta.uid).collect();
        let running: Vec<_> = pods.iter().filter(|pod| active(pod)).collect();
        // A pod that succeeded may have been cleaned up since: what the status counts stays counted.
        let succeeded =
            count(pods.iter().filter(|pod| pod.phase == Phase::Succeeded).count()).max(job.status.succeeded);
        let left = (job.completions.unwrap_or(1) - succeeded).max(0);
        let wanted = if job.paused { 0 } else { job.replicas.unwrap_or(1).min(left) };
        let mut mutations = Vec::new();
        for _ in count(running.len())..wanted {
            let pod = template::pod(kind, job, &format!("{}-", job.meta.name), Uid::default(), now);
            mutations.push(Mutation::Create(Record::Pod(Arc::new(pod))));
        }
        let too_many = usize::try_from(count(running.len()) - wanted).unwrap_or(0);
        let mut last: Vec<_> = running.iter().map(|pod| (pod.ready, pod.timing.started, pod.meta.key())).collect();
        last.sort();
        mutations.extend(last.into_iter().take(too_many).map(|(_, _, key)| Mutation::Delete(Kind::Pod, key)));
        let status = WorkloadStatus {
            observed_generation: job.status.observed_generation,
            replicas: count(running.len()),
            ready: count(running.iter().filter(|pod| pod.ready).count()),
            succeeded,
            ..job.status
        };
        if status != job.status {
            let job = Workload { status, ..(**job).clone() };
            mutations.push(Mutation::Status(Record::Job(Arc::new(job))));
        }
        Reconciled { mutations, requeue: None }
    }

    fn fork(&self) -> Box<dyn Controller> {
        Box::new(*self)
    }
}
