//! A plan: wave by wave, each action with its reason, then what stays, what was found, and the count.

use std::collections::BTreeSet;

use rehome_model::condition::Condition;
use rehome_model::finding::Severity;
use rehome_model::plan::{Plan, Step, Undo, Wave};
use rehome_model::time::Seconds;
use rehome_model::verb::{Change, Field, Lineage, Successor, Verb};

use super::table::Table;
use super::{count, findings};
use crate::ui::{BAD, BOLD, CARE, DIM, GOOD, paint};

/// The plan. Steps that differ only in the node are shown as one unless `wide`.
pub(crate) fn text(plan: &Plan, wide: bool) -> String {
    let mut text = format!("Plan for cluster {}\n\n", paint(BOLD, super::cluster(&plan.cluster)));
    text.push_str(&format!("  from   {}\n", super::names(&plan.sources, wide)));
    text.push_str(&format!("  to     {}\n", super::names(&plan.targets, wide)));
    if !plan.bystanders.is_empty() {
        text.push_str(&format!(
            "  fenced {} (neither source nor target; given back at the end)\n",
            super::names(&plan.bystanders, wide)
        ));
    }
    let mut said = BTreeSet::new();
    for wave in &plan.waves {
        text.push_str(&format!("\n{}  {}\n", paint(BOLD, &wave.name), paint(BOLD, &wave.title)));
        for group in groups(wave, wide) {
            text.push_str(&steps(plan, &group, wide, &mut said));
        }
    }
    text.push_str(&stays(plan));
    text.push_str(&pending(plan));
    if !plan.findings.is_empty() {
        text.push_str(&format!("\n{}\n", paint(BOLD, "Findings")));
        text.push_str(&if wide { findings::text(&plan.findings, true) } else { findings::short(&plan.findings) });
    }
    text.push_str(&format!("\n{}\n", summary(plan)));
    text
}

/// The last line: what the plan amounts to.
pub(crate) fn summary(plan: &Plan) -> String {
    format!("Plan: {}", figures(plan).join(", "))
}

/// The same in lines that fit beside a name of ten letters on the narrowest terminal.
pub(crate) fn in_lines(plan: &Plan) -> Vec<String> {
    /// What is left of 80 columns.
    const WIDTH: usize = 70;
    let mut lines: Vec<String> = Vec::new();
    for figure in figures(plan) {
        match lines.last_mut() {
            Some(line) if line.chars().count() + ", ".len() + figure.chars().count() <= WIDTH => {
                line.push_str(", ");
                line.push_str(&figure);
            }
            _ => lines.push(figure),
        }
    }
    lines
}

fn figures(plan: &Plan) -> Vec<String> {
    let pods: usize = plan.steps().flat_map(|step| lineages(&step.verb)).map(|lineage| lineage.pods).sum();
    let mut parts = vec![
        count(plan.waves.len(), "wave"),
        count(plan.steps().count(), "step"),
        format!("{} move", count(pods, "pod")),
        format!("{} emptied", count(plan.sources.len(), "node")),
    ];
    let restarts: usize = plan.moves.iter().map(|planned| planned.disruption.needless_restarts).sum();
    if restarts > 0 {
        parts.push(format!("{} that need not", count(restarts, "restart")));
    }
    let outages: usize = plan.moves.iter().map(|planned| planned.disruption.outages).sum();
    if outages > 0 {
        parts.push(format!("{} without a Ready pod for a while", count(outages, "workload")));
    }
    let blockers = plan.blockers().count();
    let unknown = plan.findings.iter().filter(|finding| finding.severity == Severity::Unknown).count();
    if unknown > 0 {
        parts.push(format!("{unknown} unknown"));
    }
    if blockers > 0 {
        parts.push(paint(BAD, format!("{blockers} blocking")));
    }
    parts
}

/// Consecutive steps that say the same of different nodes.
fn groups(wave: &Wave, wide: bool) -> Vec<Vec<&Step>> {
    let mut groups: Vec<Vec<&Step>> = Vec::new();
    for step in &wave.steps {
        match groups.last_mut() {
            Some(group) if !wide && group.first().is_some_and(|first| alike(first, step)) => group.push(step),
            _ => groups.push(vec![step]),
        }
    }
    groups
}

fn alike(a: &Step, b: &Step) -> bool {
    let verbs = match (&a.verb, &b.verb) {
        (Verb::Change(a), Verb::Change(b)) => (&a.field, &a.from, &a.to) == (&b.field, &b.from, &b.to),
        (Verb::ProveEmpty(_), Verb::ProveEmpty(_)) => true,
        _ => false,
    };
    verbs && (a.because == b.because || without_node(a) == without_node(b))
}

/// The reason less the name of the node that it is about.
fn without_node(step: &Step) -> String {
    match &step.verb {
        Verb::Change(change) => step.because.replace(&change.target.name, ""),
        Verb::ProveEmpty(prove) => step.because.replace(&prove.node, ""),
        _ => step.because.clone(),
    }
}

/// `said` holds what was said already of steps that are alike in every wave: it is not said again unless `wide`.
fn steps(plan: &Plan, group: &[&Step], wide: bool, said: &mut BTreeSet<String>) -> String {
    let Some(first) = group.first() else { return String::new() };
    let mark = match &first.verb {
        Verb::Change(_) => paint(CARE, "~"),
        Verb::Restart(_) | Verb::Evict(_) => paint(GOOD, "→"),
        Verb::Delete(_) => paint(BAD, "!"),
        Verb::Wait(_) | Verb::ProveEmpty(_) => paint(DIM, "?"),
    };
    let mut text = format!("  {mark} {:<8}{}\n", first.verb.word(), what(group));
    let reason = because(group);
    let moves = !lineages(&first.verb).is_empty();
    if moves || wide || said.insert(reason.clone()) {
        text.push_str(&format!("      {} {reason}\n", paint(DIM, "because")));
    }
    for effect in &first.side_effects {
        if wide || said.insert(effect.clone()) {
            text.push_str(&format!("      {} {effect}\n", paint(DIM, "and")));
        }
    }
    if let Undo::LeftInPlace { why } = &first.undo
        && (wide || (matches!(first.verb, Verb::Delete(_)) && said.insert(why.clone())))
    {
        text.push_str(&format!("      {} {why}\n", paint(DIM, "no undo:")));
    }
    if wide {
        text.push_str(&format!("      {} {}, at most {}\n", paint(DIM, "step"), first.name, first.deadline));
        for (step, reason) in &first.after {
            text.push_str(&format!("      {} {step}: {reason}\n", paint(DIM, "after")));
        }
        for condition in &first.requires {
            text.push_str(&format!("      {} {condition}\n", paint(DIM, "requires")));
        }
        for planned in plan.moves.iter().filter(|planned| planned.step == first.name) {
            for bid in &planned.rejected {
                text.push_str(&format!("      {} {}: {}\n", paint(DIM, "not by"), bid.strategy, bid.because));
            }
        }
    }
    text
}

fn because(group: &[&Step]) -> String {
    match group {
        [only] => only.because.clone(),
        [first, ..] if group.iter().all(|step| step.because == first.because) => first.because.clone(),
        [first, ..] => {
            let name = match &first.verb {
                Verb::Change(change) => change.target.name.clone(),
                Verb::ProveEmpty(prove) => prove.node.clone(),
                _ => String::new(),
            };
            first.because.replace(&name, "each")
        }
        [] => String::new(),
    }
}

fn what(group: &[&Step]) -> String {
    let Some(first) = group.first() else { return String::new() };
    match &first.verb {
        Verb::Change(Change { target, field, to, .. }) => {
            let names: Vec<String> = group.iter().filter_map(|step| target_of(step)).collect();
            let value = match (field, to) {
                (Field::Unschedulable, Some(_)) => "cordon".to_owned(),
                (Field::Unschedulable, None) => "uncordon".to_owned(),
                (Field::NoScheduleTaint { key }, Some(_)) => format!("add taint {key}:NoSchedule to"),
                (Field::NoScheduleTaint { key }, None) => format!("remove taint {key}:NoSchedule from"),
                (field, Some(to)) => format!("set {field} to {to:?} on"),
                (field, None) => format!("remove {field} from"),
            };
            let kind =
                if names.len() == 1 { target.kind.clone() } else { count(names.len(), &target.kind.to_lowercase()) };
            format!("{value} {kind} {}", super::names(&names, false))
        }
        Verb::Restart(restart) => {
            let mut text = format!("{} with surge, {}", restart.lineage.workload, count(restart.lineage.pods, "pod"));
            if restart.restarted_elsewhere > 0 {
                text.push_str(&format!(" and {} that stand elsewhere", restart.restarted_elsewhere));
            }
            text
        }
        Verb::Evict(evict) => {
            let parts: Vec<String> = evict
                .lineages
                .iter()
                .map(|lineage| format!("{}, {}", lineage.workload, count(lineage.pods, "pod")))
                .collect();
            parts.join("; together with ")
        }
        Verb::Delete(delete) => {
            let again = match delete.successor {
                Successor::Awaited => "",
                Successor::None => ", for good",
            };
            format!("{}, {}{again}", delete.lineage.workload, count(delete.lineage.pods, "pod"))
        }
        Verb::Wait(wait) => {
            let until = match &wait.until {
                Condition::All { of } if of.len() > 2 => format!("{} and {} more", of[0], of.len() - 1),
                until => until.to_string(),
            };
            let stable =
                if wait.stable_for == Seconds::ZERO { String::new() } else { format!(", for {}", wait.stable_for) };
            format!("until {until}{stable}")
        }
        Verb::ProveEmpty(_) => {
            let names: Vec<String> = group.iter().filter_map(|step| target_of(step)).collect();
            let kind = if names.len() == 1 { "Node".to_owned() } else { count(names.len(), "node") };
            format!("{kind} {} empty by two fresh lists", super::names(&names, false))
        }
    }
}

fn target_of(step: &Step) -> Option<String> {
    match &step.verb {
        Verb::Change(change) => Some(change.target.name.clone()),
        Verb::ProveEmpty(prove) => Some(prove.node.clone()),
        _ => None,
    }
}

/// The pods that a verb moves.
pub(crate) fn lineages(verb: &Verb) -> Vec<&Lineage> {
    match verb {
        Verb::Evict(evict) => evict.lineages.iter().collect(),
        Verb::Restart(restart) => vec![&restart.lineage],
        Verb::Delete(delete) => vec![&delete.lineage],
        Verb::Change(_) | Verb::Wait(_) | Verb::ProveEmpty(_) => Vec::new(),
    }
}

fn stays(plan: &Plan) -> String {
    if plan.stays.is_empty() {
        return String::new();
    }
    let mut table = Table::new(["STAYS", "PODS", "BECAUSE"]);
    for stay in &plan.stays {
        table.row([stay.subject.to_string(), stay.pods.to_string(), stay.because.clone()]);
    }
    format!("\n{}", table.render(""))
}

fn pending(plan: &Plan) -> String {
    if plan.pending.is_empty() {
        return String::new();
    }
    let mut table = Table::new(["PENDING BEFORE AND AFTER", "WHY"]);
    for pending in &plan.pending {
        let why: Vec<String> = pending.reasons.iter().map(|(reason, nodes)| format!("{nodes} {reason}")).collect();
        table.row([pending.pod.path(), why.join(", ")]);
    }
    format!("\n{}", table.render(""))
}
