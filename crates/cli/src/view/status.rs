//! How far a run is.

use rehome_model::Timestamp;
use rehome_run::critical_path::CriticalPath;
use rehome_run::status::{Standing, Status};

use crate::ui::{BAD, BOLD, CARE, GOOD, paint};
use crate::view;

/// Where the run stands, the figures, and what is left in place.
pub(crate) fn text(status: &Status, now: Timestamp) -> String {
    let standing = match &status.standing {
        Standing::Open if status.held.as_ref().is_some_and(|held| held.released.is_none()) => paint(CARE, "at work"),
        Standing::Open => paint(CARE, "open: a process is at it, or was killed"),
        Standing::Interrupted => paint(CARE, "interrupted"),
        Standing::Stuck { step, .. } => paint(BAD, format!("stuck at {step}")),
        Standing::Undoing => paint(CARE, "putting back what was changed"),
        Standing::Finished(verdict) => paint(GOOD, format!("finished: {verdict}")),
    };
    let mut text = format!("Run {}   {standing}\n\n", paint(BOLD, &status.run));
    let mut row = |name: &str, value: String| text.push_str(&format!("  {name:<13}{value}\n"));
    row("began", status.began.to_string());
    row("last record", format!("{} ({} later)", status.last, status.last - status.began));
    if let Some(held) = &status.held {
        let sign = match &held.released {
            None => format!("last sign of life {} ago", now - held.renewed),
            Some(why) => format!("let go of it ({why})"),
        };
        row("held by", format!("{}, {sign}", held.by));
        if held.epoch > 1 {
            row("taken up", view::count(usize::try_from(held.epoch - 1).unwrap_or(usize::MAX), "time"));
        }
    }
    let of = status.steps.map_or_else(String::new, |steps| format!(" of {steps}"));
    row("steps", format!("{}{of} done", status.done));
    row("requests", format!("{}, {} refused", status.requests, status.refused));
    row("pods", format!("{} moved", status.moved));
    row("nodes", format!("{} proved empty", status.empty.len()));
    if let Some(path) = &status.critical_path {
        row("longest path", format!("{}: {}", path.length, slowest(path)));
    }
    if status.undone > 0 {
        row("put back", status.undone.to_string());
    }
    if let Some(drift) = &status.drift {
        row("drifted", drift.clone());
    }
    for step in &status.under_way {
        row("under way", step.clone());
    }
    if let Standing::Stuck { cause, instructions, .. } = &status.standing {
        text.push_str(&format!("\n  because {cause}\n"));
        for instruction in instructions {
            text.push_str(&format!("  {} {instruction}\n", paint(BOLD, "do:")));
        }
    }
    if !status.left.is_empty() {
        text.push_str("\nLeft in place:\n");
        text.extend(status.left.iter().map(|(step, why)| format!("  {step}: {why}\n")));
    }
    text
}

/// How many steps had to come one after the other, and which of them made the run long.
fn slowest(path: &CriticalPath) -> String {
    let slowest = path.steps.iter().max_by_key(|on| on.took);
    let steps = view::count(path.steps.len(), "step");
    slowest
        .map_or(steps.clone(), |on| format!("{steps} one after the other, the slowest is {} with {}", on.step, on.took))
}
