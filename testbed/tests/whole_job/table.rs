//! The figures of a run in one table.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use rehome_model::Timestamp;
use rehome_model::plan::Plan;
use rehome_model::time::Seconds;
use rehome_run::critical_path::CriticalPath;
use rehome_testbed::audit::{self, Timeline};

/// What a move cost.
pub(crate) struct Figures {
    /// Pods that had to leave.
    pub(crate) pods: usize,
    /// How often one of them, or its successor, was deleted.
    pub(crate) moves: usize,
    /// Pods on other nodes that a rollout restarted, too.
    pub(crate) elsewhere_restarted: usize,
    /// Rollouts that were restarted.
    pub(crate) restarts: usize,
    /// From the first write to the end.
    pub(crate) took: Seconds,
    /// The least that a run of these steps can take, where there is a plan.
    pub(crate) critical_path: Option<CriticalPath>,
    /// For how long each workload had no Ready endpoint.
    pub(crate) without: BTreeMap<String, Seconds>,
    /// Pods that were left on old nodes.
    pub(crate) left: usize,
    /// Nodes that must not be used, and were.
    pub(crate) elsewhere: usize,
}

impl Figures {
    /// What happened to the pods of the moved workloads between two times, by whomever.
    pub(crate) fn count(timeline: &Timeline, plan: &Plan, from: Timestamp, to: Timestamp) -> audit::Figures {
        let workloads = plan.moves.iter().flat_map(|planned| &planned.workloads);
        let counted = audit::figures(timeline, workloads, &plan.sources, from, to);
        audit::Figures::sum(counted.values())
    }

    fn downtime(&self) -> (usize, Seconds) {
        let down: Vec<Seconds> = self.without.values().copied().filter(|time| time.as_millis() > 0).collect();
        (down.len(), down.into_iter().sum())
    }

    /// One column for each run.
    pub(crate) fn table(runs: &[(&str, &Self)]) -> String {
        let mut text = String::new();
        let mut row = |name: &str, value: &dyn Fn(&Self) -> String| {
            let cells: String = runs.iter().map(|(_, figures)| format!("{:>18}", value(figures))).collect();
            // Writing to a String cannot fail.
            let _ = writeln!(text, "{name:<44}{cells}");
        };
        row("pods that had to leave", &|f| f.pods.to_string());
        row("moves", &|f| f.moves.to_string());
        row("moves per pod", &|f| ratio(f.moves, f.pods));
        row("pods restarted elsewhere", &|f| f.elsewhere_restarted.to_string());
        row("rollouts restarted", &|f| f.restarts.to_string());
        row("pods left on old nodes", &|f| f.left.to_string());
        row("nodes used that must not be", &|f| f.elsewhere.to_string());
        row("workloads without a Ready endpoint", &|f| f.downtime().0.to_string());
        row("… for how long, summed", &|f| f.downtime().1.to_string());
        row("took", &|f| f.took.to_string());
        row("critical path", &|f| f.critical_path.as_ref().map_or_else(String::new, |path| path.length.to_string()));
        row("took / critical path", &|f| {
            f.critical_path.as_ref().map_or_else(String::new, |path| share(f.took, path.length))
        });
        if let Some((_, last)) = runs.last() {
            row("took / kubectl drain", &|f| share(f.took, last.took));
        }
        let names: String = runs.iter().map(|(name, _)| format!("{name:>18}")).collect();
        format!("{:<44}{names}\n{text}", "")
    }
}

fn share(time: Seconds, of: Seconds) -> String {
    format!("{:.2}", f64::from(time) / f64::from(of).max(f64::EPSILON))
}

fn ratio(moves: usize, pods: usize) -> String {
    #[expect(clippy::cast_precision_loss, reason = "a few dozen pods")]
    let ratio = moves as f64 / pods.max(1) as f64;
    format!("{ratio:.2}")
}
