//! `lineage-moves-once`: of each workload as many pods leave as the plan says, and none that took the place of another
//! during the run is moved again.

use std::collections::BTreeMap;

use rehome_model::ObjectRef;

use super::{Evidence, Found};
use crate::audit::evidence::lineages;

/// What the plan allows for one workload.
#[derive(Default)]
struct Planned {
    leave: usize,
    restart_elsewhere: usize,
    steps: usize,
}

pub(super) fn find(evidence: &Evidence<'_>) -> Vec<Found> {
    let mut planned: BTreeMap<ObjectRef, Planned> = BTreeMap::new();
    for (workload, leave, elsewhere) in evidence.plan.steps().flat_map(|step| lineages(&step.verb)) {
        let entry = planned.entry(workload.clone()).or_default();
        entry.leave += leave;
        entry.restart_elsewhere += elsewhere;
        entry.steps += 1;
    }
    let Some((began, _)) = evidence.window() else { return Vec::new() };
    let mut found = Vec::new();
    let mut left: BTreeMap<ObjectRef, usize> = BTreeMap::new();
    let mut restarted: BTreeMap<ObjectRef, usize> = BTreeMap::new();
    let mut disruptions: Vec<_> = evidence.disruptions().collect();
    disruptions.sort_by_key(|disruption| disruption.deletion.received);
    for disruption in disruptions {
        let Some(plan) = planned.get(&disruption.workload) else { continue };
        let (pod, at, workload) = (&disruption.pod.pod, disruption.deletion.received, disruption.workload);
        // A workload that the plan moves in several steps may touch a successor again, within the count below.
        if disruption.pod.created > began && plan.steps == 1 {
            found.push((
                at,
                format!("{pod} of {workload} was made during the run, and deleted again on {}", disruption.node),
            ));
            continue;
        }
        let (counts, allowed, what) = if disruption.from_source {
            (&mut left, plan.leave, "leave source nodes")
        } else {
            (&mut restarted, plan.restart_elsewhere, "restart elsewhere")
        };
        let count = counts.entry(workload.clone()).or_default();
        *count += 1;
        if *count > allowed {
            found.push((at, format!("{workload}: expected {allowed} pods to {what}, found {pod} as number {count}")));
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use crate::audit::invariants::cases::{Case, RS_CONTROLLER};

    const NAME: &str = "lineage-moves-once";

    #[test]
    fn a_successor_that_is_evicted_fails() {
        let mut case = Case::good();
        case.plan_evict().off.push("new-1".to_owned());
        case.evict("web-1b");
        assert_eq!(case.broken(), NAME);
    }

    #[test]
    fn more_pods_than_planned_fail() {
        let mut case = Case::good();
        assert_eq!(case.plan_evict().lineages[0].pods, 2);
        assert_eq!(case.broken(), "");
        case.plan_evict().lineages[0].pods = 1;
        assert_eq!(case.broken(), NAME);
    }

    #[test]
    fn a_restart_that_touches_more_than_it_was_charged_for_fails() {
        let mut case = Case::good();
        case.pod("api-3", "Deployment/api", "new-1");
        case.delete_during_restart("api-3", RS_CONTROLLER);
        assert_eq!(case.broken(), NAME);
    }
}
