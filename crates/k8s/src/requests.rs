//! What the scheduler counts for a pod.
//!
//! Source: `k8s.io/component-helpers/resource`, `PodRequests`: per resource
//! `max(sum(app) + sum(sidecars), max over init containers of (init + sidecars started before it))`; then pod-level
//! requests replace the result for exactly the resources that they name; then the overhead is added.

use std::collections::BTreeMap;

use crate::mutant::{Mutant, on};
use crate::node::Resources;

/// What scores assume where a container says nothing of cpu (thousandths of a core) and memory (bytes).
/// Source: `k8s.io/kubernetes/pkg/scheduler/util/pod_resources.go`, `DefaultMilliCPURequest` and `DefaultMemoryRequest`.
pub const ASSUMED: [(&str, i64); 2] = [("cpu", 100), ("memory", 200 << 20)];

/// What a pod asks for, twice: as filters count it, and as some scores do.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Asked {
    /// What is asked.
    pub requests: Resources,
    /// `cpu` and `memory` with [`ASSUMED`] amounts where a container names none.
    pub scored: Resources,
    /// The same without what is asked for the pod as a whole: LeastAllocated counts a pod that comes so, and one that is
    /// there as `scored`. Source: `noderesources/fit.go`, whose scorer is made without `enablePodLevelResources`.
    pub coming: Resources,
}

/// What the containers of a pod that is being resized in place count for. The way of counting changed between minors.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Resized {
    /// Up to 1.36: container by container, the largest of what is asked, granted and in force; of init containers, only
    /// for sidecars.
    pub by_container: Asked,
    /// From 1.37 on: the largest of three sums over the pod.
    pub by_pod: Asked,
}

/// The larger of the amounts, by resource.
#[must_use]
pub fn largest<'r>(lists: impl IntoIterator<Item = &'r Resources>) -> Resources {
    let mut largest: BTreeMap<String, i64> = Resources::new();
    for list in lists {
        raise(&mut largest, list);
    }
    largest
}

/// What one container asks for.
#[derive(Clone, Debug, Default)]
pub struct ContainerRequest {
    /// Its requests.
    pub requests: Resources,
    /// Whether it is an init container with `restartPolicy: Always`.
    pub sidecar: bool,
}

/// Adds amounts.
pub fn add(total: &mut Resources, more: &Resources) {
    for (name, amount) in more {
        let entry = total.entry(name.clone()).or_default();
        *entry = entry.saturating_add(*amount);
    }
}

fn raise(total: &mut Resources, other: &Resources) {
    for (name, amount) in other {
        let entry = total.entry(name.clone()).or_default();
        *entry = (*entry).max(*amount);
    }
}

/// What the scheduler counts for a pod with these containers.
#[must_use]
pub fn of_pod(
    containers: &[ContainerRequest],
    init_containers: &[ContainerRequest],
    pod_level: &Resources,
    overhead: &Resources,
) -> Resources {
    let mut running = Resources::new();
    for container in containers {
        add(&mut running, &container.requests);
    }
    let mut sidecars = Resources::new();
    let mut worst_init = Resources::new();
    for init in init_containers {
        let mut during = sidecars.clone();
        add(&mut during, &init.requests);
        if init.sidecar && !on(Mutant::SidecarsEnd) {
            sidecars = during.clone();
        }
        raise(&mut worst_init, &during);
    }
    add(&mut running, &sidecars);
    if !on(Mutant::InitContainersForgotten) {
        raise(&mut running, &worst_init);
    }
    for (name, amount) in pod_level {
        if pod_level_resource(name) {
            running.insert(name.clone(), *amount);
        }
    }
    add(&mut running, overhead);
    running
}

/// Whether a request of the whole pod counts: cpu, memory and huge pages.
/// Source: `k8s.io/component-helpers/resource`, `IsSupportedPodLevelResource`.
#[must_use]
pub fn pod_level_resource(name: &str) -> bool {
    (matches!(name, "cpu" | "memory") || name.starts_with("hugepages-")) && !on(Mutant::PodLevelIgnored)
}

/// Scores look at cpu and memory only.
pub(crate) fn scored(mut total: Resources) -> Resources {
    total.retain(|name, _| ASSUMED.iter().any(|(known, _)| known == name));
    total
}

/// These amounts (of [`ASSUMED`]) for what a container does not name.
#[must_use]
pub fn assumed(mut requests: Resources, amounts: &[(&str, i64)]) -> Resources {
    for (name, amount) in amounts {
        requests.entry((*name).to_owned()).or_insert(*amount);
    }
    requests
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cpu(amount: i64, sidecar: bool) -> ContainerRequest {
        ContainerRequest { requests: Resources::from([("cpu".to_owned(), amount)]), sidecar }
    }

    #[test]
    fn sidecars_count_beside_apps_and_beside_later_inits() {
        let none = Resources::new();
        let asked = |inits: &[ContainerRequest]| of_pod(&[cpu(100, false), cpu(50, false)], inits, &none, &none)["cpu"];
        assert_eq!(asked(&[]), 150);
        assert_eq!(asked(&[cpu(400, false)]), 400);
        assert_eq!(asked(&[cpu(100, true)]), 250);
        assert_eq!(asked(&[cpu(100, true), cpu(200, false)]), 300);
        assert_eq!(asked(&[cpu(200, false), cpu(100, true)]), 250);
    }

    #[test]
    fn pod_level_requests_replace_and_overhead_is_added() {
        let pod = Resources::from([("cpu".to_owned(), 120)]);
        let overhead = Resources::from([("cpu".to_owned(), 10), ("memory".to_owned(), 5)]);
        let total = of_pod(&[cpu(500, false)], &[], &pod, &overhead);
        assert_eq!(total, Resources::from([("cpu".to_owned(), 130), ("memory".to_owned(), 5)]));
    }
}
