//! What was really decided: for each plugin and reason the pairs in which it alone rejected, and those that it let pass
//! beside them.
//!
//! Equal verdicts prove nothing where a rule never mattered, so a run with thin coverage fails. It counts what the
//! oracle says, never the model.

mod expected;
mod preemption;

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use super::verdict::{NodeVerdict, PodVerdict};
pub use expected::{Expectation, LEAST, Proof};
use preemption::Decided;

/// Counts of one reason.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Count {
    /// Pairs in which the plugin alone rejected, for this reason alone.
    pub alone: usize,
    /// Pairs in which the plugin was the first to reject, for this reason among others.
    pub first: usize,
    /// Pairs that the plugin let pass beside one that it alone rejected: other nodes of the pod, or, where it rejects
    /// pods outright, nodes of other pods of the cluster.
    pub passed: usize,
}

/// The counts of a run, for one minor.
#[derive(Clone, Debug, Default)]
pub struct Coverage {
    /// By plugin and reason; the variable parts of a reason are left out.
    reasons: BTreeMap<(String, String), Count>,
    /// Pairs in which the plugin's score was not that of another node of the pod.
    scores: BTreeMap<String, usize>,
    /// What decided whom to push out.
    preemption: Decided,
    pods: usize,
    pairs: usize,
    failed: usize,
}

impl Coverage {
    /// Adds the oracle's answer about one cluster.
    pub fn add(&mut self, pods: &[PodVerdict]) {
        for pod in pods {
            self.pods += 1;
            self.pairs += pod.nodes.len();
            if !pod.error.is_empty() {
                self.failed += 1;
                continue;
            }
            for node in &pod.nodes {
                if let Some(first) = &node.first {
                    for reason in &first.reasons {
                        self.count(&first.plugin, reason).first += 1;
                    }
                }
            }
            for ((plugin, reason), rejected) in decided_alone(pod) {
                let beside: usize = if rejected == pod.nodes.len() {
                    pods.iter().map(|other| passed(other, plugin)).sum()
                } else {
                    passed(pod, plugin)
                };
                let count = self.count(plugin, reason);
                count.alone += rejected;
                count.passed += beside;
            }
            self.add_scores(&pod.nodes);
            self.preemption.add(pod);
        }
    }

    fn add_scores(&mut self, nodes: &[NodeVerdict]) {
        let plugins: BTreeSet<&String> = nodes.iter().flat_map(|node| node.scores.keys()).collect();
        for plugin in plugins {
            let scores: Vec<i64> =
                nodes.iter().filter(|node| node.first.is_none()).map(|node| node.score(plugin)).collect();
            let best = scores.iter().max().copied().unwrap_or_default();
            let behind = scores.iter().filter(|score| **score != best).count();
            *self.scores.entry(plugin.clone()).or_default() += behind;
        }
    }

    fn count(&mut self, plugin: &str, reason: &str) -> &mut Count {
        self.reasons.entry((plugin.to_owned(), general(reason))).or_default()
    }

    /// What is thin, one line each: what is expected by [`expected`] and was not decided often enough, and reasons that
    /// are not in that table.
    #[must_use]
    pub fn thin(&self, minor: u32) -> Vec<String> {
        let mut thin = vec![];
        for expectation in expected::REASONS.iter().filter(|e| e.minors.contains(&minor)) {
            let count = self.of(expectation.plugin, expectation.reason);
            let least = match expectation.proof {
                Proof::Alone => count.alone.min(count.passed),
                Proof::Together(_) => count.first,
                Proof::Never(_) => continue,
            };
            if least < LEAST {
                thin.push(format!("{} {:?}: {least} of {LEAST}", expectation.plugin, expectation.reason));
            }
        }
        for (plugin, reason) in self.reasons.keys() {
            if !is_expected(plugin, reason, minor) {
                thin.push(format!("{plugin} {reason:?}: came, but is not in the table of reasons"));
            }
        }
        for (plugin, minors) in expected::SCORES {
            let differed = self.scores.get(*plugin).copied().unwrap_or_default();
            if minors.contains(&minor) && differed < LEAST {
                thin.push(format!("score of {plugin}: {differed} of {LEAST}"));
            }
        }
        thin.extend(self.preemption.thin());
        thin
    }

    fn of(&self, plugin: &str, reason: &str) -> Count {
        self.reasons.get(&(plugin.to_owned(), reason.to_owned())).copied().unwrap_or_default()
    }

    /// The table, for people.
    #[must_use]
    pub fn table(&self, version: &str, minor: u32) -> String {
        let mut text = format!("{version}: {} pods, {} pairs, {} pods failed\n", self.pods, self.pairs, self.failed);
        let _ = writeln!(text, "{:>8} {:>8} {:>8}  PLUGIN AND REASON", "ALONE", "PASSED", "FIRST");
        for expectation in expected::REASONS.iter().filter(|e| e.minors.contains(&minor)) {
            let count = self.of(expectation.plugin, expectation.reason);
            let why = match expectation.proof {
                Proof::Alone => String::new(),
                Proof::Together(why) => format!("  (never alone: {why})"),
                Proof::Never(why) => format!("  (cannot come: {why})"),
            };
            let _ = writeln!(
                text,
                "{:>8} {:>8} {:>8}  {}: {}{why}",
                count.alone, count.passed, count.first, expectation.plugin, expectation.reason
            );
        }
        for ((plugin, reason), count) in &self.reasons {
            if !is_expected(plugin, reason, minor) {
                let _ = writeln!(
                    text,
                    "{:>8} {:>8} {:>8}  {plugin}: {reason}  (not in the table)",
                    count.alone, count.passed, count.first
                );
            }
        }
        let _ = writeln!(text, "{:>8}  SCORE", "DIFFERED");
        for (plugin, differed) in &self.scores {
            let _ = writeln!(text, "{differed:>8}  {plugin}");
        }
        text.push_str(&self.preemption.table());
        text
    }
}

fn is_expected(plugin: &str, reason: &str, minor: u32) -> bool {
    let same = |e: &&Expectation| e.plugin == plugin && e.reason == reason;
    expected::REASONS.iter().find(same).is_some_and(|e| e.minors.contains(&minor))
}

/// The plugins and reasons that decided alone about this pod, and on how many nodes.
fn decided_alone(pod: &PodVerdict) -> BTreeMap<(&str, &str), usize> {
    let mut found = BTreeMap::new();
    for node in &pod.nodes {
        if let (Some((plugin, reasons)), 1) = (node.alone.first_key_value(), node.alone.len())
            && let (Some(reason), 1) = (reasons.first(), reasons.len())
        {
            *found.entry((plugin.as_str(), reason.as_str())).or_default() += 1;
        }
    }
    found
}

fn passed(pod: &PodVerdict, plugin: &str) -> usize {
    if !pod.error.is_empty() {
        return 0;
    }
    pod.nodes.iter().filter(|node| !node.alone.contains_key(plugin)).count()
}

/// A reason without its variable parts: what stands in quotes or braces, and the names of claims after `PVC`.
pub(super) fn general(reason: &str) -> String {
    let mut text = String::new();
    let mut until = None;
    for letter in reason.chars() {
        match until {
            Some(end) if letter == end => {
                text.push(letter);
                until = None;
            }
            Some(_) => {}
            None => {
                text.push(letter);
                until = match letter {
                    '"' => Some('"'),
                    '{' => Some('}'),
                    _ => None,
                };
                if until.is_some() {
                    text.push('…');
                }
            }
        }
    }
    let mut words: Vec<&str> = vec![];
    for word in text.split(' ') {
        let named = words.last().is_some_and(|last| matches!(*last, "PVC" | "pod") && word.contains('/'));
        let driver = word.ends_with(".example.com") || word == "ebs.csi.aws.com";
        words.push(if named || driver { "…" } else { word });
    }
    words.join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn node(name: &str, alone: &[(&str, &[&str])]) -> NodeVerdict {
        let reasons = |list: &[&str]| list.iter().map(|reason| (*reason).to_owned()).collect();
        NodeVerdict {
            node: name.to_owned(),
            alone: alone.iter().map(|(plugin, list)| ((*plugin).to_owned(), reasons(list))).collect(),
            ..NodeVerdict::default()
        }
    }

    fn pod(nodes: Vec<NodeVerdict>) -> PodVerdict {
        PodVerdict { pod: "x/p".to_owned(), nodes, ..PodVerdict::default() }
    }

    #[test]
    fn only_a_sole_decider_counts() {
        let mut coverage = Coverage::default();
        coverage.add(&[pod(vec![
            node("a", &[("NodePorts", &["taken"])]),
            node("b", &[("NodePorts", &["taken"]), ("NodeName", &["other"])]),
            node("c", &[("NodeResourcesFit", &["Insufficient cpu", "Insufficient memory"])]),
            node("d", &[]),
        ])]);
        assert_eq!(coverage.of("NodePorts", "taken"), Count { alone: 1, first: 0, passed: 2 });
        assert_eq!(coverage.of("NodeResourcesFit", "Insufficient cpu"), Count::default());
    }

    #[test]
    fn a_pod_that_is_rejected_outright_is_held_against_others() {
        let mut coverage = Coverage::default();
        let blocked = pod(vec![node("a", &[("VolumeBinding", &["lost"])])]);
        coverage.add(&[blocked, pod(vec![node("a", &[])])]);
        assert_eq!(coverage.of("VolumeBinding", "lost"), Count { alone: 1, first: 0, passed: 1 });
    }

    #[test]
    fn variable_parts_are_left_out() {
        assert_eq!(general("claim \"x-1\" not found"), "claim \"…\" not found");
        assert_eq!(general("untolerated taint {a: b}"), "untolerated taint {…}");
        assert_eq!(
            general("PVC red/a was not created for pod red/b (pod is not owner)"),
            "PVC … was not created for pod … (pod is not owner)"
        );
    }

    #[test]
    fn what_is_missing_is_said() {
        let thin = Coverage::default().thin(37);
        assert!(thin.iter().any(|line| line.starts_with("NodePorts")));
        assert!(thin.iter().any(|line| line.starts_with("score of ImageLocality")));
    }
}
