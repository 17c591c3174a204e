//! What the eviction subresource checks before it deletes a pod.
//!
//! Source: `k8s.io/kubernetes/pkg/registry/core/pod/storage/eviction.go` (`Create`, `checkAndDecrement`), and runs against
//! a 1.37 control plane. A wrong UID is found by the deletion, after the budget was charged.
//!
//! Who asks for a pod that another incarnation has replaced gets three different answers, see [`Precondition`].

use std::sync::Arc;

use rehome_k8s::pod::Pod;
use rehome_k8s::policy::{BudgetStatus, PodDisruptionBudget};
use rehome_k8s::{View, budget};
use rehome_model::request::Cause;
use rehome_model::time::Seconds;

/// How many evictions a budget remembers before it refuses more. Source: `eviction.go`, `MaxDisruptedPodSize`.
const MOST_DISRUPTED: usize = 2000;
/// `Retry-After` while the newest generation of a budget was not seen. Source: `eviction.go`, `checkAndDecrement`.
const RETRY_UNOBSERVED: Seconds = Seconds::new(10);

/// What becomes of a UID that is not the pod's, if the budgets let the pod go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Precondition {
    /// A conflict, at once.
    Checked,
    /// A conflict, but only after the server has tried for [`RETRIES`]: it takes the conflict for its own, as it does for
    /// pods that need no budget (`canIgnorePDB`).
    Retried,
    /// "Still being processed": the server takes the conflict for that of the version of an unhealthy pod that it pinned.
    Pinned,
}

/// How long the server tries again: 20 times, 500 ms apart. Source: `eviction.go`, `EvictionsRetry`.
pub(crate) const RETRIES: Seconds = Seconds::new(10);

/// What the budgets say.
#[derive(Debug)]
pub(crate) enum Verdict {
    /// The pod may go, and no budget is charged.
    Free(Precondition),
    /// The pod may go once this budget, charged, is stored.
    Charged(Box<PodDisruptionBudget>),
    /// It may not.
    Refused(Cause),
}

/// Asks the budgets of a pod.
pub(crate) fn ask(view: &View, pod: &Pod) -> Verdict {
    if budget::ignored_for(pod) {
        return Verdict::Free(Precondition::Retried);
    }
    let budgets = budget::of_pod(view, pod).known().unwrap_or_default();
    let found = match budgets.as_slice() {
        [] => return Verdict::Free(Precondition::Checked),
        [one] => *one,
        _ => {
            let message =
                "This pod has more than one PodDisruptionBudget, which the eviction subresource does not support.";
            return Verdict::Refused(Cause::SeveralBudgets { message: message.to_owned() });
        }
    };
    let status = found.status.clone().unwrap_or_default();
    if !pod.ready {
        let healthy = status.current_healthy >= status.desired_healthy && status.desired_healthy > 0;
        if found.always_allow_unhealthy || healthy {
            return Verdict::Free(Precondition::Pinned);
        }
    }
    charge(found, &status, &pod.meta.name)
}

/// "Come back later". Source: `eviction.go`, `createTooManyRequestsError`.
pub(crate) fn processing(budget: &str) -> Cause {
    Cause::Budget {
        message: format!("The disruption budget {budget} is still being processed by the server."),
        retry_after: Some(RETRY_UNOBSERVED),
    }
}

fn charge(found: &Arc<PodDisruptionBudget>, status: &BudgetStatus, pod: &str) -> Verdict {
    let name = &found.meta.name;
    if status.observed_generation < found.meta.generation {
        return Verdict::Refused(processing(name));
    }
    let refused = |why: &str| format!("The disruption budget {name} does not allow evicting pods currently{why}");
    if status.disruptions_allowed < 0 {
        return Verdict::Refused(Cause::Forbidden { message: refused(": pdb disruptions allowed is negative") });
    }
    if status.disrupted_pods.len() > MOST_DISRUPTED {
        let why = ": too many pending evictions not confirmed by PDB controller";
        return Verdict::Refused(Cause::Forbidden { message: refused(why) });
    }
    if status.disruptions_allowed == 0 {
        let (needs, has) = (status.desired_healthy, status.current_healthy);
        let message = match &status.sync_failed {
            Some(failed) => refused(&format!(" because it failed sync: {failed}")),
            None if has <= needs => {
                format!("The disruption budget {name} needs {needs} healthy pods and has {has} currently")
            }
            // Charged a moment ago: the controller has not counted again yet.
            None => refused(""),
        };
        return Verdict::Refused(Cause::Budget { message, retry_after: None });
    }
    let mut charged = PodDisruptionBudget::clone(found);
    let mut status = status.clone();
    status.disruptions_allowed -= 1;
    status.disrupted_pods.insert(pod.to_owned());
    charged.status = Some(status);
    Verdict::Charged(Box::new(charged))
}
