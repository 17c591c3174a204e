//! Rolling restart with surge: a Deployment adds a pod before it takes one away, so nobody misses one.
//!
//! It bypasses budgets, because a rollout deletes pods and does not evict them. So it bids only if the rollout itself
//! takes away nothing (rounded `maxUnavailable` is zero) or no more than the budgets allow. It restarts replicas that
//! need not move, and is charged for them.

use rehome_k8s::percent::rolling_update_limits;
use rehome_k8s::pod::Pod;
use rehome_k8s::workload::{WorkloadStatus, WorkloadStrategy};
use rehome_k8s::{Key, budget, readiness};
use rehome_model::Known;
use rehome_model::plan::Disruption;

use super::{Bid, NoBid, Strategy, Way};
use crate::facts::Facts;
use crate::facts::units::{MoveUnit, UnitLineage, on_one_node};

/// Managers, by the beginning of their names in `managedFields`, that put back what others change.
const REVERTERS: [&str; 4] = ["argocd", "kustomize-controller", "helm-controller", "flux"];

/// The strategy.
pub const STRATEGY: Strategy = Strategy { name: "rolling_restart", bid };

fn bid(facts: &Facts<'_>, unit: &MoveUnit) -> Result<Bid, NoBid> {
    let [lineage] = &unit.lineages[..] else {
        return Err(NoBid::because("several workloads share a volume and must move together"));
    };
    let Some(deployment) = lineage.controller.as_ref().filter(|_| lineage.workload.kind == "Deployment") else {
        return Err(NoBid::because("only Deployments roll over with surge"));
    };
    let WorkloadStrategy::Rolling { max_surge, max_unavailable } = deployment.strategy else {
        return Err(NoBid::because("its strategy is Recreate: the old pod stops before the new one starts"));
    };
    // A file may hold no status at all; then the pods tell.
    let told = deployment.status != WorkloadStatus::default();
    let pods = lineage.leaving.iter().chain(&lineage.staying);
    let serving = i64::try_from(pods.filter(|pod| readiness::serves(pod)).count()).unwrap_or(i64::MAX);
    if told && !readiness::rolled_out(deployment) || !told && serving < deployment.replicas.unwrap_or(1) {
        return Err(NoBid::because("its last rollout is not complete, and a new one would not be either"));
    }
    if deployment.paused {
        return Err(NoBid::because("it is paused: a change of its template rolls nothing out"));
    }
    let replicas = deployment.replicas.unwrap_or(1);
    if replicas == 0 {
        return Err(NoBid::because("it asks for no replicas"));
    }
    let mut claims =
        deployment.template.spec.claims_of("").map(|name| Key::new(deployment.meta.namespace.clone(), name));
    if let Some(claim) = claims.find(|claim| on_one_node(facts.view, claim)) {
        return Err(NoBid::because(format!(
            "claim {} can be attached to one node only, so an additional pod could not start on another",
            claim.name
        )));
    }
    let (surge, unavailable) = rolling_update_limits(max_surge, max_unavailable, replicas);
    if surge == 0 {
        return Err(NoBid::because("its maxSurge is zero: it takes a pod away before it adds one"));
    }
    if unavailable > 0 {
        within_budgets(facts, unit, unavailable, replicas)?;
    }
    has_room(facts, lineage, surge)?;
    let needless = lineage.staying.len();
    let mut side_effects = vec!["the rollout deletes pods and does not ask PodDisruptionBudgets".to_owned()];
    if needless > 0 {
        side_effects.push(format!("{needless} pods that stand on other nodes restart, too"));
    }
    let reverts = |manager: &&String| REVERTERS.iter().any(|name| manager.starts_with(name));
    if let Some(manager) = deployment.meta.managers.iter().find(reverts) {
        side_effects.push(format!("{manager} manages it: if it takes the annotation away, all pods restart again"));
    }
    Ok(Bid {
        disruption: Disruption {
            forced: 0,
            outages: 0,
            needless_restarts: needless,
            missing_at_worst: usize::try_from(unavailable).unwrap_or(0),
        },
        way: Way::Restart,
        side_effects,
    })
}

/// The first successors must find a target beside the old pods (ports, anti-affinity and spread included), and all of
/// them once the old ones are gone: otherwise the rollout hangs, or a pod that need not move has nowhere to go.
fn has_room(facts: &Facts<'_>, lineage: &UnitLineage, surge: i64) -> Result<(), NoBid> {
    let all = UnitLineage {
        leaving: lineage.leaving.iter().chain(&lineage.staying).cloned().collect(),
        staying: Vec::new(),
        ..lineage.clone()
    };
    // Names of their own, so that they stand beside the pods that they replace.
    let named = |pod: Pod| {
        let mut pod = pod;
        pod.meta.name.push_str("-successor");
        pod
    };
    let successors: Vec<Pod> = all.successors(facts.view).into_iter().map(named).collect();
    let first = usize::try_from(surge).unwrap_or(0).min(successors.len());
    if !facts.fenced.all_fit(&successors[..first], std::iter::empty()) {
        return Err(NoBid::because("the targets have no room for a successor beside the old pods"));
    }
    let count = successors.len();
    if !facts.fenced.all_fit(&successors, all.leaving.iter()) {
        return Err(NoBid::because(format!("the targets have no room for all of its {count} pods")));
    }
    Ok(())
}

fn within_budgets(facts: &Facts<'_>, unit: &MoveUnit, unavailable: i64, replicas: i64) -> Result<(), NoBid> {
    if unavailable >= replicas {
        return Err(NoBid::because(format!("its rollout may take away all {replicas} replicas at once")));
    }
    for pod in unit.leaving() {
        let Known::Known(budgets) = budget::of_pod(facts.view, pod) else {
            return Err(NoBid::because(format!(
                "its rollout may take away {unavailable} of {replicas} replicas, and the budgets are not known"
            )));
        };
        for budget in budgets {
            let allowed = budget::compute(facts.view, budget).disruptions_allowed;
            if unavailable > allowed {
                return Err(NoBid::because(format!(
                    "its rollout may take away {unavailable} of {replicas} replicas, but budget {} allows {allowed}",
                    budget.meta.name
                )));
            }
        }
    }
    Ok(())
}
