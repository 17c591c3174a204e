//! How well the scheduler's model explains a cluster: one line where all is well, and then what is not.

use std::collections::{BTreeMap, BTreeSet};

use rehome_model::ObjectRef;
use rehome_model::fidelity::{Cause, Exception, Fidelity, Outcome};

use super::count;
use crate::ui::{BAD, BOLD, CARE, DIM, GOOD, paint};

/// How many pods of a kind are named where nobody asked for all.
const NAMED: usize = 2;

/// All of it; every pod only when `wide`.
pub(crate) fn text(fidelity: &Fidelity, wide: bool) -> String {
    let mut text = format!("{}\n", head(fidelity));
    let mut causes: BTreeMap<Cause, Vec<&Exception>> = BTreeMap::new();
    for exception in &fidelity.exceptions {
        causes.entry(exception.cause).or_default().push(exception);
    }
    for (cause, exceptions) in &causes {
        text.push_str(&format!("  {} {}\n", count(exceptions.len(), "pod"), cause.words()));
        let named = if wide { exceptions.len() } else { NAMED };
        for exception in exceptions.iter().take(named) {
            let Exception { pod, node, plugin, evidence, .. } = exception;
            text.push_str(&format!("    {}\n", paint(DIM, format!("{pod} on {node}: {plugin}: {evidence}"))));
        }
        if exceptions.len() > named {
            text.push_str(&format!("    {}\n", paint(DIM, format!("and {} more (-o wide)", exceptions.len() - named))));
        }
    }
    if !fidelity.waiting.is_empty() {
        text.push_str(&waiting(fidelity, wide));
    }
    let mut weaker: BTreeMap<&str, BTreeSet<String>> = BTreeMap::new();
    for weak in &fidelity.weaker {
        weaker.entry(&weak.because).or_default().insert(format!("{} {}", weak.code, weak.rule));
    }
    for (because, rules) in weaker {
        let rules: Vec<String> = rules.into_iter().collect();
        text.push_str(&format!("  {} {}: {because}\n", paint(CARE, "weaker:"), rules.join(", ")));
    }
    text
}

/// `model: kube-scheduler 1.36: 412 of 414 running pods explained; enforced facts hold`.
fn head(fidelity: &Fidelity) -> String {
    let judged = fidelity.running - fidelity.unjudged;
    let mut head = format!(
        "{} kube-scheduler {}: {} of {judged} running pods explained; ",
        paint(BOLD, "model:"),
        fidelity.minor,
        fidelity.explained
    );
    let broken: BTreeSet<&ObjectRef> = fidelity.violations.iter().map(|violation| &violation.subject).collect();
    if broken.is_empty() {
        head.push_str(&paint(GOOD, "enforced facts hold"));
    } else {
        head.push_str(&paint(BAD, format!("enforced facts are broken on {}", count(broken.len(), "object"))));
    }
    if fidelity.unjudged > 0 {
        head.push_str(&format!("; {} on nodes that are not known", count(fidelity.unjudged, "pod")));
    }
    head
}

fn waiting(fidelity: &Fidelity, wide: bool) -> String {
    let reproduced = fidelity.waiting.iter().filter(|waiting| waiting.outcome == Outcome::Reproduced).count();
    let all = count(fidelity.waiting.len(), "waiting pod");
    let mut text = format!("  {reproduced} of {all}: the scheduler's words are reproduced\n");
    for waiting in &fidelity.waiting {
        let line = match &waiting.outcome {
            Outcome::Different { model } => {
                format!("{} was told {:?}, the model says {model:?}", waiting.pod, waiting.said)
            }
            Outcome::NotComparable { why } if wide => format!("{}: not comparable: {why}", waiting.pod),
            _ => continue,
        };
        text.push_str(&format!("    {}\n", paint(DIM, line)));
    }
    text
}
