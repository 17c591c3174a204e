//! What the scheduler said of pods that wait, compared word for word with what the model says.
//!
//! A difference counts against the model only if nothing that it depends on has changed since: the sentence must be newer
//! than every node and every binding of the capture.

use rehome_k8s::pod::{Phase, Pod};
use rehome_k8s::{Kind, Record, View};
use rehome_model::Timestamp;
use rehome_model::fidelity::{Outcome, Waiting};
use rehome_sched::Model;

use super::DEFAULT_SCHEDULER;

/// What the scheduler adds to its sentence about other ways out: nothing that filters say.
/// Source: `k8s.io/kubernetes/pkg/scheduler/framework/types.go`, `FitError.Error`, and the `PostFilter` of the plugins.
const ADDED: [&str; 2] = [" preemption:", " no new claims to deallocate"];
/// How its sentence about nodes begins. Source: the same, `NoNodeAvailableMsg`.
const BEGINS: &str = "0/";

/// All pods that wait and of which something was said.
pub(super) fn of(view: &View, model: &mut Model) -> Vec<Waiting> {
    let waits = |pod: &&std::sync::Arc<Pod>| {
        let default = pod.spec.scheduler.is_empty() || pod.spec.scheduler == DEFAULT_SCHEDULER;
        pod.node.is_none() && pod.phase == Phase::Pending && pod.meta.deleting.is_none() && default
    };
    let mut all = Vec::new();
    for pod in view.pods().filter(waits).filter(|pod| pod.spec.gates.is_empty()) {
        let Some(Said { words, at }) = said(view, pod) else { continue };
        let outcome = outcome(view, model, pod, &words, at);
        all.push(Waiting { pod: pod.meta.key().reference(Kind::Pod), said: words, outcome });
    }
    all
}

/// What was said, and when, as far as an event tells.
struct Said {
    words: String,
    at: Option<Timestamp>,
}

/// The newest of what was said of a pod: by an event, or else by its condition.
fn said(view: &View, pod: &Pod) -> Option<Said> {
    let about = pod.meta.key().reference(Kind::Pod);
    let events = view.of_kind(Kind::Event).filter_map(|record| match record {
        Record::Event(event) if event.reason == "FailedScheduling" && event.about.as_ref() == Some(&about) => {
            Some((event.last, event.message.as_str()))
        }
        _ => None,
    });
    // An event outlives a pod of the same name.
    let newest = events.filter(|(at, _)| at.is_none() || *at >= pod.meta.created).max_by_key(|(at, _)| *at);
    let (at, words) = match (&pod.unschedulable, newest) {
        (Some(words), None) if !words.is_empty() => (None, words.as_str()),
        (_, Some((at, words))) => (at, words),
        _ => return None,
    };
    let words = sentence(words);
    words.starts_with(BEGINS).then_some(Said { words, at })
}

/// The sentence, less what is added to it.
fn sentence(words: &str) -> String {
    let end = ADDED.iter().filter_map(|added| words.find(added)).min().unwrap_or(words.len());
    words[..end].trim_end().to_owned()
}

fn outcome(view: &View, model: &mut Model, pod: &Pod, words: &str, at: Option<Timestamp>) -> Outcome {
    let not_comparable = |why: String| Outcome::NotComparable { why };
    if let Some(gap) = view.gap(Kind::Node) {
        return not_comparable(format!("nodes are not in the capture: {}", gap.message));
    }
    if view.nodes().next().is_none() {
        return not_comparable("the capture holds no node".to_owned());
    }
    let ours = model.judge(pod).message();
    if ours.as_deref() == Some(words) {
        return Outcome::Reproduced;
    }
    let Some(at) = at else {
        return not_comparable("no event says when it was said".to_owned());
    };
    match last_change(view) {
        Some((changed, what)) if changed >= at => {
            not_comparable(format!("it was said at {at}, and {what} at {changed}"))
        }
        _ => Outcome::Different { model: ours.unwrap_or_else(|| "a node takes it".to_owned()) },
    }
}

/// The last time at which something changed that such a sentence depends on, as far as objects tell.
fn last_change(view: &View) -> Option<(Timestamp, String)> {
    let nodes = view.nodes().filter_map(|node| Some((node.meta.created?, format!("{} came", node.name()))));
    let pods = view.pods().filter(|pod| pod.node.is_some());
    let pods = pods.filter_map(|pod| Some((pod.timing.scheduled?, format!("{} was bound", pod.meta.key()))));
    nodes.chain(pods).max()
}
