//! What the containers of a pod ask for, and what they count for while they are resized in place.
//!
//! Source: `k8s.io/component-helpers/resource`, `PodRequests`.

use k8s_openapi::api::core::v1 as core;

use super::BadField;
use super::selectors::resources;
use crate::node::Resources;
use crate::parts::{ContainerAsk, Parts};
use crate::requests::{self, Asked, Resized, scored};

/// What counts for a pod whose containers' statuses say that something was granted. `None` where none says so, or where
/// it is what the spec asks for.
pub(super) fn resized(pod: &core::PodSpec, status: &core::PodStatus) -> Result<Option<Resized>, BadField> {
    let spec = Spec(parts(pod)?);
    let conditions = status.conditions.as_deref().unwrap_or_default();
    let infeasible = conditions
        .iter()
        .any(|condition| condition.type_ == "PodResizePending" && condition.reason.as_deref() == Some("Infeasible"));
    let statuses = status.container_statuses.iter().flatten().chain(status.init_container_statuses.iter().flatten());
    let statuses = statuses.map(Granted::of).collect::<Result<Vec<_>, _>>()?;
    let pod_level = PodLevel::of(status)?;
    let nothing_granted = statuses.iter().all(|status| status.in_force.is_none() && status.allocated.is_none());
    if nothing_granted && pod_level.is_none() && !infeasible {
        return Ok(None);
    }
    let find = |container: &ContainerAsk| statuses.iter().find(|status| status.name == container.name);
    let resized = Resized {
        by_container: spec.by_container(&find, infeasible),
        by_pod: spec.by_pod(&find, pod_level.as_ref(), infeasible),
    };
    let plain = spec.0.asked();
    Ok((resized.by_container != plain || resized.by_pod != plain).then_some(resized))
}

/// `status.resources.requests` and `status.allocatedResources` of the whole pod.
struct PodLevel {
    in_force: Option<Resources>,
    allocated: Option<Resources>,
}

/// What a container's status says.
struct Granted {
    name: String,
    /// `resources.requests`.
    in_force: Option<Resources>,
    /// Whether there is `resources` at all.
    reported: bool,
    /// `allocatedResources`.
    allocated: Option<Resources>,
}

impl Granted {
    fn of(status: &core::ContainerStatus) -> Result<Self, BadField> {
        let in_force = status.resources.as_ref().and_then(|resources| resources.requests.clone());
        Ok(Self {
            name: status.name.clone(),
            in_force: in_force.map(|requests| resources(Some(requests))).transpose()?,
            reported: status.resources.is_some(),
            allocated: status.allocated_resources.clone().map(|amounts| resources(Some(amounts))).transpose()?,
        })
    }
}

impl PodLevel {
    fn of(status: &core::PodStatus) -> Result<Option<Self>, BadField> {
        let in_force = status.resources.as_ref().and_then(|resources| resources.requests.clone());
        let level = Self {
            in_force: in_force.map(|requests| resources(Some(requests))).transpose()?,
            allocated: status.allocated_resources.clone().map(|amounts| resources(Some(amounts))).transpose()?,
        };
        Ok((level.in_force.is_some() || level.allocated.is_some()).then_some(level))
    }
}

/// The parts of a spec.
pub(super) fn parts(spec: &core::PodSpec) -> Result<Parts, BadField> {
    let inits = spec.init_containers.as_deref().unwrap_or_default();
    let level = spec.resources.clone().unwrap_or_default();
    Ok(Parts {
        containers: spec.containers.iter().map(container).collect::<Result<_, _>>()?,
        inits: inits.iter().map(container).collect::<Result<_, _>>()?,
        pod_requests: resources(level.requests)?,
        pod_limits: resources(level.limits)?,
        overhead: resources(spec.overhead.clone())?,
    })
}

/// A spec that is being resized.
struct Spec(Parts);

impl Spec {
    fn by_container<'g>(&self, find: &dyn Fn(&ContainerAsk) -> Option<&'g Granted>, infeasible: bool) -> Asked {
        let count = |container: &ContainerAsk| match find(container) {
            Some(granted) if granted.reported => {
                let asked = if infeasible { None } else { Some(&container.requests) };
                requests::largest(asked.into_iter().chain(&granted.in_force).chain(&granted.allocated))
            }
            _ => container.requests.clone(),
        };
        let inits = self.0.inits.iter().map(|init| if init.sidecar { count(init) } else { init.requests.clone() });
        self.0.asked_with(self.0.containers.iter().map(count).collect(), inits.collect())
    }

    fn by_pod<'g>(
        &self,
        find: &dyn Fn(&ContainerAsk) -> Option<&'g Granted>,
        level: Option<&PodLevel>,
        infeasible: bool,
    ) -> Asked {
        let spec = |container: &ContainerAsk| container.requests.clone();
        let asked = |container: &ContainerAsk| if infeasible { Resources::new() } else { container.requests.clone() };
        let allocated = |container: &ContainerAsk| {
            find(container).and_then(|granted| granted.allocated.clone()).unwrap_or_else(|| asked(container))
        };
        let in_force = |container: &ContainerAsk| {
            find(container)
                .and_then(|granted| granted.in_force.clone().or_else(|| granted.allocated.clone()))
                .unwrap_or_else(|| asked(container))
        };
        let each = |count: &dyn Fn(&ContainerAsk) -> Resources, assume: &[_]| {
            self.0.sum(self.0.containers.iter().map(count).collect(), self.0.inits.iter().map(count).collect(), assume)
        };
        let sum = |assume: &[_]| {
            let (allocated, in_force) = match level {
                Some(PodLevel { in_force: Some(in_force), allocated: Some(allocated) }) => {
                    (allocated.clone(), in_force.clone())
                }
                _ => (each(&allocated, assume), each(&in_force, assume)),
            };
            let specs = (!infeasible).then(|| each(&spec, assume));
            let total = requests::largest([&allocated, &in_force].into_iter().chain(&specs));
            // What the status says of the whole pod counts only where the spec asks for the whole pod, too.
            let granted = level.filter(|level| level.in_force.is_some()).map(|level| {
                let asked = (!infeasible).then_some(&self.0.pod_requests);
                requests::largest(asked.into_iter().chain(&level.in_force).chain(&level.allocated))
            });
            let pod_level = if self.0.pod_requests.keys().any(|name| requests::pod_level_resource(name)) {
                granted.unwrap_or_else(|| self.0.pod_requests.clone())
            } else {
                Resources::new()
            };
            self.0.finish(total, &pod_level)
        };
        // A pod that comes has no status that counts.
        let requests = sum(&[]);
        Asked { scored: scored(sum(&self.0.assumed(&requests))), requests, coming: Resources::new() }
    }
}

fn container(container: &core::Container) -> Result<ContainerAsk, BadField> {
    let asked = container.resources.clone().unwrap_or_default();
    let limits = resources(asked.limits)?;
    // A limit without a request is also the request: the API server's defaulting does so; templates and files lack it.
    let mut requests = limits.clone();
    requests.extend(resources(asked.requests)?);
    Ok(ContainerAsk {
        name: container.name.clone(),
        requests,
        limits,
        sidecar: container.restart_policy.as_deref() == Some("Always"),
    })
}
