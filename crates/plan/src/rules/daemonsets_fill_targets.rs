//! Targets whose room goes to DaemonSets.
//!
//! ## What it checks
//! The pods of DaemonSets on a target, those that still wait for room there included, ask for more than 35 % of its cpu or
//! memory.
//!
//! ## Why it matters
//! Every node pays them: many small nodes pay often. What is left for workloads is little, and an autoscaler that counts
//! DaemonSets takes an idle node for a busy one and never takes it away.
//!
//! ## How to fix
//! Take fewer and larger targets, or lower what the DaemonSets ask for.

use rehome_k8s::node::Resources;
use rehome_k8s::pod::Pod;
use rehome_k8s::{Kind, quantity, requests};
use rehome_model::ObjectRef;
use rehome_model::finding::{Code, Severity};

use super::{Found, Rule};
use crate::draft::Draft;

pub(super) const RULE: Rule =
    Rule { code: Code(1022), name: "daemonsets-fill-targets", needs: &[Kind::Node, Kind::Pod], check };

/// More than this is worth a word, in percent of allocatable. Source: the figure that a review of small flavors came to;
/// autoscalers reclaim nodes below 50 %, and a node needs some workload, too.
const WORTH_A_WORD: i64 = 35;

fn check(draft: &Draft<'_>) -> Vec<Found> {
    let facts = &draft.facts;
    let mut found = Vec::new();
    for node in facts.targets.iter().filter_map(|name| facts.view.node(name)) {
        let mut asked = Resources::new();
        let agents: Vec<Pod> =
            draft.placements.cluster.pods_on(node.name()).into_iter().filter(of_daemon_set).collect();
        agents.iter().for_each(|pod| requests::add(&mut asked, &pod.spec.requests));
        let share = |name: &str| {
            let size = *node.allocatable.get(name).filter(|size| **size > 0)?;
            let percent = i64::try_from(i128::from(*asked.get(name)?) * 100 / i128::from(size)).ok()?;
            Some((percent, format!("{percent} % of its {name} ({})", quantity::text(name, asked[name]))))
        };
        let shares: Vec<String> = ["memory", "cpu"]
            .into_iter()
            .filter_map(share)
            .filter(|(percent, _)| *percent > WORTH_A_WORD)
            .map(|(_, text)| text)
            .collect();
        if !shares.is_empty() {
            found.push(Found {
                severity: Severity::Warning,
                subject: ObjectRef::node(node.name()),
                message: format!("{} pods of DaemonSets ask for {}", agents.len(), shares.join(" and ")),
                remedies: vec!["compare flavors by what they leave for workloads: rehome size".to_owned()],
            });
        }
    }
    found
}

fn of_daemon_set(pod: &Pod) -> bool {
    pod.meta.controller.as_ref().is_some_and(|owner| owner.kind == "DaemonSet")
}
