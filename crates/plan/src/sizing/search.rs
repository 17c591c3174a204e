//! The smallest number of new nodes that does, and what one fewer would break.
//!
//! A number does if everything is placed, and everything finds a place again after the loss of any one node (any one
//! zone, if asked). The scheduler decides pod by pod and the order in which pods come is chance, so a number counts only
//! if it does in each order that is tried. Zones are filled in turn; more nodes in one zone than in another are not tried.

use std::collections::{BTreeMap, BTreeSet};

use rehome_k8s::node::Resources;
use rehome_k8s::pod::Pod;
use rehome_k8s::{Key, Kind, requests};
use rehome_model::intent::Loss;
use rehome_model::sizing::{BindingRule, LowerBound, NodeBar, Nowhere, Trial, WorstLoss};
use rehome_sched::Unschedulable;

use super::demand::Wanted;
use super::room::Room;
use super::unborn::Unborn;

/// Above the lower bound, so many times and so many nodes more are tried before pods that still wait are said to fit
/// nowhere: anti-affinity needs a node for each pod at most, and that is part of the bound below.
const MARGIN: u32 = 8;
/// With more pods than this one order is tried, not all: the order matters least where single pods are small.
const MANY_PODS: usize = 2000;

/// An order in which pods come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Arrival {
    /// Priority, then workload by workload: as controllers make them.
    ByWorkload,
    /// The largest first: the order that packs best.
    LargestFirst,
    /// The smallest first: the one that leaves the least for the large ones.
    SmallestFirst,
}

const ARRIVALS: [Arrival; 3] = [Arrival::ByWorkload, Arrival::LargestFirst, Arrival::SmallestFirst];

/// What came of the search.
#[derive(Clone, Debug, Default)]
pub(super) struct Found {
    /// The smallest number of nodes that does without regard to the floor.
    pub needed: Option<u32>,
    /// The answer, with its nodes.
    pub answer: Option<Fit>,
    /// Numbers that do not do, from the smallest.
    pub tried: Vec<Trial>,
    /// Pods that fit nowhere.
    pub nowhere: Vec<Nowhere>,
    /// Pods that a lost zone takes with it, because their volumes are there.
    pub bound_to_zone: BTreeSet<Key>,
}

/// A number of nodes that does.
#[derive(Clone, Debug)]
pub(super) struct Fit {
    /// The number.
    pub nodes: u32,
    /// The nodes with everything placed.
    pub after: Vec<NodeBar>,
    /// The loss that leaves the least.
    pub worst: Option<WorstLoss>,
    bound_to_zone: BTreeSet<Key>,
}

/// What is searched for.
#[derive(Clone, Copy)]
pub(super) struct Search<'a> {
    /// The cluster without the nodes that go.
    pub base: &'a Room<'a>,
    /// What the new nodes are made of.
    pub unborn: &'a Unborn,
    /// The loss to survive.
    pub survives: Loss,
    /// The least number.
    pub floor: u32,
}

/// Pods that fit on no node of the flavor, were it empty but for its DaemonSets.
#[must_use]
pub(super) fn impossible<'w>(search: &Search<'_>, wanted: &'w [Wanted]) -> (Vec<&'w Wanted>, Vec<Nowhere>) {
    let mut room = search.base.clone();
    let names = room.add(search.unborn, 1..=search.unborn.zones.len());
    for name in &names {
        room.shrink_by_daemon_sets(name);
    }
    let (mut fit, mut nowhere) = (Vec::new(), Vec::new());
    for one in wanted {
        match room.impossible(&one.pod, &names) {
            None => fit.push(one),
            Some(reasons) => nowhere.push(no_place(one, reasons)),
        }
    }
    (fit, nowhere)
}

/// What no number of nodes goes below, by the division of what is asked for by what a node has after its DaemonSets.
#[must_use]
pub(super) fn lower_bound(wanted: &[&Wanted], usable: &Resources) -> LowerBound {
    let mut asked = Resources::new();
    for one in wanted {
        requests::add(&mut asked, &one.pod.spec.requests);
    }
    asked.insert("pods".to_owned(), i64::try_from(wanted.len()).unwrap_or(i64::MAX));
    let mut bound = LowerBound {
        nodes: u32::from(!wanted.is_empty()),
        by: "pods".to_owned(),
        because: "one pod needs one node".to_owned(),
    };
    // Memory before cpu where both give the same number: what is short of memory is killed.
    let mut names: Vec<&String> = asked.keys().collect();
    names.sort_by_key(|name| (*name != "memory", *name != "cpu", (*name).clone()));
    for name in names {
        let (asked, size) = (asked[name], usable.get(name).copied().unwrap_or(0));
        if asked <= 0 || size <= 0 {
            continue;
        }
        let nodes = u32::try_from((asked + size - 1) / size).unwrap_or(u32::MAX);
        if nodes > bound.nodes || (nodes == bound.nodes && bound.because.starts_with("one")) {
            let because = format!("{} ÷ {} of {name}", amount(name, asked), amount(name, size));
            bound = LowerBound { nodes, by: name.clone(), because };
        }
    }
    bound
}

/// The smallest number of nodes that does.
#[must_use]
pub(super) fn search(search: &Search<'_>, wanted: &[&Wanted], bound: u32) -> Found {
    let mut found = Found::default();
    let mut wanted: Vec<&Wanted> = wanted.to_vec();
    let most = bound.saturating_mul(2).saturating_add(MARGIN).max(search.floor);
    // Where not even many nodes help, more would not: those pods fit nowhere.
    if let Err(failure) = search.trial(most, &wanted, Loss::Nothing) {
        wanted.retain(|one| match failure.waiting.get(&one.pod.meta.key()) {
            Some(reasons) => {
                found.nowhere.push(no_place(one, reasons.clone()));
                false
            }
            None => true,
        });
    }
    let mut failed = bound.saturating_sub(1);
    let mut step = 1;
    let mut upper = None;
    // Doubling steps, then halving: the number just below the answer is always one that was tried.
    while upper.is_none() && failed < most {
        let nodes = failed.saturating_add(step).min(most);
        match search.trial(nodes, &wanted, search.survives) {
            Ok(fit) => upper = Some(fit),
            Err(failure) => {
                found.tried.push(failure.trial);
                failed = nodes;
                step *= 2;
            }
        }
    }
    while let Some(fit) = upper.as_ref().filter(|fit| fit.nodes > failed + 1) {
        let nodes = failed + (fit.nodes - failed) / 2;
        match search.trial(nodes, &wanted, search.survives) {
            Ok(fit) => upper = Some(fit),
            Err(failure) => {
                found.tried.push(failure.trial);
                failed = nodes;
            }
        }
    }
    found.tried.sort_by_key(|trial| trial.nodes);
    found.needed = upper.as_ref().map(|fit| fit.nodes);
    found.answer = match upper {
        // More nodes are not always better (spread over more domains): what the floor asks for is tried, too.
        Some(fit) if fit.nodes < search.floor => match search.trial(search.floor, &wanted, search.survives) {
            Ok(fit) => Some(fit),
            Err(failure) => {
                found.tried.push(failure.trial);
                None
            }
        },
        other => other,
    };
    if let Some(fit) = &found.answer {
        found.bound_to_zone.clone_from(&fit.bound_to_zone);
    }
    found
}

/// Why a number of nodes does not do.
struct Failure {
    trial: Trial,
    /// The pods that wait, with the scheduler's reasons.
    waiting: BTreeMap<Key, Vec<String>>,
}

impl Search<'_> {
    /// Whether this number of nodes does, in every order.
    fn trial(&self, nodes: u32, wanted: &[&Wanted], survives: Loss) -> Result<Fit, Box<Failure>> {
        let arrivals = if wanted.len() > MANY_PODS { &ARRIVALS[..1] } else { &ARRIVALS[..] };
        let mut first = None;
        let mut failed: Option<Box<Failure>> = None;
        for (seed, arrival) in (0_u64..).zip(arrivals) {
            match (self.one_order(nodes, &arranged(wanted, *arrival), survives, seed), &mut failed) {
                (Ok(fit), _) => {
                    first.get_or_insert(fit);
                }
                (Err(failure), None) => failed = Some(failure),
                (Err(failure), Some(worst)) => {
                    // Pods that wait in each order have no place; those that wait in one only had bad luck.
                    worst.waiting.retain(|key, _| failure.waiting.contains_key(key));
                    let orders_failed = worst.trial.orders_failed + 1;
                    if failure.trial.breaks < worst.trial.breaks {
                        worst.trial = failure.trial;
                    }
                    worst.trial.orders_failed = orders_failed;
                }
            }
        }
        match (failed, first) {
            (Some(mut failure), fit) => {
                failure.trial.orders_tried = u32::try_from(arrivals.len()).unwrap_or(1);
                if fit.is_some() {
                    failure.waiting.clear();
                }
                Err(failure)
            }
            (None, Some(fit)) => Ok(fit),
            (None, None) => Err(failure(nodes, BindingRule::Placement, None, &[])),
        }
    }

    fn one_order(&self, nodes: u32, pods: &[&Pod], survives: Loss, seed: u64) -> Result<Fit, Box<Failure>> {
        let mut room = self.base.clone();
        let names = room.add(self.unborn, 1..=usize::try_from(nodes).unwrap_or(usize::MAX));
        let pending = room.place(pods, seed);
        if !pending.is_empty() {
            return Err(failure(nodes, BindingRule::Placement, None, &pending));
        }
        let after: Vec<NodeBar> = names.iter().map(|name| room.bar(name)).collect();
        let mut free = Resources::new();
        after.iter().for_each(|bar| requests::add(&mut free, &bar.free));
        let mut worst: Option<WorstLoss> = None;
        let mut bound_to_zone = BTreeSet::new();
        let mut failed: Option<Box<Failure>> = None;
        for (lost, bars, rule) in losses(&after, survives) {
            let names: Vec<String> = bars.iter().map(|bar| bar.node.clone()).collect();
            let (leaving, mut pending) = room.lost(&names, seed);
            if rule == BindingRule::ZoneLoss {
                // A disk of a zone that is gone is gone, whatever the number of nodes elsewhere.
                let rest: Vec<String> =
                    after.iter().filter(|bar| bar.zone != lost).map(|bar| bar.node.clone()).collect();
                pending.retain(|(pod, _)| {
                    let bound = !rest.is_empty() && room.impossible(pod, &rest).is_some();
                    if bound {
                        bound_to_zone.insert(pod.meta.key());
                    }
                    !bound
                });
            }
            if !pending.is_empty() {
                let pending: Vec<(&Pod, Unschedulable)> =
                    pending.iter().map(|(pod, reason)| (pod.as_ref(), reason.clone())).collect();
                let this = failure(nodes, rule, Some(lost), &pending);
                let larger = |a: &Trial, b: &Trial| a.asks.get("memory") > b.asks.get("memory");
                if failed.as_ref().is_none_or(|worst| larger(&this.trial, &worst.trial)) {
                    failed = Some(this);
                }
                continue;
            }
            // What was on the lost nodes has taken room on the others.
            let mut left = free.clone();
            for part in bars.iter().flat_map(|bar| [&bar.free, &bar.workloads]) {
                part.iter().for_each(|(name, amount)| *left.entry(name.clone()).or_default() -= amount);
            }
            if worst.as_ref().is_none_or(|worst| left.get("memory") < worst.free.get("memory")) {
                worst = Some(WorstLoss { lost, pods: leaving, free: left });
            }
        }
        match failed {
            Some(failed) => Err(failed),
            None => Ok(Fit { nodes, after, worst, bound_to_zone }),
        }
    }
}

/// The losses that are tried: what is lost, its nodes, and the rule that asks for it.
fn losses(after: &[NodeBar], survives: Loss) -> Vec<(String, Vec<&NodeBar>, BindingRule)> {
    let mut losses = Vec::new();
    if survives != Loss::Nothing {
        losses.extend(after.iter().map(|bar| (bar.node.clone(), vec![bar], BindingRule::NodeLoss)));
    }
    if survives == Loss::Zone {
        let zones: BTreeSet<&String> = after.iter().map(|bar| &bar.zone).filter(|zone| !zone.is_empty()).collect();
        losses.extend(zones.into_iter().map(|zone| {
            let there = after.iter().filter(|bar| bar.zone == *zone).collect();
            (zone.clone(), there, BindingRule::ZoneLoss)
        }));
    }
    losses
}

fn arranged<'p>(wanted: &[&'p Wanted], arrival: Arrival) -> Vec<&'p Pod> {
    let mut pods: Vec<&Pod> = wanted.iter().map(|one| &one.pod).collect();
    let size = |pod: &Pod| pod.spec.requests.get("memory").copied().unwrap_or(0);
    match arrival {
        Arrival::ByWorkload => {}
        Arrival::LargestFirst => pods.sort_by_key(|pod| (-pod.spec.priority, -size(pod))),
        Arrival::SmallestFirst => pods.sort_by_key(|pod| (-pod.spec.priority, size(pod))),
    }
    pods
}

fn failure(nodes: u32, breaks: BindingRule, lost: Option<String>, pending: &[(&Pod, Unschedulable)]) -> Box<Failure> {
    let mut asks = Resources::new();
    for (pod, _) in pending {
        requests::add(&mut asks, &pod.spec.requests);
    }
    let waiting = pending
        .iter()
        .map(|(pod, reason)| {
            let reasons = reason.reasons.keys().cloned().collect::<Vec<_>>();
            let reasons = if reasons.is_empty() { vec![reason.message.clone()] } else { reasons };
            (pod.meta.key(), reasons)
        })
        .collect();
    let trial = Trial {
        nodes,
        breaks,
        lost,
        pending: pending.iter().map(|(pod, _)| pod.meta.key().reference(Kind::Pod)).collect(),
        asks,
        because: pending.first().map(|(_, reason)| reason.message.clone()).unwrap_or_default(),
        orders_failed: 1,
        orders_tried: 1,
    };
    Box::new(Failure { trial, waiting })
}

fn no_place(one: &Wanted, reasons: Vec<String>) -> Nowhere {
    Nowhere {
        pod: one.pod.meta.key().reference(Kind::Pod),
        requests: one.requests.clone(),
        reasons,
        pending_today: one.pending_today,
    }
}

/// An amount for a sentence.
pub(super) fn amount(resource: &str, amount: i64) -> String {
    #[expect(clippy::cast_precision_loss, reason = "shown with one or two decimals")]
    let number = amount as f64;
    match resource {
        "cpu" => format!("{:.1} cores", number / 1000.0),
        "memory" | "ephemeral-storage" => format!("{:.1} GiB", number / f64::from(1 << 30)),
        _ => amount.to_string(),
    }
}
