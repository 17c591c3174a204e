//! What happens, while it happens: a bar on a terminal, a line for each event otherwise. Standard error only.

use indicatif::{ProgressBar, ProgressStyle};
use rehome_engine::drive::Observer;
use rehome_kube::capture::Progress;
use rehome_model::journal::{Event, Record};

use super::journal;
use crate::ui::{self, Ui};

/// A bar that shows how far, of how much, and what.
fn bar(ui: &Ui, length: usize) -> Option<ProgressBar> {
    if !ui.can_draw() {
        return None;
    }
    let bar = ProgressBar::new(length as u64);
    if let Ok(style) = ProgressStyle::with_template("{bar:30} {pos}/{len}  {wide_msg}") {
        bar.set_style(style.progress_chars("━╸─"));
    }
    Some(bar)
}

/// Progress of a capture.
pub(crate) struct Capturing {
    bar: Option<ProgressBar>,
}

impl Capturing {
    pub(crate) fn new(ui: &Ui) -> Self {
        Self { bar: bar(ui, 1) }
    }

    /// Shows where it is.
    pub(crate) fn at(&mut self, progress: Progress) {
        if let Some(bar) = &self.bar {
            bar.set_length(progress.of as u64);
            bar.set_position(progress.done as u64);
            bar.set_message(format!("{} ({})", progress.kind.name(), progress.objects));
        }
    }

    /// Takes the bar away.
    pub(crate) fn done(&self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }
}

/// Progress of a run.
pub(crate) struct Running<'a> {
    ui: &'a Ui,
    bar: Option<ProgressBar>,
}

impl<'a> Running<'a> {
    pub(crate) fn new(ui: &'a Ui, steps: usize) -> Self {
        Self { ui, bar: bar(ui, steps) }
    }

    /// Takes the bar away.
    pub(crate) fn done(&self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }

    /// Says something from another thread, above the bar.
    pub(crate) fn speaker(&self) -> impl Fn(&str) + Clone + Send + 'static {
        let (bar, quiet) = (self.bar.clone(), self.ui.quiet());
        move |text| match &bar {
            _ if quiet => {}
            Some(bar) => bar.suspend(|| ui::line(text)),
            None => ui::line(text),
        }
    }

    fn line(&self, text: &str) {
        match &self.bar {
            Some(bar) => bar.suspend(|| self.ui.say(text)),
            None => self.ui.say(text),
        }
    }
}

impl Observer for Running<'_> {
    fn recorded(&mut self, record: &Record) {
        if let Some(bar) = &self.bar {
            match &record.event {
                Event::StepDone { .. } | Event::StepAlreadyDone { .. } => bar.inc(1),
                Event::StepStarted { step, .. } => bar.set_message(step.clone()),
                _ => {}
            }
        }
        if let Some(text) = journal::line(record, self.ui.wide()) {
            self.line(&text);
        }
    }

    fn waiting(&mut self, step: &str, reason: &str) {
        match &self.bar {
            Some(bar) => bar.set_message(format!("{step}: {reason}")),
            None => self.ui.say(&format!("  waits: {reason}")),
        }
    }
}
