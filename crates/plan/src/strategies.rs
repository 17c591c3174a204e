//! How a unit can move. Every strategy bids for every unit; the least disruptive bid wins, and the others are kept with
//! their reasons. Adding one: a file here, a line in [`ALL`], a case.

mod budgets;
pub mod delete_with_consent;
pub mod eviction;
pub mod leave;
pub mod rolling_restart;

use rehome_model::plan::{Disruption, RejectedBid};

use crate::facts::Facts;
use crate::facts::units::MoveUnit;

/// A way to move a unit, and what it costs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Bid {
    /// What it costs.
    pub disruption: Disruption,
    /// How: what the steps are made from.
    pub way: Way,
    /// What happens besides.
    pub side_effects: Vec<String>,
}

/// How a unit moves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Way {
    /// By a rolling restart with surge.
    Restart,
    /// By evictions.
    Evict,
    /// By deletions past the budget or for good.
    Delete,
}

/// Why a strategy does not bid for a unit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NoBid {
    /// The reason, as the end of "no, because …".
    pub because: String,
}

impl NoBid {
    fn because(text: impl Into<String>) -> Self {
        Self { because: text.into() }
    }
}

/// A strategy.
pub struct Strategy {
    /// Its file name.
    pub name: &'static str,
    /// Its bid for a unit.
    pub bid: fn(&Facts<'_>, &MoveUnit) -> Result<Bid, NoBid>,
}

/// All strategies; on equal disruption the first wins.
pub const ALL: &[Strategy] = &[rolling_restart::STRATEGY, eviction::STRATEGY, delete_with_consent::STRATEGY];

/// The bid that won.
pub struct Won {
    /// The strategy's name.
    pub strategy: &'static str,
    /// Its bid.
    pub bid: Bid,
    /// The others.
    pub rejected: Vec<RejectedBid>,
}

/// The least disruptive bid for a unit, or why there is none.
///
/// # Errors
/// The reasons of all strategies.
pub fn best(facts: &Facts<'_>, unit: &MoveUnit) -> Result<Won, Vec<RejectedBid>> {
    let mut bids: Vec<(&'static str, Bid)> = Vec::new();
    let mut rejected = Vec::new();
    for strategy in ALL {
        match (strategy.bid)(facts, unit) {
            Ok(bid) => bids.push((strategy.name, bid)),
            Err(NoBid { because }) => rejected.push(RejectedBid { strategy: strategy.name.to_owned(), because }),
        }
    }
    let winner =
        bids.iter().enumerate().min_by(|(i, (_, a)), (j, (_, b))| a.disruption.cmp(&b.disruption).then(i.cmp(j)));
    let Some(winner) = winner.map(|(index, _)| index) else { return Err(rejected) };
    let (strategy, bid) = bids.swap_remove(winner);
    for (name, other) in bids {
        rejected.push(RejectedBid { strategy: name.to_owned(), because: compare(&other.disruption, &bid.disruption) });
    }
    rejected.sort_by(|a, b| a.strategy.cmp(&b.strategy));
    Ok(Won { strategy, bid, rejected })
}

/// Why one disruption is worse than another: the first figure that differs.
fn compare(lost: &Disruption, won: &Disruption) -> String {
    let Disruption { forced, outages, needless_restarts, missing_at_worst } = lost;
    let differs = [
        (*forced, won.forced, "pods deleted past a budget or for good"),
        (*outages, won.outages, "workloads without a Ready pod for some time"),
        (*needless_restarts, won.needless_restarts, "pods restarted that need not move"),
        (*missing_at_worst, won.missing_at_worst, "replicas missing at the worst moment"),
    ];
    match differs.into_iter().find(|(lost, won, _)| lost != won) {
        Some((lost, won, what)) => format!("more disruptive: {lost} instead of {won} {what}"),
        None => "as disruptive, but changes more".to_owned(),
    }
}
