//! What the containers of a pod ask for, and what they count for while they are resized in place.
//!
//! Source: `k8s.io/component-helpers/resource`, `PodRequests`.

use k8s_openapi::api::core::v1 as core;

use super::BadField;
use super::selectors::resources;
use crate::mutant::{Mutant, on};
use crate::node::Resources;
use crate::requests::{self, Asked, ContainerRequest, Resized};

/// What a spec asks for.
pub(super) fn of_spec(spec: &core::PodSpec) -> Result<Asked, BadField> {
    let spec = Spec::of(spec)?;
    let each = |containers: &[Container]| containers.iter().map(|container| container.asked.clone()).collect();
    Ok(spec.asked(each(&spec.containers), each(&spec.inits)))
}

/// What counts for a pod whose containers' statuses say that something was granted. `None` where none says so, or where
/// it is what the spec asks for.
pub(super) fn resized(pod: &core::PodSpec, status: &core::PodStatus) -> Result<Option<Resized>, BadField> {
    let spec = Spec::of(pod)?;
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
    let find = |container: &Container| statuses.iter().find(|status| status.name == container.name);
    let resized = Resized {
        by_container: spec.by_container(&find, infeasible),
        by_pod: spec.by_pod(&find, pod_level.as_ref(), infeasible),
    };
    let each = |containers: &[Container]| containers.iter().map(|container| container.asked.clone()).collect();
    let plain = spec.asked(each(&spec.containers), each(&spec.inits));
    Ok((resized.by_container != plain || resized.by_pod != plain).then_some(resized))
}

struct Container {
    name: String,
    asked: Resources,
    sidecar: bool,
}

/// The parts of a spec that requests are made of.
struct Spec {
    containers: Vec<Container>,
    inits: Vec<Container>,
    pod_level: Resources,
    overhead: Resources,
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

impl Spec {
    fn of(spec: &core::PodSpec) -> Result<Self, BadField> {
        let inits = spec.init_containers.as_deref().unwrap_or_default();
        let pod_level = spec.resources.clone().and_then(|resources| resources.requests);
        Ok(Self {
            containers: spec.containers.iter().map(container).collect::<Result<_, _>>()?,
            inits: inits.iter().map(container).collect::<Result<_, _>>()?,
            pod_level: resources(pod_level)?,
            overhead: resources(spec.overhead.clone())?,
        })
    }

    /// Sums up, with the amounts of each container given.
    fn sum(&self, containers: Vec<Resources>, inits: Vec<Resources>, assume: &[(&str, i64)]) -> Resources {
        let with = |of: &[Container], amounts: Vec<Resources>| -> Vec<ContainerRequest> {
            let amounts = amounts.into_iter().map(|requests| requests::assumed(requests, assume));
            of.iter().zip(amounts).map(|(of, requests)| ContainerRequest { requests, sidecar: of.sidecar }).collect()
        };
        let none = Resources::new();
        requests::of_pod(&with(&self.containers, containers), &with(&self.inits, inits), &none, &none)
    }

    /// The pod-level amounts in place of the sums, and the overhead on top.
    fn finish(&self, mut total: Resources, pod_level: &Resources) -> Resources {
        for (name, amount) in pod_level.iter().filter(|(name, _)| requests::pod_level_resource(name)) {
            total.insert(name.clone(), *amount);
        }
        if !on(Mutant::OverheadForgotten) {
            requests::add(&mut total, &self.overhead);
        }
        total
    }

    /// What is assumed where a container names nothing. If the pod as a whole asks for something, only what nobody in it
    /// asks for. Source: `pkg/scheduler/framework/types.go`, `getNonMissingContainerRequests`.
    fn assumed(&self, total: &Resources) -> Vec<(&'static str, i64)> {
        let whole = self.pod_level.keys().any(|name| requests::pod_level_resource(name));
        requests::ASSUMED.into_iter().filter(|(name, _)| !whole || !total.contains_key(*name)).collect()
    }

    fn asked(&self, containers: Vec<Resources>, inits: Vec<Resources>) -> Asked {
        let sum = |assume: &[_]| self.finish(self.sum(containers.clone(), inits.clone(), assume), &self.pod_level);
        let coming = self.sum(containers.clone(), inits.clone(), &requests::ASSUMED);
        let coming = scored(self.finish(coming, &Resources::new()));
        let requests = sum(&[]);
        Asked { scored: scored(sum(&self.assumed(&requests))), requests, coming }
    }

    fn by_container<'g>(&self, find: &dyn Fn(&Container) -> Option<&'g Granted>, infeasible: bool) -> Asked {
        let count = |container: &Container| match find(container) {
            Some(granted) if granted.reported => {
                let asked = if infeasible { None } else { Some(&container.asked) };
                requests::largest(asked.into_iter().chain(&granted.in_force).chain(&granted.allocated))
            }
            _ => container.asked.clone(),
        };
        let inits = self.inits.iter().map(|init| if init.sidecar { count(init) } else { init.asked.clone() });
        self.asked(self.containers.iter().map(count).collect(), inits.collect())
    }

    fn by_pod<'g>(
        &self,
        find: &dyn Fn(&Container) -> Option<&'g Granted>,
        level: Option<&PodLevel>,
        infeasible: bool,
    ) -> Asked {
        let spec = |container: &Container| container.asked.clone();
        let asked = |container: &Container| if infeasible { Resources::new() } else { container.asked.clone() };
        let allocated = |container: &Container| {
            find(container).and_then(|granted| granted.allocated.clone()).unwrap_or_else(|| asked(container))
        };
        let in_force = |container: &Container| {
            find(container)
                .and_then(|granted| granted.in_force.clone().or_else(|| granted.allocated.clone()))
                .unwrap_or_else(|| asked(container))
        };
        let each = |count: &dyn Fn(&Container) -> Resources, assume: &[_]| {
            self.sum(self.containers.iter().map(count).collect(), self.inits.iter().map(count).collect(), assume)
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
                let asked = (!infeasible).then_some(&self.pod_level);
                requests::largest(asked.into_iter().chain(&level.in_force).chain(&level.allocated))
            });
            let pod_level = if self.pod_level.keys().any(|name| requests::pod_level_resource(name)) {
                granted.unwrap_or_else(|| self.pod_level.clone())
            } else {
                Resources::new()
            };
            self.finish(total, &pod_level)
        };
        // A pod that comes has no status that counts.
        let requests = sum(&[]);
        Asked { scored: scored(sum(&self.assumed(&requests))), requests, coming: Resources::new() }
    }
}

/// Scores look at cpu and memory only.
fn scored(mut total: Resources) -> Resources {
    total.retain(|name, _| requests::ASSUMED.iter().any(|(known, _)| known == name));
    total
}

fn container(container: &core::Container) -> Result<Container, BadField> {
    let asked = container.resources.clone().unwrap_or_default();
    // A limit without a request is also the request: the API server's defaulting does so; files lack it.
    let mut requests = resources(asked.limits)?;
    requests.extend(resources(asked.requests)?);
    Ok(Container {
        name: container.name.clone(),
        asked: requests,
        sidecar: container.restart_policy.as_deref() == Some("Always"),
    })
}
