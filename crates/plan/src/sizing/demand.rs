//! What asks for room on the new nodes: the pods that leave the nodes that are replaced, as their owners' templates make
//! them again, and the pods that wait for room already.
//!
//! Where peaks were measured, a pod is sized by the peak of its memory if that is above its request: the scheduler would
//! not keep that room, and the kernel would kill for it. Cpu above a request is throttled only, and is shown, not added.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use rehome_k8s::node::Resources;
use rehome_k8s::owner::{self, Owner};
use rehome_k8s::pod::{Phase, Pod};
use rehome_k8s::workload::Workload;
use rehome_k8s::{Key, Kind, View, requests, template};
use rehome_model::sizing::{Amounts, Demand, LeftOut, WorkloadDemand};
use rehome_model::{ObjectRef, Timestamp, Uid};

use super::limits;

/// The highest that one pod of each workload reached.
pub type PodPeaks = BTreeMap<ObjectRef, Amounts>;

/// The pods that need room.
#[derive(Clone, Debug, Default)]
pub(super) struct Pods {
    /// In the order in which a scheduler's queue has them: priority, then workload.
    pub pods: Vec<Wanted>,
    /// What was not counted.
    pub left_out: Vec<LeftOut>,
}

/// A pod that needs room.
#[derive(Clone, Debug)]
pub(super) struct Wanted {
    /// Its workload, or itself.
    pub workload: ObjectRef,
    /// The pod as it will be made; its requests are what it is sized by.
    pub pod: Pod,
    /// What its template asks for.
    pub requests: Resources,
    /// Whether it is Pending today because no node takes it.
    pub pending_today: bool,
}

/// The pods on these nodes and on the ones that are filled, and the pods that wait.
#[must_use]
pub(super) fn of(
    view: &View,
    replaced: &BTreeSet<String>,
    filled: &BTreeSet<String>,
    peaks: Option<&PodPeaks>,
) -> Pods {
    let mut wanted = Vec::new();
    let mut left_out: BTreeMap<&'static str, usize> = BTreeMap::new();
    for pod in view.pods() {
        let pending = pod.node.is_none();
        if !pending && !pod.node.as_ref().is_some_and(|node| replaced.contains(node) || filled.contains(node)) {
            continue;
        }
        let owner = owner::of_pod(view, pod);
        if let Some(because) = left_out_because(pod, &owner) {
            *left_out.entry(because).or_default() += 1;
            continue;
        }
        let workload = owner.reference(pod);
        let mut successor = limits::with_defaults(view, successor(view, pod, &workload));
        let asked = successor.spec.requests.clone();
        if let Some(peak) = peaks.and_then(|peaks| peaks.get(&workload)?.get("memory"))
            && *peak > asked.get("memory").copied().unwrap_or(0)
        {
            limits::ask(&mut successor, "memory", *peak);
        }
        wanted.push(Wanted { workload, pod: successor, requests: asked, pending_today: pending });
    }
    wanted.sort_by(|a, b| {
        b.pod
            .spec
            .priority
            .cmp(&a.pod.spec.priority)
            .then_with(|| a.workload.cmp(&b.workload))
            .then_with(|| a.pod.meta.key().cmp(&b.pod.meta.key()))
    });
    let left_out = left_out.into_iter().map(|(because, pods)| LeftOut { because: because.to_owned(), pods }).collect();
    Pods { pods: wanted, left_out }
}

fn left_out_because(pod: &Pod, owner: &Owner) -> Option<&'static str> {
    match owner {
        _ if pod.finished() => Some("finished"),
        Owner::Node => Some("static pods: they belong to their nodes"),
        Owner::Workload(workload) | Owner::Unseen(workload) if workload.kind == Kind::DaemonSet.name() => {
            Some("pods of DaemonSets: each new node has its own")
        }
        _ if pod.meta.deleting.is_some() => Some("being deleted"),
        _ if !pod.spec.gates.is_empty() => Some("held back by a scheduling gate"),
        _ if pod.spec.scheduler != "default-scheduler" && !pod.spec.scheduler.is_empty() => {
            Some("placed by another scheduler, which is not modelled")
        }
        _ => None,
    }
}

/// The pod that comes in the place of this one: from its controller's template where there is one.
fn successor(view: &View, pod: &Pod, workload: &ObjectRef) -> Pod {
    let kind = Kind::by_name(&workload.kind).filter(|kind| kind.is_workload());
    let controller: Option<&Arc<Workload>> = kind.and_then(|kind| view.workload(kind, &Key::of(workload)));
    let mut successor = match (controller, kind) {
        // A CronJob's next run is made from its template, too, but a Job's pod is a part of that run.
        (Some(controller), Some(kind)) if kind != Kind::CronJob => {
            template::pod(kind, controller, &pod.meta.name, Uid::default(), Timestamp::EPOCH)
        }
        _ => pod.clone(),
    };
    // The ReplicaSet adds its hash to the template's labels, and spread constraints may count by it.
    for (label, value) in &pod.meta.labels {
        successor.meta.labels.entry(label.clone()).or_insert_with(|| value.clone());
    }
    // Priority is resolved from its class by admission; a template has the class only.
    if successor.spec.priority != pod.spec.priority {
        Arc::make_mut(&mut successor.spec).priority = pod.spec.priority;
    }
    Pod { node: None, phase: Phase::Pending, ready: false, ..successor }
}

/// The sums for the document. Pods that fit nowhere are in `left_out` by then.
#[must_use]
pub(super) fn document(pods: &Pods, peaks: Option<&PodPeaks>) -> Demand {
    let mut demand = Demand { pods: pods.pods.len(), left_out: pods.left_out.clone(), ..Demand::default() };
    let mut workloads: BTreeMap<&ObjectRef, WorkloadDemand> = BTreeMap::new();
    for wanted in &pods.pods {
        requests::add(&mut demand.requests, &wanted.requests);
        requests::add(&mut demand.sized_by, &wanted.pod.spec.requests);
        let entry = workloads.entry(&wanted.workload).or_insert_with(|| WorkloadDemand {
            workload: wanted.workload.clone(),
            pods: 0,
            requests: Amounts::new(),
            peaks: None,
        });
        entry.pods += 1;
        requests::add(&mut entry.requests, &wanted.requests);
        if let Some(peak) = peaks.and_then(|peaks| peaks.get(&wanted.workload)) {
            requests::add(entry.peaks.get_or_insert_default(), peak);
        }
    }
    demand.workloads = workloads.into_values().collect();
    demand
}
