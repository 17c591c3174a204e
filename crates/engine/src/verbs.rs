//! How each verb is carried out, one file each. Pure functions over the state and a view; what a verb *is* stands in
//! `rehome-model`, `verb.rs`.

pub(crate) mod answer;
mod attached;
mod budget;
mod change;
mod leave;
pub(crate) mod prove_empty;
mod restart;
mod wait;

use rehome_k8s::pod::Pod;
use rehome_k8s::{Record as Object, View, field, owner};
use rehome_model::journal::LeavingPod;
use rehome_model::plan::Step;
use rehome_model::request::Request;
use rehome_model::verb::{Lineage, Verb};
use rehome_model::{Timestamp, Uid};

use crate::machine::{Action, Machine};

/// What a verb wants.
pub(crate) enum Next {
    /// Do this.
    Act(Box<Action>),
    /// It is done.
    Done,
    /// Look again when something changes, at the latest then.
    Wait { reason: String, until: Timestamp },
    /// A person has to look.
    Stuck { cause: String, instructions: Vec<String> },
}

impl Next {
    fn act(action: Action) -> Self {
        Self::Act(Box::new(action))
    }
}

/// What comes next for a step that has begun.
pub(crate) fn next(machine: &Machine, step: &Step, view: &View, now: Timestamp) -> Next {
    match &step.verb {
        Verb::Change(change) => change::next(machine, step, change, view, now),
        Verb::Restart(restart) => restart::next(machine, step, restart, view, now),
        Verb::Evict(evict) => {
            let rule = leave::Rule { off: &evict.off, onto: &evict.onto, evict: true, awaited: true };
            leave::next(machine, step, &rule, view, now)
        }
        Verb::Delete(delete) => {
            let awaited = delete.successor == rehome_model::verb::Successor::Awaited;
            let rule = leave::Rule { off: &delete.off, onto: &delete.onto, evict: false, awaited };
            leave::next(machine, step, &rule, view, now)
        }
        Verb::Wait(wait) => wait::next(machine, &step.name, wait, view, now),
        Verb::ProveEmpty(prove) => prove_empty::next(machine, step, prove, view, now),
    }
}

/// Whether what a step establishes holds before it has begun.
pub(crate) fn already_done(step: &Step, view: &View) -> bool {
    match &step.verb {
        Verb::Change(change) => field::read(view, &change.target, &change.field) == Some(change.to.clone()),
        Verb::Restart(restart) => lineage_left(view, &restart.lineage, &restart.off),
        Verb::Evict(evict) => evict.lineages.iter().all(|lineage| lineage_left(view, lineage, &evict.off)),
        Verb::Delete(delete) => lineage_left(view, &delete.lineage, &delete.off),
        Verb::Wait(_) | Verb::ProveEmpty(_) => false,
    }
}

fn lineage_left(view: &View, lineage: &Lineage, off: &[String]) -> bool {
    owner::pods_of(view, &lineage.workload).into_iter().all(|pod| !on(pod, off))
}

fn on(pod: &Pod, nodes: &[String]) -> bool {
    pod.node.as_ref().is_some_and(|node| nodes.contains(node))
}

/// The lineages that a verb moves, and the nodes that they leave.
fn lineages(verb: &Verb) -> (Vec<&Lineage>, &[String]) {
    match verb {
        Verb::Restart(restart) => (vec![&restart.lineage], &restart.off),
        Verb::Evict(evict) => (evict.lineages.iter().collect(), &evict.off),
        Verb::Delete(delete) => (vec![&delete.lineage], &delete.off),
        Verb::Change(_) | Verb::Wait(_) | Verb::ProveEmpty(_) => (Vec::new(), &[]),
    }
}

/// The incarnations that a step is about: those that leave, and all others that the lineages have.
pub(crate) fn resolve(step: &Step, view: &View) -> (Vec<LeavingPod>, Vec<Uid>) {
    let (mut leaving, mut known) = (Vec::new(), Vec::new());
    let (lineages, off) = lineages(&step.verb);
    for lineage in lineages {
        let mut pods = owner::pods_of(view, &lineage.workload);
        // The highest ordinal first, as the StatefulSet controller itself does; for others the order is as good as any.
        pods.reverse();
        for pod in pods {
            match &pod.node {
                Some(node) if off.contains(node) => leaving.push(LeavingPod {
                    workload: lineage.workload.clone(),
                    pod: pod.meta.key().reference_as("Pod"),
                    uid: pod.meta.uid.clone(),
                    node: node.clone(),
                    ready: rehome_k8s::readiness::serves(pod),
                    volumes: rehome_k8s::attachment::volumes_of(view, pod),
                }),
                _ => known.push(pod.meta.uid.clone()),
            }
        }
    }
    (leaving, known)
}

/// Whether a request has landed, as a fresh read of its target shows.
pub(crate) fn landed(request: &Request, found: Option<&Object>) -> bool {
    match request {
        Request::SetField(change) => {
            let Some(found) = found else { return false };
            let mut view = View::default();
            view.insert(found.clone());
            field::read(&view, &change.target, &change.field) == Some(change.to.clone())
        }
        Request::Evict { uid, .. } | Request::Delete { uid, .. } => match found {
            Some(Object::Pod(pod)) => pod.meta.uid != *uid || pod.meta.deleting.is_some(),
            _ => true,
        },
    }
}
