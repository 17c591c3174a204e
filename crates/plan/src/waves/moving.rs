//! The steps that move one unit.

use std::collections::{BTreeMap, BTreeSet};

use rehome_k8s::owner::Owner;
use rehome_k8s::{Kind, Record, View};
use rehome_model::condition::Condition;
use rehome_model::intent::ConsentTo;
use rehome_model::plan::{Step, Undo};
use rehome_model::time::Seconds;
use rehome_model::verb::{Delete, Evict, HOLD_TAINT, Lineage, RESTART_ANNOTATION, Restart, Successor, Verb};
use rehome_model::{Digest, ObjectRef};

use super::{Waves, change, taint};
use crate::draft::Decision;
use crate::facts::Facts;
use crate::facts::units::UnitLineage;
use crate::strategies::Way;

/// The value of the hold: a plan's only use of it.
const HOLD: &str = "rehome";

/// Adds the steps of a unit. While one closes targets to others, nothing else moves: its steps close the section and
/// open another.
pub(super) fn steps(
    facts: &Facts<'_>,
    decision: &mut Decision,
    holds: BTreeSet<ObjectRef>,
    snapshot: &Digest,
    waves: &mut Waves,
) {
    let alone = decision.meets_on.is_some();
    if alone {
        waves.joined();
    }
    let held = hold(facts, decision, waves);
    let onto: Vec<String> = match &held {
        Some((target, _)) => vec![target.clone()],
        None => facts.targets.iter().cloned().collect(),
    };
    let step = Step { holds, ..moving(facts, decision, onto, snapshot, waves) };
    decision.step = waves.push(step, "nothing of this wave moves before");
    if let Some((target, nodes)) = held {
        for node in nodes {
            let name = waves.name(&format!("release/{}/{node}", decision.unit.path()));
            let because = format!("the workloads stand on {target}, and others may use {node} again");
            waves.push(change(name, taint(&node, HOLD_TAINT, Some(HOLD), None), &because), "the unit has moved");
        }
    }
    if alone {
        waves.beside();
    }
}

/// Keeps all targets but one closed while workloads on one volume move: the scheduler does not know that they must
/// meet, and apart they would wait for the volume for ever (flavor runbook, §5.4).
fn hold(facts: &Facts<'_>, decision: &Decision, waves: &mut Waves) -> Option<(String, Vec<String>)> {
    let unit = &decision.unit;
    let target = decision.meets_on.clone()?;
    let others: Vec<String> = facts.targets.iter().filter(|node| **node != target).cloned().collect();
    for node in &others {
        let name = waves.name(&format!("hold/{}/{node}", unit.path()));
        let because = format!("{} share a volume that one node can hold: both must land on {target}", unit.title());
        let mut step = change(name, taint(node, HOLD_TAINT, None, Some(HOLD)), &because);
        step.side_effects.push(format!("no pod of anybody lands on {node} for as long"));
        waves.push(step, "the unit needs one target to itself");
    }
    Some((target, others))
}

fn moving(facts: &Facts<'_>, decision: &Decision, onto: Vec<String>, snapshot: &Digest, waves: &Waves) -> Step {
    let unit = &decision.unit;
    let off: Vec<String> = facts.sources.iter().cloned().collect();
    let lineages: Vec<Lineage> = unit.lineages.iter().map(lineage).collect();
    let name = waves.name(&format!("move/{}", unit.path()));
    let ready = facts.intent.ready_deadline;
    let grace: Seconds = unit.leaving().map(|pod| pod.spec.grace).sum();
    let pods = i64::try_from(unit.leaving().count()).unwrap_or(i64::MAX);
    let deadline = Seconds::from_millis(ready.as_millis().saturating_mul(pods.max(1))) + grace;
    let only = unit.lineages.first();
    let (verb, because, why_left) = match (decision.bid.way, only, lineages.first()) {
        (Way::Restart, Some(own), Some(first)) => (
            Verb::Restart(Restart {
                lineage: first.clone(),
                restarted_elsewhere: own.staying.len(),
                off,
                from: own
                    .controller
                    .as_ref()
                    .and_then(|controller| controller.template.annotations.get(RESTART_ANNOTATION).cloned()),
                to: format!("rehome-{}", snapshot.short()),
            }),
            "a rollout with surge moves it without a pod missing",
            "taking the annotation back would roll everything out again",
        ),
        (Way::Delete, Some(own), Some(first)) => {
            let bare = own.owner == Owner::None;
            let verb = Verb::Delete(Delete {
                lineage: first.clone(),
                off,
                onto,
                consent: if bare { ConsentTo::DeleteBarePod } else { ConsentTo::DeletePastBudget },
                successor: if bare { Successor::None } else { Successor::Awaited },
            });
            (
                verb,
                "no eviction can move it, and a person agreed",
                "a pod that was deleted does not come back by itself",
            )
        }
        _ => (
            Verb::Evict(Evict { lineages, off, onto }),
            if unit.lineages.len() > 1 {
                "they share a volume: all let go of it before a successor starts"
            } else {
                "no budget forbids it for good: one pod after the other, each once its successor before is Ready"
            },
            "moving it back would disturb it again; delete a pod to have it scheduled anew",
        ),
    };
    Step {
        name,
        verb,
        after: BTreeMap::new(),
        because: because.to_owned(),
        requires: unit.lineages.iter().map(|lineage| still_is(facts, lineage)).collect(),
        // What nobody creates again settles nowhere.
        establishes: unit
            .lineages
            .iter()
            .filter(|lineage| lineage.owner != Owner::None)
            .map(|lineage| settled(facts, lineage))
            .collect(),
        undo: Undo::LeftInPlace { why: why_left.to_owned() },
        side_effects: decision.bid.side_effects.clone(),
        deadline,
        outages: decision.disruption.outages,
        holds: BTreeSet::new(),
    }
}

fn lineage(lineage: &UnitLineage) -> Lineage {
    Lineage { workload: lineage.workload.clone(), pods: lineage.leaving.len() }
}

fn settled(facts: &Facts<'_>, lineage: &UnitLineage) -> Condition {
    Condition::SettledOffNodes { workload: lineage.workload.clone(), nodes: facts.sources.iter().cloned().collect() }
}

/// The workload is the one that was planned for. Under an autoscaler its number of replicas is nobody's promise.
fn still_is(facts: &Facts<'_>, lineage: &UnitLineage) -> Condition {
    match &lineage.controller {
        Some(controller) if !scaled_by_others(facts.view, &lineage.workload) => Condition::WorkloadIs {
            workload: lineage.workload.clone(),
            replicas: controller.replicas,
            strategy: controller.strategy.to_string(),
        },
        Some(_) => Condition::Exists { target: lineage.workload.clone() },
        None => Condition::WorkloadIs { workload: lineage.workload.clone(), replicas: None, strategy: String::new() },
    }
}

fn scaled_by_others(view: &View, workload: &ObjectRef) -> bool {
    view.of_kind(Kind::HorizontalPodAutoscaler).any(|record| match record {
        Record::HorizontalPodAutoscaler(hpa) => {
            Some(&hpa.meta.namespace) == workload.namespace.as_ref()
                && hpa.target == (workload.kind.clone(), workload.name.clone())
        }
        _ => false,
    })
}
