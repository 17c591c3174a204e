//! What budgets say of the pods of a unit.

use std::sync::Arc;

use rehome_k8s::policy::PodDisruptionBudget;
use rehome_k8s::{View, budget};
use rehome_model::Known;

use crate::facts::units::MoveUnit;

/// What stands in the way of evicting a unit.
pub(crate) enum Obstacle {
    /// A pod under several budgets: the endpoint answers 500 for ever.
    Several {
        /// The pod.
        pod: String,
        /// The budgets.
        budgets: Vec<String>,
    },
    /// A budget that never allows a disruption while all of its pods are healthy.
    Structural {
        /// The budget.
        budget: Arc<PodDisruptionBudget>,
        /// How many pods it wants healthy.
        desired: i64,
        /// How many pods it counts.
        expected: i64,
    },
}

/// The first thing in the way of evicting a unit. Unknown budgets are none: the API server keeps them all the same.
pub(crate) fn obstacle(view: &View, unit: &MoveUnit) -> Option<Obstacle> {
    for pod in unit.leaving().filter(|pod| !budget::ignored_for(pod)) {
        let Known::Known(budgets) = budget::of_pod(view, pod) else { continue };
        match budgets[..] {
            [] => {}
            [only] => {
                if !pod.ready && only.always_allow_unhealthy {
                    continue;
                }
                if budget::structural(view, only) {
                    let status = budget::compute(view, only);
                    return Some(Obstacle::Structural {
                        budget: Arc::clone(only),
                        desired: status.desired_healthy,
                        expected: status.expected_pods,
                    });
                }
            }
            _ => {
                return Some(Obstacle::Several {
                    pod: pod.meta.key().to_string(),
                    budgets: budgets.iter().map(|budget| budget.meta.name.clone()).collect(),
                });
            }
        }
    }
    None
}

impl Obstacle {
    /// The obstacle as the end of "no, because …".
    pub(crate) fn because(&self) -> String {
        match self {
            Self::Several { pod, budgets } => format!(
                "Pod {pod} is under {} budgets ({}), and the eviction endpoint refuses such a pod for ever",
                budgets.len(),
                budgets.join(", ")
            ),
            Self::Structural { budget, desired, expected } => format!(
                "budget {} wants {desired} healthy of {expected} pods, and so never allows an eviction",
                budget.meta.name
            ),
        }
    }
}
