//! A volume that no target can reach.
//!
//! ## What it checks
//! A pod mounts a PersistentVolume whose node affinity, or whose zone labels, exclude every target: a disk of another
//! zone, a zone label of another name, or data on the old node's own disk. Or several pods of one workload hold a volume
//! that one node can attach.
//!
//! ## Why it matters
//! The successor would stay Pending, and the data does not move by itself.
//!
//! ## How to fix
//! Take targets in the volume's zone; for data on a node's disk, copy it first.

use std::collections::{BTreeMap, BTreeSet};

use rehome_k8s::Kind;
use rehome_k8s::pod::Pod;
use rehome_k8s::storage::PersistentVolume;
use rehome_k8s::{Key, Record, View};
use rehome_model::finding::{Code, Severity};
use rehome_sched::Rejection;

use super::{Found, Rule};
use crate::draft::Draft;
use crate::facts::units::{UnitLineage, on_one_node};
use crate::facts::{Facts, placement};

/// The label by which volumes on a node's own disk name the node. Source: `k8s.io/api/core/v1`, `LabelHostname`.
const HOSTNAME: &str = "kubernetes.io/hostname";

pub(super) const RULE: Rule = Rule {
    code: Code(1005),
    name: "volume-cannot-follow",
    needs: &[Kind::PersistentVolume, Kind::PersistentVolumeClaim],
    check,
};

/// Whether a volume is what keeps at least one target from taking a pod.
pub(super) fn by_volume(rejections: &[(String, Rejection)]) -> bool {
    rejections.iter().any(|(_, rejection)| matches!(rejection.plugin, "VolumeBinding" | "VolumeZone"))
}

fn check(draft: &Draft<'_>) -> Vec<Found> {
    let facts = &draft.facts;
    let mut found = Vec::new();
    for lineage in facts.units.iter().flat_map(|unit| &unit.lineages) {
        found.extend(held_by_several(draft, lineage));
        for pod in lineage.successors(facts.view).into_iter().filter(|pod| pod.claims().next().is_some()) {
            let Some(rejections) = facts.emptied.impossible(&pod) else { continue };
            if !by_volume(&rejections) {
                continue;
            }
            let volumes: Vec<String> = pod
                .claims()
                .filter_map(|claim| bound(facts.view, &pod.meta.namespace, &claim))
                .map(|volume| describe(facts, volume))
                .collect();
            found.push(Found {
                severity: Severity::Blocking,
                subject: pod.meta.key().reference(Kind::Pod),
                message: format!(
                    "no target can reach its volume {}: {}",
                    if volumes.is_empty() { "(not bound)".to_owned() } else { volumes.join(", ") },
                    placement::sentence(&rejections)
                ),
                remedies: remedies(facts.view, &pod),
            });
        }
    }
    found
}

/// A volume that is on the disk of one node goes with the node, whatever the zones are.
fn remedies(view: &View, pod: &Pod) -> Vec<String> {
    let volumes = pod.claims().filter_map(|claim| bound(view, &pod.meta.namespace, &claim));
    let mut terms = volumes.flat_map(|volume| volume.node_affinity.iter().flatten());
    if terms.any(|term| term.labels.iter().any(|expression| expression.key == HOSTNAME)) {
        return vec![
            "copy the data to a volume that the targets reach, before the node is gone: rehome does not copy volumes yet"
                .to_owned(),
        ];
    }
    vec![
        "add a target in the volume's zone".to_owned(),
        "or move the data first: rehome does not copy volumes yet".to_owned(),
    ]
}

/// Pods of one workload that hold one claim: each would wait for the volume that the next still holds on the old node.
fn held_by_several(draft: &Draft<'_>, lineage: &UnitLineage) -> Option<Found> {
    let mut pods: BTreeMap<Key, usize> = BTreeMap::new();
    for claim in lineage.claims().filter(|claim| on_one_node(draft.facts.view, claim)) {
        *pods.entry(claim).or_default() += 1;
    }
    let (claim, pods) = pods.into_iter().find(|(_, pods)| *pods > 1)?;
    let workload = &lineage.workload;
    Some(Found {
        severity: Severity::Blocking,
        subject: workload.clone(),
        message: format!(
            "{pods} of its pods hold claim {}, which one node at a time can attach: the successor of one waits for the others",
            claim.name
        ),
        remedies: vec![format!(
            "scale it to one pod until the move is over: kubectl scale -n {} {}/{} --replicas=1",
            claim.namespace,
            workload.kind.to_lowercase(),
            workload.name
        )],
    })
}

/// The volume that a claim is bound to.
pub(super) fn bound<'v>(view: &'v View, namespace: &str, claim: &str) -> Option<&'v PersistentVolume> {
    let Record::PersistentVolumeClaim(claim) = view.get(Kind::PersistentVolumeClaim, &Key::new(namespace, claim))?
    else {
        return None;
    };
    match view.get(Kind::PersistentVolume, &Key::cluster(claim.volume.clone()?))? {
        Record::PersistentVolume(volume) => Some(volume),
        _ => None,
    }
}

/// The volume, where it can be reached from, and what the targets have instead: another value of the label, which is
/// another zone, or no such label at all, which is another way of naming zones.
fn describe(facts: &Facts<'_>, volume: &PersistentVolume) -> String {
    let mut text = format!("{} ({}", volume.meta.name, volume.driver);
    for expression in volume.node_affinity.iter().flatten().flat_map(|term| &term.labels) {
        let targets = facts.targets.iter().filter_map(|name| facts.view.node(name));
        let values: BTreeSet<&String> = targets.filter_map(|node| node.meta.labels.get(&expression.key)).collect();
        let there = match values.iter().map(|value| value.as_str()).collect::<Vec<_>>().join("|") {
            none if none.is_empty() => "no target has such a label".to_owned(),
            values => format!("the targets have {values}"),
        };
        text.push_str(&format!(", {} {}: {there}", expression.key, expression.values.join("|")));
    }
    text.push(')');
    text
}
