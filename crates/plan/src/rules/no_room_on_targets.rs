//! No room.
//!
//! ## What it checks
//! All pods that leave are placed on the targets, one after the other and in the order of the plan, each counted with
//! the ones before it: cpu, memory, number of pods and every other resource, host ports, and volumes that a node can
//! attach. A pod that would fit an empty target finds all of them full. The sum of what is free does not help: a pod is
//! not cut in two.
//!
//! ## Why it matters
//! Its successor would stay Pending, in the middle of the window.
//!
//! ## How to fix
//! Add a target node, or lower what the workload requests.

use rehome_k8s::Kind;
use rehome_model::finding::{Code, Severity};
use rehome_sched::Rejection;

use super::{Found, Rule};
use crate::draft::Draft;
use crate::facts::placement;

pub(super) const RULE: Rule =
    Rule { code: Code(1003), name: "no-room-on-targets", needs: &[Kind::Node, Kind::Pod], check };

/// Whether another rule is about it: spread, affinity between pods, a driver that is missing.
fn said_by_others(rejection: &Rejection) -> bool {
    let driver = |reason: &String| reason.ends_with("CSI driver is not installed on the node");
    matches!(rejection.plugin, "PodTopologySpread" | "InterPodAffinity") || rejection.reasons.iter().any(driver)
}

fn check(draft: &Draft<'_>) -> Vec<Found> {
    let facts = &draft.facts;
    let homeless = draft.placements.homeless.iter().filter(|(pod, rejections)| {
        facts.emptied.impossible(pod).is_none() && rejections.iter().any(|(_, rejection)| !said_by_others(rejection))
    });
    homeless
        .map(|(pod, rejections)| Found {
            severity: Severity::Blocking,
            subject: pod.meta.key().reference(Kind::Pod),
            message: format!(
                "its successor finds no room on the {} targets once the pods before it are there: {}",
                facts.targets.len(),
                placement::sentence(rejections)
            ),
            remedies: vec!["add a node to the target pool, and capture again".to_owned()],
        })
        .collect()
}
