//! Facts that the scheduler asked for once: taints, labels, skew, neighbours. They may have changed since, and nobody
//! moves the pod for it. Also pods that the scheduler never placed.

use rehome_k8s::node::Node;
use rehome_k8s::pod::Pod;
use rehome_k8s::toleration::untolerated;
use rehome_k8s::{Kind, View};
use rehome_model::fidelity::{Cause, Exception};
use rehome_sched::Rejection;

use super::enforced::{self, Excuse};
use super::{DEFAULT_SCHEDULER, taken_up};

/// The exception that a rejection is; `None` if it is about a fact that must hold.
pub(super) fn exception(view: &View, pod: &Pod, node: &Node, rejection: &Rejection) -> Option<Exception> {
    let (cause, evidence) = cause(view, pod, node, rejection)?;
    Some(Exception {
        pod: pod.meta.key().reference(Kind::Pod),
        node: node.name().to_owned(),
        plugin: rejection.plugin.to_owned(),
        cause,
        evidence,
    })
}

fn cause(view: &View, pod: &Pod, node: &Node, rejection: &Rejection) -> Option<(Cause, String)> {
    let reasons = || rejection.reasons.join(", ");
    let asked_once = |cause, evidence: String| Some((bypass(pod).unwrap_or(cause), evidence));
    match rejection.plugin {
        enforced::SUMS => sums(view, node, rejection),
        "TaintToleration" => {
            let taint = untolerated(&node.taints, &pod.spec.tolerations).map(ToString::to_string);
            asked_once(Cause::TaintAdded, since(pod, &format!("the node has {}", taint.unwrap_or_default())))
        }
        "NodeUnschedulable" => asked_once(Cause::Cordoned, since(pod, "the node is cordoned")),
        "NodeAffinity" | "NodeName" | "VolumeZone" => asked_once(Cause::NodeLabels, since(pod, &reasons())),
        "PodTopologySpread" => asked_once(Cause::Skew, since(pod, &reasons())),
        "InterPodAffinity" => asked_once(Cause::Neighbours, since(pod, &reasons())),
        "NodeDeclaredFeatures" => asked_once(Cause::Features, since(pod, &reasons())),
        // What must hold once the kubelet has taken the pod up.
        "NodePorts" | "VolumeRestrictions" if !taken_up(pod) => Some((Cause::NotTakenUp, reasons())),
        "NodePorts" | "VolumeRestrictions" if is_about_a_claim(rejection) => Some((Cause::Storage, reasons())),
        "NodePorts" | "VolumeRestrictions" => None,
        "VolumeBinding" if out_of_reach(rejection) && taken_up(pod) => None,
        "NodeVolumeLimits" if full(rejection) && taken_up(pod) => None,
        _ => Some((Cause::Storage, since(pod, &reasons()))),
    }
}

/// Sums that are too large for a reason.
fn sums(view: &View, node: &Node, rejection: &Rejection) -> Option<(Cause, String)> {
    let mut found = None;
    for reason in &rejection.reasons {
        let resource = reason.strip_prefix("Insufficient ").unwrap_or("pods");
        // One sum without an excuse is enough to be wrong.
        let excuse = enforced::excuse(view, node, resource)?;
        found.get_or_insert(match excuse {
            Excuse::DeviceGone => (Cause::DeviceGone, format!("{resource} of {} is less than is held", node.name())),
            Excuse::Resize(pods) => (Cause::Resize, format!("being resized on {}: {pods}", node.name())),
            Excuse::NotTakenUp(pods) => (Cause::NotTakenUp, format!("bound to {}, not started: {pods}", node.name())),
        });
    }
    found
}

/// Who placed a pod without asking the scheduler that is modelled.
fn bypass(pod: &Pod) -> Option<Cause> {
    if pod.mirror() {
        return Some(Cause::StaticPod);
    }
    let other = !pod.spec.scheduler.is_empty() && pod.spec.scheduler != DEFAULT_SCHEDULER;
    other.then_some(Cause::OtherScheduler)
}

/// A fact, with the time since when the pod is there.
fn since(pod: &Pod, fact: &str) -> String {
    match pod.timing.scheduled.or(pod.timing.started) {
        Some(time) => format!("{fact}; bound since {time}"),
        None => fact.to_owned(),
    }
}

fn out_of_reach(rejection: &Rejection) -> bool {
    rejection.reasons.iter().any(|reason| reason.contains("node affinity"))
}

fn full(rejection: &Rejection) -> bool {
    rejection.reasons.iter().any(|reason| reason.contains("max volume count"))
}

fn is_about_a_claim(rejection: &Rejection) -> bool {
    rejection.reasons.iter().any(|reason| reason.contains("not found"))
}
