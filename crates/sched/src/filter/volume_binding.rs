//! VolumeBinding: where the claims' volumes are, or could be.
//!
//! Source: `k8s.io/kubernetes/pkg/scheduler/framework/plugins/volumebinding/binder.go`, `FindPodVolumes`.

use std::collections::BTreeMap;

use rehome_k8s::mutant::{Mutant, on};

use super::volumes::{Bound, Delayed, NO_PROVISIONER};
use super::{Filter, incurable};
use crate::Rejection;
use crate::cycle::Cycle;

const PLUGIN: &str = "VolumeBinding";
const OUT_OF_REACH: &str = "node(s) didn't match PersistentVolume's node affinity";
const NOTHING_TO_BIND: &str = "node(s) didn't find available persistent volumes to bind";
const NO_ROOM: &str = "node(s) did not have enough free storage";
const NO_VOLUME: &str = "node(s) unavailable due to one or more pvc(s) bound to non-existent pv(s)";

/// How the claims of a pod fare on a node.
#[derive(Debug, Default)]
pub(crate) struct Fate {
    out_of_reach: bool,
    nothing_to_bind: bool,
    no_room: bool,
    no_volume: bool,
    /// What scores look at, by class: asked and there, of volumes that wait to be bound.
    pub(crate) waiting: BTreeMap<String, (i64, i64)>,
    /// The same of volumes that would be made.
    pub(crate) made: BTreeMap<String, (i64, i64)>,
}

impl Fate {
    fn good(&self) -> bool {
        !(self.out_of_reach || self.nothing_to_bind || self.no_room || self.no_volume)
    }
}

/// How the claims fare on a node.
pub(crate) fn fate(cycle: &Cycle<'_>, node: usize) -> Fate {
    let mut fate = Fate::default();
    for bound in &cycle.volumes.bound {
        match bound {
            Bound::Missing => {
                fate.no_volume = true;
                break;
            }
            Bound::Reached(Some(question)) if cycle.model.nodes.answers(*question).of(node) != 0 => {
                fate.out_of_reach = true;
                break;
            }
            Bound::Reached(_) => {}
        }
    }
    if !cycle.volumes.delayed.is_empty() {
        bind_later(cycle, node, &mut fate);
    }
    fate
}

fn bind_later(cycle: &Cycle<'_>, node: usize, fate: &mut Fate) {
    let answers = |question: usize| cycle.model.nodes.answers(question).of(node);
    let name = cycle.model.nodes.get(node).map(|node| node.name()).unwrap_or_default();
    let mut to_make: Vec<&Delayed> = Vec::new();
    let mut to_match: Vec<&Delayed> = Vec::new();
    for delayed in &cycle.volumes.delayed {
        match &delayed.claim.selected_node {
            // A volume is being made for this claim: on that node, or nowhere.
            Some(selected) if selected != name && !on(Mutant::SelectedNodeIgnored) => {
                fate.nothing_to_bind = true;
                return;
            }
            Some(_) => to_make.push(delayed),
            None => to_match.push(delayed),
        }
    }
    to_match.sort_by_key(|delayed| delayed.claim.request.unwrap_or_default());
    let mut taken: Vec<&str> = Vec::new();
    for delayed in to_match {
        let free = delayed.candidates.iter().filter(|(volume, _)| !taken.contains(&volume.meta.name.as_str()));
        // A volume that names the claim is the one, or there is none.
        let own = free.clone().find(|(volume, _)| volume.claim.is_some());
        let reached = |(_, reach): &&(_, Option<usize>)| reach.is_none_or(|question| answers(question) == 0);
        let found = match own {
            Some(own) => Some(own).filter(reached),
            None => free.filter(reached).min_by_key(|(volume, _)| volume.size),
        };
        match found {
            Some((volume, _)) => {
                taken.push(&volume.meta.name);
                let sum = fate.waiting.entry(delayed.class.meta.name.clone()).or_default();
                sum.0 += delayed.claim.request.unwrap_or_default();
                sum.1 += volume.size;
            }
            None => to_make.push(delayed),
        }
    }
    for delayed in to_make {
        let provisioner = &delayed.class.provisioner;
        if provisioner.is_empty() || provisioner == NO_PROVISIONER || answers(delayed.provisioned) != 0 {
            fate.nothing_to_bind = true;
            return;
        }
        let Some(room) = &delayed.room else { continue };
        let Some((amount, _)) = room.iter().find(|(_, no_access)| answers(*no_access) == 0) else {
            fate.no_room = true;
            return;
        };
        let sum = fate.made.entry(delayed.class.meta.name.clone()).or_default();
        sum.0 += delayed.claim.request.unwrap_or_default();
        sum.1 = *amount;
    }
}

pub(super) const FILTER: Filter = Filter {
    plugin: PLUGIN,
    active: |cycle| !(cycle.volumes.bound.is_empty() && cycle.volumes.delayed.is_empty()),
    passes: |cycle, node| {
        let volumes = &cycle.volumes;
        let reached = |bound: &Bound| match bound {
            Bound::Missing => false,
            Bound::Reached(question) => {
                question.is_none_or(|question| cycle.model.nodes.answers(question).of(node) == 0)
            }
        };
        volumes.bound.iter().all(reached) && (volumes.delayed.is_empty() || fate(cycle, node).good())
    },
    reasons: |cycle, node| {
        let fate = fate(cycle, node);
        let all = [
            (fate.out_of_reach, OUT_OF_REACH),
            (fate.nothing_to_bind, NOTHING_TO_BIND),
            (fate.no_room, NO_ROOM),
            (fate.no_volume, NO_VOLUME),
        ];
        all.iter().filter(|(holds, _)| *holds).map(|(_, reason)| (*reason).to_owned()).collect()
    },
    curable: incurable,
};

/// What the claims say before any node is looked at.
pub(super) fn block(cycle: &Cycle<'_>) -> Option<Rejection> {
    let reason = cycle.volumes.no_binding.clone()?;
    Some(Rejection { plugin: PLUGIN, reasons: vec![reason] })
}
