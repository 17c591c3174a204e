//! The journal of a run, record by record: also the lines of progress while a run goes on.

use rehome_model::journal::{Event, Record};
use rehome_model::request::Outcome;

use crate::ui::{BAD, CARE, DIM, GOOD, paint};

/// One line for a record; none for records that a person does not miss.
pub(crate) fn line(record: &Record, wide: bool) -> Option<String> {
    let text = match &record.event {
        Event::RunStarted { run, .. } => format!("run {run} started"),
        Event::Resumed { torn_bytes: 0, .. } => "resumed".to_owned(),
        Event::Resumed { torn_bytes, .. } => {
            format!("resumed; an unfinished last record of {torn_bytes} bytes was cut off")
        }
        Event::StepStarted { step, leaving, .. } if leaving.is_empty() => paint(DIM, format!("… {step}")),
        Event::StepStarted { step, leaving, .. } => {
            paint(DIM, format!("… {step} ({} to move)", super::count(leaving.len(), "pod")))
        }
        Event::StepAlreadyDone { step } => format!("{} {step} (held already)", paint(GOOD, "✓")),
        Event::Intent { request, .. } if wide => format!("  {request}"),
        Event::Answer { outcome: Outcome::Rejected { cause }, .. } => format!("  {} {cause}", paint(CARE, "refused:")),
        Event::Answer { outcome: Outcome::Unknown { message, not_before }, .. } => {
            format!("  {} {message}; will read again after {not_before}", paint(CARE, "no answer:"))
        }
        Event::Answer { outcome: Outcome::Applied, .. } | Event::Intent { .. } => return None,
        Event::Reread { landed: true, .. } => "  the request without an answer had landed".to_owned(),
        Event::Reread { landed: false, .. } => "  the request without an answer had not landed".to_owned(),
        Event::Moved { receipt, .. } => match &receipt.successor {
            Some(successor) => {
                let ready = if successor.ready { "" } else { ", not Ready (as before)" };
                format!(
                    "  → {} from {} to {} as {}{ready}",
                    receipt.pod, receipt.from, successor.node, successor.pod.name
                )
            }
            None => format!("  → {} left {}; nobody creates it again", receipt.pod, receipt.from),
        },
        Event::StepDone { step } => format!("{} {step}", paint(GOOD, "✓")),
        Event::NodeEmpty { node, lists, .. } => {
            let stays = lists[1].stays.len();
            format!("  Node {node} is empty: two lists hold nothing but {} that stay", super::count(stays, "pod"))
        }
        Event::Drifted { subject, expected, found } => {
            format!("  {} {subject}: expected {expected}; found: {found}", paint(CARE, "drifted:"))
        }
        Event::DriftEnded { subject } => format!("  {} {subject} is as it should be again", paint(GOOD, "✓")),
        Event::Stuck { step, cause, .. } => format!("{} {step}: {cause}", paint(BAD, "✗ stuck at")),
        Event::Interrupted {} => paint(CARE, "interrupted"),
        Event::UndoStarted {} => "putting back what was changed".to_owned(),
        Event::Undone { step } => format!("{} put back: {step}", paint(GOOD, "✓")),
        Event::Left { step, why } => format!("{} left in place: {step}: {why}", paint(CARE, "=")),
        Event::Finished { verdict } => format!("finished: {verdict}"),
    };
    Some(text)
}

/// All records with their times.
pub(crate) fn text(records: &[Record], wide: bool) -> String {
    let lines = records.iter().filter_map(|record| Some(format!("{} {}\n", record.at, line(record, wide)?)));
    lines.collect()
}
