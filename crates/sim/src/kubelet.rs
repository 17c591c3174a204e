//! Kubelets: what happens to a pod on its node, as fast as the [`Behaviour`] says.
//!
//! A volume that only one node can use is busy while any other pod with its claim is on another node, so that a pod
//! waits for its predecessor to be gone. A node that is not Ready does nothing until it is. Not modelled: attach limits,
//! the six minutes after which a volume is detached by force, containers that crash, evictions by pressure.

use std::collections::BTreeMap;
use std::sync::Arc;

use rehome_k8s::pod::{Phase, Pod};
use rehome_k8s::{Key, Kind, Record, View, storage};
use rehome_model::behaviour::{Behaviour, PodBehaviour};
use rehome_model::time::Seconds;
use rehome_model::{Timestamp, Uid};

use crate::controllers::attach_detach::unattached;
use crate::event::KubeletStep;
use crate::random::Random;

mod rules;

use rules::Rules;

/// What all kubelets remember.
#[derive(Clone, Debug)]
pub(crate) struct Kubelets {
    rules: Arc<Rules>,
    /// Pods that wait for a volume or for their node.
    blocked: BTreeMap<Uid, Key>,
    random: Random,
}

/// The waiting reason of a container while its volumes are prepared.
/// Source: `k8s.io/kubernetes/pkg/kubelet/kubelet_pods.go`, `ContainerCreating`.
pub(crate) const CREATING: &str = "ContainerCreating";
/// The same while init containers run.
const INITIALIZING: &str = "PodInitializing";

/// What a kubelet does with a pod when a step is due.
pub(crate) enum Act {
    /// Writes a new status.
    Status(Box<Pod>),
    /// Confirms that the pod has ended.
    Confirm,
    /// Nothing yet: the pod waits for a volume or its node.
    Wait,
    /// Nothing: the step is about another state of the pod.
    Drop,
}

impl Kubelets {
    pub(crate) fn new(behaviour: Behaviour, seed: u64) -> Self {
        Self {
            rules: Arc::new(Rules::new(behaviour)),
            blocked: BTreeMap::new(),
            random: Random::new(seed ^ 0x6b75_6265),
        }
    }

    fn rule(&self, pod: &Pod) -> PodBehaviour {
        // A pod that no rule speaks of behaves like those of a scenario where time does not matter.
        self.rules.of(&pod.meta.labels).cloned().unwrap_or_else(|| PodBehaviour {
            labels: BTreeMap::new(),
            start: Seconds::new(1),
            ready: Some(Seconds::new(1)),
            jitter: Seconds::ZERO,
            stop: Seconds::new(1),
        })
    }

    /// What comes next for a pod that is bound, and when.
    pub(crate) fn next(&mut self, pod: &Pod, now: Timestamp) -> Option<(Timestamp, KubeletStep)> {
        pod.node.as_ref()?;
        let rule = self.rule(pod);
        if let Some(end) = pod.meta.deleting {
            return Some((end.min(now + rule.stop).max(now), KubeletStep::Gone));
        }
        match pod.phase {
            Phase::Pending => Some((now + rule.start, KubeletStep::Start)),
            Phase::Running if !pod.ready => {
                let jitter = self.random.up_to(rule.jitter.as_millis());
                Some((now + rule.ready? + Seconds::from_millis(jitter), KubeletStep::Ready))
            }
            _ => None,
        }
    }

    /// Whether a pod was stuck when it was captured; what made it so is still there.
    pub(crate) fn stuck(pod: &Pod) -> bool {
        pod.reason.as_deref().is_some_and(|reason| reason != CREATING && reason != INITIALIZING)
    }

    /// Carries out a step.
    pub(crate) fn act(&mut self, view: &View, pod: &Arc<Pod>, step: KubeletStep, now: Timestamp) -> Act {
        let asleep = pod.node.as_deref().and_then(|node| view.node(node)).is_some_and(|node| node.ready == Some(false));
        let busy = step == KubeletStep::Start && (busy_claim(view, pod) || unattached(view, pod));
        if asleep || busy {
            self.blocked.insert(pod.meta.uid.clone(), pod.meta.key());
            if busy && pod.reason.as_deref() != Some(CREATING) {
                let waits = Pod { reason: Some(CREATING.to_owned()), ..Pod::clone(pod) };
                return Act::Status(Box::new(waits));
            }
            return Act::Wait;
        }
        let mut changed = Pod::clone(pod);
        match step {
            KubeletStep::Gone if pod.meta.deleting.is_some() => return Act::Confirm,
            KubeletStep::Start if pod.phase == Phase::Pending && pod.meta.deleting.is_none() => {
                changed.phase = Phase::Running;
                changed.reason = None;
                changed.timing.started = changed.timing.scheduled.or(Some(now));
                changed.timing.running = Some(now);
            }
            KubeletStep::Ready if pod.phase == Phase::Running && !pod.ready && pod.meta.deleting.is_none() => {
                changed.ready = true;
                changed.timing.ready = Some(now);
            }
            _ => return Act::Drop,
        }
        Act::Status(Box::new(changed))
    }

    /// The pods that waited and may go on: after a pod is gone or a node has changed.
    pub(crate) fn unblock(&mut self) -> BTreeMap<Uid, Key> {
        std::mem::take(&mut self.blocked)
    }
}

/// Whether a volume of the pod is still in use on another node.
fn busy_claim(view: &View, pod: &Pod) -> bool {
    pod.claims().any(|name| {
        let key = Key::new(pod.meta.namespace.clone(), name.clone());
        let exclusive = matches!(view.get(Kind::PersistentVolumeClaim, &key),
            Some(Record::PersistentVolumeClaim(claim)) if storage::single_node(&claim.access_modes));
        exclusive
            && view.pods_in(&pod.meta.namespace).any(|other| {
                other.meta.uid != pod.meta.uid
                    && other.node.is_some()
                    && other.node != pod.node
                    && !other.finished()
                    && (other.phase == Phase::Running || other.meta.deleting.is_some())
                    && other.claims().any(|claim| claim == name)
            })
    })
}
