//! From a view of a cluster and a wish to a plan.
//!
//! Pure: no I/O, no clock, no randomness. The same view and intent give the same plan, byte for byte. The order of work
//! is that of the modules: [`facts`] are derived once; [`strategies`] bid for each unit and the least disruptive wins;
//! [`order`] puts the units in a row; [`waves`] makes steps of them; [`rules`] look at all of it and say what is
//! dangerous. [`sizing`] answers a question of its own: how many nodes of which flavor. [`fidelity`] says how far all
//! that can be trusted.

pub mod draft;
pub mod facts;
pub mod fidelity;
pub mod order;
pub mod rules;
pub mod sizing;
pub mod strategies;
pub mod waves;

use rehome_k8s::View;
use rehome_model::Digest;
use rehome_model::check::Check;
use rehome_model::document::Header;
use rehome_model::finding::Finding;
use rehome_model::intent::Intent;
use rehome_model::plan::{Plan, PlannedMove};

use crate::draft::Draft;
pub use crate::facts::selection::SelectionError;

/// Makes a plan. It can hold blocking findings: then it shows what would be done, but is not carried out.
///
/// # Errors
/// The wish names nodes that cannot be told.
pub fn plan(view: &View, snapshot: Digest, intent: &Intent) -> Result<Plan, SelectionError> {
    let draft = Draft::new(view, intent, &snapshot)?;
    let findings = rules::check(&draft);
    let facts = &draft.facts;
    let moves = draft.decisions.iter().map(|decision| PlannedMove {
        workloads: decision.unit.lineages.iter().map(|lineage| lineage.workload.clone()).collect(),
        step: decision.step.clone(),
        strategy: decision.strategy.to_owned(),
        disruption: decision.disruption.clone(),
        rejected: decision.rejected.clone(),
    });
    Ok(Plan {
        header: Header::of::<Plan>(),
        snapshot,
        intent: intent.clone(),
        cluster: view.cluster.clone(),
        sources: facts.sources.iter().cloned().collect(),
        targets: facts.targets.iter().cloned().collect(),
        bystanders: facts.bystanders.iter().cloned().collect(),
        moves: moves.collect(),
        stays: facts.stays.clone(),
        pending: draft.pending.clone(),
        waves: draft.waves.clone(),
        findings,
    })
}

/// What the rules find, and how far the model that they rest on explains the cluster.
///
/// # Errors
/// The wish names nodes that cannot be told.
pub fn examine(view: &View, intent: &Intent) -> Result<Check, SelectionError> {
    let draft = Draft::new(view, intent, &Digest::zero())?;
    let findings = rules::check(&draft);
    Ok(Check { header: Header::of::<Check>(), findings, fidelity: draft.facts.fidelity().clone() })
}

/// What the rules find, without the plan.
///
/// # Errors
/// The wish names nodes that cannot be told.
pub fn check(view: &View, intent: &Intent) -> Result<Vec<Finding>, SelectionError> {
    Ok(rules::check(&Draft::new(view, intent, &Digest::zero())?))
}

#[cfg(test)]
mod testing;
#[cfg(test)]
mod tests;
