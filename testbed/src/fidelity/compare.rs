//! What the oracle and the model say differently about one pod. It knows verdicts only, not clusters.

use std::collections::BTreeSet;
use std::fmt;

use super::coverage::general;
use super::verdict::{Cleared, NodeVerdict, PodVerdict, Preemptions, Rejection};

/// What is different. Two differences of one kind have most likely one cause.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Kind {
    /// Whether, by which plugin or why the pod is rejected outright.
    Blocked,
    /// One side knows a node that the other does not.
    Nodes,
    /// The plugin that rejects a node first, or its reasons.
    First(String),
    /// What this plugin says by itself.
    Alone(String),
    /// The score of this plugin.
    Score(String),
    /// The sum of the scores, though the scores are equal.
    Total,
    /// The text of the event.
    Message,
    /// Which nodes could be cleared, of whom, and which of them is taken.
    Preemption,
    /// One side failed.
    Failed,
}

/// One difference.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Difference {
    /// The pod, as `namespace/name`.
    pub pod: String,
    /// The node, if it is about one.
    pub node: Option<String>,
    /// What is different.
    pub kind: Kind,
    /// What kube-scheduler says.
    pub oracle: String,
    /// What the model says.
    pub model: String,
}

impl Difference {
    /// Whether both most likely have one cause: of one kind, and in the same words where they are not numbers.
    #[must_use]
    pub fn is_like(&self, other: &Self) -> bool {
        let words = |difference: &Self| match difference.kind {
            Kind::Score(_) | Kind::Total | Kind::Message | Kind::Nodes | Kind::Preemption => None,
            _ => Some((general(&difference.oracle), general(&difference.model))),
        };
        self.kind == other.kind && words(self) == words(other)
    }
}

/// How kube-scheduler's framework begins the text of a plugin that failed instead of judging.
/// Source: `pkg/scheduler/framework/runtime/framework.go`, `RunFilterPlugins` and `RunPreFilterPlugins`.
const FAILED: &str = "running ";

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let node = self.node.as_deref().unwrap_or("-");
        write!(f, "{} on {node}: {:?}: kube-scheduler {}, model {}", self.pod, self.kind, self.oracle, self.model)
    }
}

/// All differences between two answers about one pod. A pod over which kube-scheduler failed is not compared.
#[must_use]
pub fn pod(oracle: &PodVerdict, model: &PodVerdict) -> Vec<Difference> {
    if !oracle.error.is_empty() {
        return vec![];
    }
    let mut found = Differences { pod: &oracle.pod, list: vec![] };
    if !model.error.is_empty() {
        found.add(None, Kind::Failed, "an answer", &model.error);
        return found.list;
    }
    if oracle.blocked != model.blocked {
        found.add(None, Kind::Blocked, &rejection(oracle.blocked.as_ref()), &rejection(model.blocked.as_ref()));
    }
    // A pod that is rejected outright is not looked at node by node.
    let blocked = oracle.blocked.is_some() && model.blocked.is_some();
    let names = |verdict: &PodVerdict| verdict.nodes.iter().map(|node| node.node.clone()).collect::<Vec<_>>();
    if names(oracle) == names(model) {
        for (oracle, model) in oracle.nodes.iter().zip(&model.nodes) {
            found.node(oracle, model, blocked);
        }
    } else {
        found.add(None, Kind::Nodes, &names(oracle).join(" "), &names(model).join(" "));
    }
    if oracle.message != model.message {
        let text = |message: &Option<String>| message.clone().unwrap_or_else(|| "nothing".to_owned());
        found.add(None, Kind::Message, &text(&oracle.message), &text(&model.message));
    }
    found.preemptions(oracle.preemption.as_ref(), model.preemption.as_ref());
    found.list
}

struct Differences<'v> {
    pod: &'v str,
    list: Vec<Difference>,
}

impl Differences<'_> {
    fn add(&mut self, node: Option<&str>, kind: Kind, oracle: &str, model: &str) {
        self.list.push(Difference {
            pod: self.pod.to_owned(),
            node: node.map(str::to_owned),
            kind,
            oracle: oracle.to_owned(),
            model: model.to_owned(),
        });
    }

    fn preemptions(&mut self, oracle: Option<&Preemptions>, model: Option<&Preemptions>) {
        let none = Preemptions::default();
        let (oracle, model) = (oracle.unwrap_or(&none), model.unwrap_or(&none));
        let nodes: BTreeSet<&String> = oracle.candidates.keys().chain(model.candidates.keys()).collect();
        let text = |cleared: Option<&Cleared>| cleared.map_or("would clear nothing".to_owned(), |c| format!("{c:?}"));
        for node in nodes {
            let (theirs, ours) = (oracle.candidates.get(node), model.candidates.get(node));
            if theirs != ours {
                self.add(Some(node), Kind::Preemption, &text(theirs), &text(ours));
            }
        }
        if oracle.ties != model.ties {
            let text = |nodes: &BTreeSet<String>| format!("takes one of {nodes:?}");
            self.add(None, Kind::Preemption, &text(&oracle.ties), &text(&model.ties));
        }
    }

    fn node(&mut self, oracle: &NodeVerdict, model: &NodeVerdict, blocked: bool) {
        let name = Some(oracle.node.as_str());
        if oracle.first != model.first && !blocked {
            let plugin = oracle.first.as_ref().or(model.first.as_ref()).map_or("", |r| r.plugin.as_str());
            let kind = Kind::First(plugin.to_owned());
            self.add(name, kind, &rejection(oracle.first.as_ref()), &rejection(model.first.as_ref()));
        }
        let plugins: BTreeSet<&String> = oracle.alone.keys().chain(model.alone.keys()).collect();
        for plugin in plugins {
            let (theirs, ours) = (oracle.alone.get(plugin), model.alone.get(plugin));
            let failed = theirs.is_some_and(|reasons| reasons.iter().any(|reason| reason.starts_with(FAILED)));
            if theirs != ours && !failed {
                self.add(name, Kind::Alone(plugin.clone()), &reasons(theirs), &reasons(ours));
            }
        }
        let plugins: BTreeSet<&String> = oracle.scores.keys().chain(model.scores.keys()).collect();
        let mut scores_equal = true;
        for plugin in plugins {
            let (theirs, ours) = (oracle.score(plugin), model.score(plugin));
            if theirs != ours {
                scores_equal = false;
                self.add(name, Kind::Score(plugin.clone()), &theirs.to_string(), &ours.to_string());
            }
        }
        if scores_equal && oracle.total != model.total {
            self.add(name, Kind::Total, &oracle.total.to_string(), &model.total.to_string());
        }
    }
}

fn rejection(rejection: Option<&Rejection>) -> String {
    rejection.map_or_else(
        || "accepts".to_owned(),
        |rejection| format!("{} {}", rejection.plugin, reasons(Some(&rejection.reasons))),
    )
}

fn reasons(reasons: Option<&BTreeSet<String>>) -> String {
    reasons.map_or_else(|| "accepts".to_owned(), |reasons| format!("rejects {reasons:?}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn verdict(score: i64) -> PodVerdict {
        let scores = [("ImageLocality".to_owned(), score)].into();
        let node = NodeVerdict { node: "a".to_owned(), scores, total: score, ..NodeVerdict::default() };
        PodVerdict { pod: "x/p".to_owned(), nodes: vec![node], ..PodVerdict::default() }
    }

    #[test]
    fn a_score_that_is_missing_is_zero() {
        let mut model = verdict(0);
        model.nodes[0].scores.clear();
        assert_eq!(pod(&verdict(0), &model), []);
        let found = pod(&verdict(7), &model);
        assert_eq!(found[0].kind, Kind::Score("ImageLocality".to_owned()));
    }

    #[test]
    fn each_part_of_a_verdict_is_compared() {
        let (oracle, mut model) = (verdict(1), verdict(1));
        let no = Rejection { plugin: "NodePorts".to_owned(), reasons: ["taken".to_owned()].into() };
        model.blocked = Some(no.clone());
        model.nodes[0].first = Some(no.clone());
        model.nodes[0].alone.insert(no.plugin.clone(), no.reasons.clone());
        model.nodes[0].total = 2;
        model.message = Some("0/1".to_owned());
        model.preemption = Some(Preemptions { ties: ["a".to_owned()].into(), ..Preemptions::default() });
        let kinds: Vec<Kind> = pod(&oracle, &model).into_iter().map(|difference| difference.kind).collect();
        let ports = || "NodePorts".to_owned();
        let expected = [Kind::Blocked, Kind::First(ports()), Kind::Alone(ports()), Kind::Total, Kind::Message];
        assert_eq!(kinds, expected.into_iter().chain([Kind::Preemption]).collect::<Vec<_>>());
    }

    #[test]
    fn where_kube_scheduler_failed_there_is_nothing_to_compare() {
        let mut oracle = verdict(1);
        oracle.error = "boom".to_owned();
        assert_eq!(pod(&oracle, &verdict(2)), []);
        assert_eq!(pod(&verdict(2), &oracle)[0].kind, Kind::Failed);
    }
}
