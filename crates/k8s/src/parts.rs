//! What the containers of a pod ask for, one by one: what LimitRanges look at, and sums forget.
//!
//! Source of the sums: `k8s.io/component-helpers/resource`, `PodRequests` and `PodLimits`.

use std::cmp::Ordering;
use std::sync::Arc;

use crate::mutant::{Mutant, on};
use crate::node::Resources;
use crate::requests::{self, Asked, ContainerRequest};

/// The parts that what a pod asks for is made of.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Parts {
    /// Containers.
    pub containers: Vec<ContainerAsk>,
    /// Init containers, in order.
    pub inits: Vec<ContainerAsk>,
    /// `spec.resources.requests`: for the whole pod.
    pub pod_requests: Resources,
    /// `spec.resources.limits`: for the whole pod.
    pub pod_limits: Resources,
    /// `spec.overhead`.
    pub overhead: Resources,
}

/// What one container asks for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ContainerAsk {
    /// Its name.
    pub name: String,
    /// Requests. A limit without a request is also the request, as the API server has it for pods.
    /// Source: `k8s.io/kubernetes/pkg/apis/core/v1/defaults.go`, `SetDefaults_Pod`.
    pub requests: Resources,
    /// Limits.
    pub limits: Resources,
    /// Whether it is an init container with `restartPolicy: Always`.
    pub sidecar: bool,
}

impl Parts {
    /// What the scheduler counts.
    #[must_use]
    pub fn asked(&self) -> Asked {
        let each = |containers: &[ContainerAsk]| containers.iter().map(|ask| ask.requests.clone()).collect();
        self.asked_with(each(&self.containers), each(&self.inits))
    }

    /// What the scheduler would count if containers asked for other amounts.
    pub(crate) fn asked_with(&self, containers: Vec<Resources>, inits: Vec<Resources>) -> Asked {
        let sum = |assume: &[_]| {
            let total = self.sum(containers.clone(), inits.clone(), assume);
            let level = self.pod_level(&total);
            self.finish(total, &level)
        };
        let coming = self.sum(containers.clone(), inits.clone(), &requests::ASSUMED);
        let coming = requests::scored(self.finish(coming, &Resources::new()));
        let asked = sum(&[]);
        Asked { scored: requests::scored(sum(&self.assumed(&asked))), requests: asked, coming }
    }

    /// What is assumed where a container names nothing. If the pod as a whole asks for something, only what nobody in it
    /// asks for. Source: `pkg/scheduler/framework/types.go`, `getNonMissingContainerRequests`.
    pub(crate) fn assumed(&self, total: &Resources) -> Vec<(&'static str, i64)> {
        let mut level = self.pod_requests.keys().chain(self.pod_limits.keys());
        let whole = level.any(|name| requests::pod_level_resource(name));
        requests::ASSUMED.into_iter().filter(|(name, _)| !whole || !total.contains_key(*name)).collect()
    }

    /// Requests of the whole pod. Where only a limit of the whole pod is given, and no container asks for the resource,
    /// it is the request, too. Source: `pkg/apis/core/v1/defaults.go`, `defaultPodRequests`.
    fn pod_level(&self, total: &Resources) -> Resources {
        let mut level = self.pod_requests.clone();
        for (name, limit) in &self.pod_limits {
            if !total.contains_key(name) {
                level.entry(name.clone()).or_insert(*limit);
            }
        }
        level
    }

    /// Sums up, with the amounts of each container given.
    pub(crate) fn sum(&self, containers: Vec<Resources>, inits: Vec<Resources>, assume: &[(&str, i64)]) -> Resources {
        let with = |of: &[ContainerAsk], amounts: Vec<Resources>| -> Vec<ContainerRequest> {
            let amounts = amounts.into_iter().map(|requests| requests::assumed(requests, assume));
            of.iter().zip(amounts).map(|(of, requests)| ContainerRequest { requests, sidecar: of.sidecar }).collect()
        };
        let none = Resources::new();
        requests::of_pod(&with(&self.containers, containers), &with(&self.inits, inits), &none, &none)
    }

    /// The pod-level amounts in place of the sums, and the overhead on top.
    pub(crate) fn finish(&self, mut total: Resources, pod_level: &Resources) -> Resources {
        for (name, amount) in pod_level.iter().filter(|(name, _)| requests::pod_level_resource(name)) {
            total.insert(name.clone(), *amount);
        }
        if !on(Mutant::OverheadForgotten) {
            requests::add(&mut total, &self.overhead);
        }
        total
    }

    /// The most memory that the pod may use, in bytes; `None` where a container has no limit and the pod has none either.
    #[must_use]
    pub fn memory_limit(&self) -> Option<i64> {
        let sidecars = self.inits.iter().filter(|init| init.sidecar);
        let bounded = self.containers.iter().chain(sidecars).all(|ask| ask.limits.contains_key("memory"));
        (bounded || self.pod_limits.contains_key("memory")).then(|| self.limits_of_pod().get("memory").copied())?
    }

    /// The requests of the pod as a LimitRange of type `Pod` sees them: without the overhead.
    /// Source: `k8s.io/kubernetes/plugin/pkg/admission/limitranger`, `podRequests`.
    pub(crate) fn requests_of_pod(&self) -> Resources {
        let each = |containers: &[ContainerAsk]| containers.iter().map(|ask| ask.requests.clone()).collect();
        let mut total = self.sum(each(&self.containers), each(&self.inits), &[]);
        total.extend(of_pod_level(&self.pod_requests));
        total
    }

    /// The limits of the pod as a LimitRange of type `Pod` sees them. A container without a limit adds nothing.
    /// Source: as above, `podLimits`.
    pub(crate) fn limits_of_pod(&self) -> Resources {
        let each = |containers: &[ContainerAsk]| containers.iter().map(|ask| ask.limits.clone()).collect();
        let mut total = self.sum(each(&self.containers), each(&self.inits), &[]);
        total.extend(of_pod_level(&self.pod_limits));
        total
    }
}

fn of_pod_level(amounts: &Resources) -> impl Iterator<Item = (String, i64)> {
    amounts.iter().filter(|(name, _)| matches!(name.as_str(), "cpu" | "memory")).map(|(name, a)| (name.clone(), *a))
}

/// The parts of a spec, where they are kept: of templates, and of pods that are not bound yet. Once a pod is bound, only
/// the sums matter. So two specs with the same sums are equal whatever parts they have, and are kept once.
#[derive(Clone, Debug, Default)]
pub struct KeptParts(Option<Arc<Parts>>);

impl KeptParts {
    /// Parts that are kept.
    #[must_use]
    pub fn of(parts: Parts) -> Self {
        Self(Some(Arc::new(parts)))
    }

    /// The parts; `None` where they are not kept.
    #[must_use]
    pub fn get(&self) -> Option<&Parts> {
        self.0.as_deref()
    }
}

impl PartialEq for KeptParts {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

impl Eq for KeptParts {}

impl PartialOrd for KeptParts {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for KeptParts {
    fn cmp(&self, _: &Self) -> Ordering {
        Ordering::Equal
    }
}
