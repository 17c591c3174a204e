//! NodeVolumeLimits: how many volumes of a CSI driver a node takes, as its CSINode says, and from 1.37 on whether the
//! driver is there at all.
//!
//! A volume counts once per node however many pods mount it; attachments count, too, those of pods that are gone
//! included. A node without a CSINode, or a driver without a count, has no limit.
//! Source: `k8s.io/kubernetes/pkg/scheduler/framework/plugins/nodevolumelimits/csi.go`.

use std::collections::{BTreeMap, BTreeSet};

use rehome_k8s::mutant::{Mutant, on};

use super::{Filter, curable};
use crate::cycle::Cycle;

/// What is against a node.
enum Objection {
    MissingClaim(String),
    MissingDriver(String),
    Full,
}

fn objection(cycle: &Cycle<'_>, node: usize) -> Option<Objection> {
    if let Some(claim) = &cycle.volumes.first_missing {
        let namespace = &cycle.pod.meta.namespace;
        let looked_up = format!("looking up PVC {namespace}/{claim}: persistentvolumeclaim {claim:?} not found");
        return Some(Objection::MissingClaim(looked_up));
    }
    let model = cycle.model;
    let csi = model.nodes.csi(node);
    let wanted = &cycle.volumes.attachables;
    let missing = |driver: &&String| !csi.is_some_and(|csi| csi.drivers.contains_key(*driver));
    if let Some(driver) = cycle.volumes.insisting.iter().find(missing) {
        return Some(Objection::MissingDriver(format!("{driver} CSI driver is not installed on the node")));
    }
    // Most nodes are far from full: only where that is not plain are volumes counted.
    let most = i64::try_from(model.storage.most_on_node(node) + wanted.len()).unwrap_or(i64::MAX);
    if most <= model.nodes.fewest_volumes(node) {
        return None;
    }
    let limits: BTreeMap<&String, i64> =
        csi?.drivers.iter().filter_map(|(driver, limit)| Some((driver, (*limit)?))).collect();
    if limits.is_empty() {
        return None;
    }
    let name = model.nodes.get(node)?.name();
    let held: BTreeSet<_> = model.storage.on_node(node, name).collect();
    let count = |driver: &str, of: &mut dyn Iterator<Item = &(String, String)>| {
        i64::try_from(of.filter(|(other, _)| other == driver).count()).unwrap_or(i64::MAX)
    };
    let full = limits.into_iter().any(|(driver, limit)| {
        let by_pods = |volume: &&(String, String)| !model.storage.held_by_pods(node, volume);
        let more = count(driver, &mut wanted.iter().filter(by_pods));
        let here = if on(Mutant::SharedVolumesCountTwice) {
            count(driver, &mut model.storage.on_node(node, name))
        } else {
            count(driver, &mut held.iter().copied())
        };
        more > 0 && here + more > limit
    });
    full.then_some(Objection::Full)
}

pub(super) const FILTER: Filter = Filter {
    plugin: "NodeVolumeLimits",
    active: |cycle| {
        let volumes = &cycle.volumes;
        !volumes.attachables.is_empty() || volumes.first_missing.is_some()
    },
    passes: |cycle, node| objection(cycle, node).is_none(),
    reasons: |cycle, node| match objection(cycle, node) {
        Some(Objection::MissingClaim(reason) | Objection::MissingDriver(reason)) => vec![reason],
        Some(Objection::Full) => vec!["node(s) exceed max volume count".to_owned()],
        None => Vec::new(),
    },
    curable,
};
