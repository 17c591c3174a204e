//! The model's self-proof: it must explain the captured cluster before anything is forecast with it.
//!
//! Two parts. [`enforced`]: what holds for every pod that runs, because the kubelet, the volume or the cloud sees to it;
//! a violation means that the model or the capture is wrong. [`admission`]: what the scheduler asked when it placed a pod
//! and nobody asks since; counted with its evidence. Besides, [`waiting`]: what the scheduler said of pods that wait must
//! be what the model says. [`weaker`] says which rules that touches. It does not know why a cluster is looked at.

mod admission;
mod enforced;
mod waiting;
mod weaker;

use std::collections::BTreeSet;
use std::sync::Arc;

use rehome_k8s::node::Node;
use rehome_k8s::pod::{Phase, Pod};
use rehome_k8s::{Key, View};
use rehome_model::fidelity::Fidelity;
use rehome_sched::{Model, Profile};

/// The scheduler that is modelled. Source: `k8s.io/api/core/v1`, `DefaultSchedulerName`.
const DEFAULT_SCHEDULER: &str = "default-scheduler";

/// What the model explains of a view.
#[must_use]
pub fn of(view: &View) -> Fidelity {
    of_model(view, &mut Model::new(view, Profile::of_cluster(view)))
}

/// What the model of a view explains of it.
#[must_use]
pub fn of_model(view: &View, model: &mut Model) -> Fidelity {
    let profile = Profile::of_cluster(view);
    let mut fidelity = Fidelity { minor: profile.minor.name().to_owned(), ..Fidelity::default() };
    let on_nodes = enforced::on_nodes(view, model);
    for pod in view.pods().filter(|pod| !pod.finished()) {
        let Some(node) = &pod.node else { continue };
        fidelity.running += 1;
        let says_its_size = |node: &&Arc<Node>| !node.allocatable.is_empty();
        let Some(node) = view.node(node).filter(says_its_size) else {
            fidelity.unjudged += 1;
            continue;
        };
        let objections = model.objections(pod, node.name());
        fidelity.explained += usize::from(objections.is_empty());
        // Several plugins look up one claim: a pod has each cause once.
        let mut causes = BTreeSet::new();
        for rejection in objections {
            match admission::exception(view, pod, node, &rejection) {
                Some(exception) if causes.insert(exception.cause) => fidelity.exceptions.push(exception),
                Some(_) => {}
                // Sums are the node's, and are said once.
                None if rejection.plugin == enforced::SUMS => {}
                None => fidelity.violations.push(enforced::violation(view, pod, node, &rejection)),
            }
        }
    }
    fidelity.violations.extend(on_nodes);
    fidelity.violations.sort();
    fidelity.violations.dedup();
    fidelity.waiting = waiting::of(view, model);
    fidelity.weaker = weaker::of(view, &fidelity);
    fidelity
}

/// Whether the kubelet has taken a pod up: from then on what is enforced holds.
fn taken_up(pod: &Pod) -> bool {
    pod.phase == Phase::Running
}

/// Keys as people read them, the first few.
fn list(keys: &BTreeSet<Key>) -> String {
    /// As many as fit in a line.
    const SHOWN: usize = 3;
    let mut shown: Vec<String> = keys.iter().take(SHOWN).map(ToString::to_string).collect();
    if keys.len() > SHOWN {
        shown.push(format!("{} more", keys.len() - SHOWN));
    }
    shown.join(", ")
}

#[cfg(test)]
mod tests;
