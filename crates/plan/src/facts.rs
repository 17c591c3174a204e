//! What can be said of a cluster before anything is decided: which nodes, which units, what stays, what fits where.

pub mod placement;
pub mod selection;
pub mod units;

use std::cell::OnceCell;
use std::collections::BTreeSet;

use rehome_k8s::View;
use rehome_model::fidelity::Fidelity;
use rehome_model::intent::Intent;
use rehome_model::plan::Stay;

use crate::facts::placement::Cluster;
use crate::facts::selection::SelectionError;
use crate::facts::units::MoveUnit;

/// Facts derived once from a view and an intent.
pub struct Facts<'v> {
    /// The view.
    pub view: &'v View,
    /// The wish.
    pub intent: &'v Intent,
    /// Nodes to empty.
    pub sources: BTreeSet<String>,
    /// Nodes to fill.
    pub targets: BTreeSet<String>,
    /// Nodes that are neither, but that a moving pod could land on.
    pub bystanders: BTreeSet<String>,
    /// What moves, by workload.
    pub units: Vec<MoveUnit>,
    /// What stays on source nodes.
    pub stays: Vec<Stay>,
    /// The cluster during the move: sources and bystanders are fenced.
    pub fenced: Cluster,
    /// The cluster at the end: sources are fenced, cordoned, and hold only what stays; successors are not placed yet.
    pub emptied: Cluster,
    /// The cluster as it is.
    pub now: Cluster,
    fidelity: OnceCell<Fidelity>,
}

impl<'v> Facts<'v> {
    /// Derives all facts.
    ///
    /// # Errors
    /// The wish names nodes that cannot be told.
    pub fn new(view: &'v View, intent: &'v Intent) -> Result<Self, SelectionError> {
        let (sources, targets) = selection::nodes(view, intent)?;
        let (units, stays) = units::of(view, &sources);
        let now = Cluster::new(view, &targets);
        let bystanders = placement::bystanders(view, &now, &sources, &targets, &units);
        let fenced = Cluster::new(&placement::fenced(view, &sources, &bystanders), &targets);
        let emptied = Cluster::new(&placement::emptied(view, &sources, &units), &targets);
        Ok(Self {
            view,
            intent,
            sources,
            targets,
            bystanders,
            units,
            stays,
            fenced,
            emptied,
            now,
            fidelity: OnceCell::new(),
        })
    }

    /// How well the model explains the cluster as it is.
    pub fn fidelity(&self) -> &Fidelity {
        self.fidelity.get_or_init(|| self.now.fidelity(self.view))
    }
}
