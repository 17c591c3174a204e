//! The model of kube-scheduler: would it put this pod on this node, and which node would it take?
//!
//! Filters run in the order of the default profile, and the first that rejects is the one that is reported, as in
//! kube-scheduler; sentences are the scheduler's own, so that a forecast and an event can be compared word by word.
//!
//! **Not modelled in this release** (the full model is the next step): DynamicResources, declared node features,
//! preemption, node sampling above 100 nodes, CSIStorageCapacity, in-tree volumes that a CSI driver took over,
//! ImageLocality, preferred affinities and soft spread in scores, extenders, and `matchLabelKeys` of pod affinity terms
//! in templates (in pods the API server has already merged them into the selector). A kind that could not be read (a gap
//! of the view) rejects nothing. Where a score would decide, [`choose`] is one possible answer, not the answer.

mod choose;
mod feasible;
mod filter;

use std::collections::BTreeMap;

use rehome_k8s::View;
use rehome_k8s::node::{Node, Resources};
use rehome_k8s::pod::{Pod, PodSpec};

pub use choose::{Unschedulable, choose, place_all};
pub use feasible::{Feasibility, feasible, fit_error_message};

/// A pod that is to be placed: what the scheduler reads of it.
#[derive(Clone, Copy, Debug)]
pub struct Candidate<'a> {
    /// The namespace.
    pub namespace: &'a str,
    /// The name; it names the claims of generic ephemeral volumes, and keeps a pod that is in the view already from
    /// counting against itself.
    pub name: &'a str,
    /// Labels.
    pub labels: &'a BTreeMap<String, String>,
    /// The spec.
    pub spec: &'a PodSpec,
}

impl<'a> Candidate<'a> {
    /// A pod as a candidate.
    #[must_use]
    pub fn of(pod: &'a Pod) -> Self {
        Self { namespace: &pod.meta.namespace, name: &pod.meta.name, labels: &pod.meta.labels, spec: &pod.spec }
    }
}

/// Why a node does not take a pod.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Rejection {
    /// The plugin that rejects: `NodeResourcesFit`.
    pub plugin: &'static str,
    /// The scheduler's words, as in the message of an event: `Insufficient cpu`.
    pub reasons: Vec<String>,
}

/// What the pods bound to a node ask for, in our units; `pods` is their number. Finished pods hold nothing, terminating
/// ones still do. Source: `k8s.io/kubernetes/pkg/scheduler/framework/types.go`, `NodeInfo.AddPod`.
#[must_use]
pub fn used(view: &View, node: &str, except: Option<&Candidate<'_>>) -> Resources {
    let mut used = Resources::new();
    let mut pods = 0;
    for pod in view.pods_on(node).filter(|pod| !pod.finished()) {
        if except.is_some_and(|candidate| candidate.name == pod.meta.name && candidate.namespace == pod.meta.namespace)
        {
            continue;
        }
        rehome_k8s::requests::add(&mut used, pod.requests());
        pods += 1;
    }
    used.insert("pods".to_owned(), pods);
    used
}

/// Whether kube-scheduler would accept this node for this pod, as the view stands.
///
/// # Errors
/// The first plugin that rejects, with its reasons.
pub fn verdict(view: &View, pod: &Candidate<'_>, node: &Node) -> Result<(), Rejection> {
    filter::Cycle::new(view, pod).verdict(node)
}

/// The same without what other pods hold: resources in use, ports, spread and pod affinity. What is left cannot change
/// by moving pods: cordons, taints, affinity, volumes, and requests above the node's size.
///
/// # Errors
/// The first plugin that rejects, with its reasons.
pub fn verdict_on_empty(view: &View, pod: &Candidate<'_>, node: &Node) -> Result<(), Rejection> {
    filter::Cycle::new(view, pod).verdict_on_empty(node)
}
