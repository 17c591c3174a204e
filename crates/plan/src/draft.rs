//! A plan in the making: facts, the bids that won, where successors go, and the steps. Rules look at all of it.

use std::sync::Arc;

use rehome_k8s::View;
use rehome_k8s::owner::Owner;
use rehome_k8s::pod::{Phase, Pod};
use rehome_model::Digest;
use rehome_model::intent::Intent;
use rehome_model::plan::{Disruption, PendingPod, RejectedBid, Wave};

use crate::facts::Facts;
use crate::facts::placement::Placements;
use crate::facts::selection::SelectionError;
use crate::facts::units::MoveUnit;
use crate::strategies::{self, Bid};
use crate::{order, waves};

/// A plan in the making.
pub struct Draft<'v> {
    /// Facts.
    pub facts: Facts<'v>,
    /// How each unit moves, in the order in which they move.
    pub decisions: Vec<Decision>,
    /// Units that no strategy bids for, with all reasons.
    pub unmovable: Vec<(MoveUnit, Vec<RejectedBid>)>,
    /// Where successors go.
    pub placements: Placements,
    /// Pods that are Pending now and will be afterwards.
    pub pending: Vec<PendingPod>,
    /// The steps.
    pub waves: Vec<Wave>,
}

/// How one unit moves.
pub struct Decision {
    /// The unit.
    pub unit: MoveUnit,
    /// The strategy that won.
    pub strategy: &'static str,
    /// What it costs.
    pub disruption: Disruption,
    /// Its bid.
    pub bid: Bid,
    /// The bids that lost.
    pub rejected: Vec<RejectedBid>,
    /// The one target on which workloads that share a volume meet; none for one workload, or where no target has room.
    pub meets_on: Option<String>,
    /// The step that moves it; set once the waves are made.
    pub step: String,
}

impl<'v> Draft<'v> {
    /// Decides everything that a plan holds.
    ///
    /// # Errors
    /// The wish names nodes that cannot be told.
    pub fn new(view: &'v View, intent: &'v Intent, snapshot: &Digest) -> Result<Self, SelectionError> {
        let facts = Facts::new(view, intent)?;
        let (mut decisions, mut unmovable) = (Vec::new(), Vec::new());
        for unit in &facts.units {
            match strategies::best(&facts, unit) {
                Ok(won) => decisions.push(Decision {
                    unit: unit.clone(),
                    strategy: won.strategy,
                    disruption: won.bid.disruption.clone(),
                    bid: won.bid,
                    rejected: won.rejected,
                    meets_on: None,
                    step: String::new(),
                }),
                Err(reasons) => unmovable.push((unit.clone(), reasons)),
            }
        }
        let batches = order::batches(&facts, &decisions);
        let mut placements = Placements::new(facts.emptied.fork());
        placements.reserve(waiting_agents(view));
        for index in batches.iter().flat_map(|batch| &batch.decisions) {
            let decision = &mut decisions[*index];
            // Nobody creates a bare pod again.
            let coming = decision.unit.lineages.iter().filter(|lineage| lineage.owner != Owner::None);
            let successors: Vec<Pod> = coming.flat_map(|lineage| lineage.successors(facts.view)).collect();
            if decision.unit.lineages.len() > 1 {
                decision.meets_on = placements.place_together(successors);
            } else {
                placements.place(successors);
            }
        }
        let waves = waves::build(&facts, &mut decisions, &batches, snapshot);
        let pending = pending(&facts, &placements);
        Ok(Self { facts, decisions, unmovable, placements, pending, waves })
    }
}

/// Pods of DaemonSets that wait for room on their nodes: they are there before anything moves, and push out what is not.
fn waiting_agents(view: &View) -> Vec<Pod> {
    let of_daemon_set = |pod: &&Arc<Pod>| pod.meta.controller.as_ref().is_some_and(|owner| owner.kind == "DaemonSet");
    let waits = |pod: &&Arc<Pod>| pod.node.is_none() && !pod.finished() && pod.meta.deleting.is_none();
    view.pods().filter(waits).filter(of_daemon_set).map(|pod| Pod::clone(pod)).collect()
}

/// Pods that nobody has placed, and that nobody will place at the end either.
fn pending(facts: &Facts<'_>, placements: &Placements) -> Vec<PendingPod> {
    let waiting = facts.view.pods().filter(|pod| {
        pod.node.is_none() && pod.phase == Phase::Pending && pod.meta.deleting.is_none() && pod.spec.gates.is_empty()
    });
    waiting
        .filter_map(|pod| {
            let reasons = placements.cluster.nowhere(pod)?;
            Some(PendingPod { pod: pod.meta.key().reference(rehome_k8s::Kind::Pod), reasons })
        })
        .collect()
}
