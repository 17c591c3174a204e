//! Why a budget refuses, and how long it is of use to wait.
//!
//! The server's answer names the budget and two numbers; why they are so stands in the cluster. A wait ends when the
//! watch shows room, not when a timer does: the timer is for a watch that is behind.
//! Source of the rules: `registry/core/pod/storage/eviction.go` and `pkg/controller/disruption/disruption.go`.

use rehome_k8s::pod::Pod;
use rehome_k8s::policy::{BudgetStatus, PodDisruptionBudget};
use rehome_k8s::{Key, View, budget};
use rehome_model::time::Seconds;
use rehome_model::{Known, Timestamp};

use super::answer::{Reaction, Refused};
use crate::machine::LOOK_AGAIN;

/// When to ask again although the watch shows no room: it may be behind, or the budgets may not be watched at all.
const FALLBACK: Seconds = Seconds::new(30);
/// The first pause before a budget that shows room is asked again; doubled each time that it refuses all the same.
const SHOWS_ROOM: Seconds = Seconds::from_millis(250);
/// How often a budget that never allows anything is asked before a person is: somebody may be about to change it.
const NEVERS: u32 = 3;
/// How many pods are named in a sentence.
const NAMED: usize = 3;

/// Why a budget refuses a pod, as far as the view shows it.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Why {
    /// The view shows no budget over the pod, or none can be read.
    NotShown,
    /// It has room by now.
    HasRoom,
    /// The controller has not seen its newest generation.
    Unobserved(String),
    /// Waiting will not help.
    Never(String),
    /// Evictions that were allowed and not carried out hold its room: a precondition that failed, say.
    Charged(String),
    /// Some of its pods are not healthy.
    Short(String),
}

/// Why the budget over a pod refuses.
pub(crate) fn why(view: &View, pod: &Pod) -> Why {
    let Known::Known(budgets) = budget::of_pod(view, pod) else { return Why::NotShown };
    let [found] = budgets[..] else { return Why::NotShown };
    let Some(status) = &found.status else { return Why::NotShown };
    let name = &found.meta.name;
    if let Some(failed) = &status.sync_failed {
        return Why::Never(format!("budget {name} cannot be computed ({failed}), and so allows nothing"));
    }
    if status.observed_generation < found.meta.generation {
        return Why::Unobserved(format!("budget {name} was changed, and its controller has not counted again"));
    }
    if status.disruptions_allowed > 0 {
        return Why::HasRoom;
    }
    if budget::structural(view, found) {
        let (desired, expected) = (status.desired_healthy, status.expected_pods);
        return Why::Never(format!(
            "budget {name} wants {desired} healthy of {expected} pods, and so never allows an eviction"
        ));
    }
    let charged = charged(view, found, status);
    if !charged.is_empty() {
        return Why::Charged(format!(
            "budget {name} counts {} as disrupted by an eviction that did not take place; it forgets that after two minutes",
            list(&charged)
        ));
    }
    let ailing: Vec<String> = budget::pods(view, found)
        .filter(|other| other.meta.deleting.is_none() && !other.ready && !other.finished())
        .map(|other| other.meta.name.clone())
        .collect();
    let (needs, has) = (status.desired_healthy, status.current_healthy);
    let because = match (ailing.is_empty(), pod.ready) {
        (true, _) => "a pod that is on its way is missing".to_owned(),
        (false, false) if ailing == [pod.meta.name.clone()] => {
            "the pod itself is not Ready, and the budget protects such pods, too \
             (unhealthyPodEvictionPolicy: AlwaysAllow would let it go)"
                .to_owned()
        }
        (false, _) => format!("{} not Ready", list(&ailing)),
    };
    Why::Short(format!("budget {name} needs {needs} healthy pods and has {has}: {because}"))
}

/// Whether a budget over the pod cannot be computed.
fn broken(view: &View, pod: &Pod) -> bool {
    let Known::Known(budgets) = budget::of_pod(view, pod) else { return false };
    budgets.iter().filter_map(|found| found.status.as_ref()).any(|status| status.sync_failed.is_some())
}

/// Pods that the budget counts as disrupted although nothing deletes them.
fn charged(view: &View, found: &PodDisruptionBudget, status: &BudgetStatus) -> Vec<String> {
    let lives = |name: &&String| {
        let pod = view.pod(&Key::new(found.meta.namespace.clone(), (*name).clone()));
        pod.is_some_and(|pod| pod.meta.deleting.is_none())
    };
    status.disrupted_pods.iter().filter(lives).cloned().collect()
}

fn list(names: &[String]) -> String {
    let shown = names.get(..NAMED.min(names.len())).unwrap_or_default().join(", ");
    match names.len().saturating_sub(NAMED) {
        0 => shown,
        more => format!("{shown} and {more} more"),
    }
}

/// What to do after a budget has refused to let a pod go.
pub(super) fn reaction(view: &View, pod: Option<&Pod>, refused: Refused, now: Timestamp) -> Reaction {
    let Refused { at, in_a_row, retry_after, said } = refused;
    let pause = |seconds: Seconds, reason: String| {
        if now >= at + seconds { Reaction::Send } else { Reaction::Pause { until: at + seconds, reason } }
    };
    // A budget that cannot be computed keeps the generation that was counted last, so the server takes it for one that is
    // about to be counted, and asks for patience each time.
    if let Some(after) = retry_after.filter(|_| !pod.is_some_and(|pod| broken(view, pod))) {
        return pause(after, said);
    }
    // A pod that the view does not show any more is found out by the read that comes before each request.
    let Some(pod) = pod else { return pause(FALLBACK, said) };
    // Who is refused belongs to the reason: a step moves many pods.
    let refused = |reason: String| format!("{reason}; it keeps Pod {}", pod.meta.key());
    match why(view, pod) {
        // Nothing to watch: a timer is all there is.
        Why::NotShown => pause(LOOK_AGAIN, said),
        Why::HasRoom => {
            let doubled = SHOWS_ROOM.as_millis() << in_a_row.saturating_sub(1).min(10);
            pause(Seconds::from_millis(doubled.min(FALLBACK.as_millis())), said)
        }
        Why::Never(reason) if in_a_row >= NEVERS => Reaction::Stuck {
            cause: refused(reason),
            instructions: vec![
                "change the budget, or make a new plan that consents to a deletion past it".to_owned(),
                "then: rehome resume".to_owned(),
            ],
        },
        Why::Never(reason) => pause(LOOK_AGAIN, refused(reason)),
        Why::Unobserved(reason) | Why::Charged(reason) | Why::Short(reason) => pause(FALLBACK, refused(reason)),
    }
}

#[cfg(test)]
mod tests;
