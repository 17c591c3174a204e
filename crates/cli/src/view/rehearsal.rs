//! A rehearsal: how each run ended, and what users would have noticed.

use std::collections::BTreeMap;

use rehome_model::rehearsal::{Rehearsal, RehearsedEnd};
use rehome_model::time::Seconds;

use super::count;
use super::table::Table;
use crate::ui::{BAD, GOOD, paint};

/// Runs, outages (the longest over all runs), what stays Pending, and the count.
pub(crate) fn text(rehearsal: &Rehearsal, wide: bool) -> String {
    let mut text = String::new();
    let runs = rehearsal.runs.len();
    let done = rehearsal.runs.iter().filter(|run| run.end == RehearsedEnd::Done).count();
    if wide || runs <= 5 {
        let mut table = Table::new(["RUN", "END", "TOOK", "PODS PLACED"]);
        for run in &rehearsal.runs {
            let end = match &run.end {
                RehearsedEnd::Done => "done".to_owned(),
                RehearsedEnd::Stuck { step, .. } => format!("stuck at {step}"),
            };
            table.row([run.seed.to_string(), end, run.took.to_string(), run.placements.len().to_string()]);
        }
        text.push_str(&table.render(""));
    }
    let mut stuck: BTreeMap<(&str, &str), usize> = BTreeMap::new();
    for run in &rehearsal.runs {
        if let RehearsedEnd::Stuck { step, cause } = &run.end {
            *stuck.entry((step, cause)).or_default() += 1;
        }
    }
    for ((step, cause), times) in stuck {
        text.push_str(&paint(BAD, format!("\n✗ stuck at {step} in {times} of {}\n", count(runs, "run"))));
        text.push_str(&format!("    because {cause}\n"));
    }
    let mut without: BTreeMap<&str, Seconds> = BTreeMap::new();
    for (workload, time) in rehearsal.runs.iter().flat_map(|run| &run.without_ready) {
        let longest = without.entry(workload).or_default();
        *longest = (*longest).max(*time);
    }
    if without.is_empty() {
        text.push_str("\nEvery workload has a Ready pod all the time.\n");
    } else {
        let mut rows: Vec<_> = without.into_iter().collect();
        rows.sort_by(|a, b| b.1.cmp(&a.1).then(a.0.cmp(b.0)));
        let mut table = Table::new(["WITHOUT A READY POD", "FOR"]);
        for (workload, time) in rows {
            table.row([workload.to_owned(), time.to_string()]);
        }
        text.push_str(&format!("\n{}", table.render("")));
        text.push_str("All other workloads have a Ready pod all the time.\n");
    }
    if let Some(run) = rehearsal.runs.first().filter(|run| !run.pending.is_empty()) {
        let mut table = Table::new(["PENDING AT THE END", "WHY"]);
        for pending in &run.pending {
            let why: Vec<String> = pending.reasons.iter().map(|(reason, nodes)| format!("{nodes} {reason}")).collect();
            table.row([pending.pod.path(), why.join(", ")]);
        }
        text.push_str(&format!("\n{}", table.render("")));
    }
    let took = rehearsal.runs.iter().map(|run| run.took).max().unwrap_or_default();
    let mark = if done == runs { paint(GOOD, "✓") } else { paint(BAD, "✗") };
    text.push_str(&format!("\n{mark} Rehearsal: {done} of {} done, at most {took} long\n", count(runs, "run")));
    text
}
