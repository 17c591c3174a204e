//! In which order units move, and what must come before what.

mod canary;
mod least_loaded;
mod storage_controllers_first;

use crate::draft::Decision;
use crate::facts::Facts;

/// Units that move in one wave, and the node that the wave empties.
pub struct Batch {
    /// Why this wave is here.
    pub title: String,
    /// Indices of decisions.
    pub decisions: Vec<usize>,
    /// The node that is empty afterwards; none for the canary.
    pub empties: Option<String>,
}

/// The waves: a canary first, then storage controllers, then node by node.
#[must_use]
pub fn batches(facts: &Facts<'_>, decisions: &[Decision]) -> Vec<Batch> {
    let mut batches = Vec::new();
    let canary = canary::choose(decisions);
    if let Some(index) = canary {
        batches.push(Batch {
            title: format!("canary: {} proves the way before anything else moves", decisions[index].unit.title()),
            decisions: vec![index],
            empties: None,
        });
    }
    let storage = storage_controllers_first::choose(decisions, canary);
    if !storage.is_empty() {
        batches.push(Batch {
            title: "storage controllers: what attaches volumes moves before the volumes".to_owned(),
            decisions: storage.clone(),
            empties: None,
        });
    }
    let moved = canary.into_iter().chain(storage).collect();
    batches.extend(least_loaded::batches(facts, decisions, moved));
    batches
}
