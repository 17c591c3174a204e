//! The sentences of a sizing: which rule binds, which flavor is best, and what else somebody should know.

use rehome_k8s::{Kind, View};
use rehome_model::intent::{Loss, SizingWish};
use rehome_model::sizing::{Best, BindingRule, Demand, FlavorSizing, LowerBound, Trial};

use super::search::amount;

/// How many pods are named before the rest is counted.
const NAMED: usize = 3;

/// The rule that one node fewer would break, and the same in words.
pub(super) fn binding(
    nodes: u32,
    needed: Option<u32>,
    wish: &SizingWish,
    bound: &LowerBound,
    tried: &[Trial],
) -> (BindingRule, String) {
    if let Some(needed) = needed.filter(|needed| *needed < nodes) {
        let also = match wish.survives {
            Loss::Nothing => "hold everything",
            Loss::Node => "hold everything, also after the loss of any one of them",
            Loss::Zone => "hold everything, also after the loss of any one of them or of a zone",
        };
        return (
            BindingRule::Floor,
            format!("{nodes}, not {}: the floor is {}; {needed} would {also}", nodes - 1, wish.floor),
        );
    }
    let Some(below) = nodes.checked_sub(1).filter(|below| *below > 0) else {
        return (BindingRule::Demand, format!("{nodes}: one node holds everything"));
    };
    match tried.iter().find(|trial| trial.nodes == below) {
        Some(trial) => (trial.breaks, format!("{nodes}, not {below}: {}", broken(trial))),
        None => (BindingRule::Demand, format!("{nodes}, not {below}: {}", bound.because)),
    }
}

/// What a number of nodes breaks: `with 2 the loss of a-1 leaves 4.1 GiB Pending: shop/db-0, shop/web-1`.
fn broken(trial: &Trial) -> String {
    let with = trial.nodes;
    let pods: Vec<String> = trial.pending.iter().take(NAMED).map(rehome_model::ObjectRef::path).collect();
    let mut pods = pods.join(", ");
    if trial.pending.len() > NAMED {
        pods.push_str(&format!(" and {} more", trial.pending.len() - NAMED));
    }
    let memory = amount("memory", trial.asks.get("memory").copied().unwrap_or(0));
    let cpu = amount("cpu", trial.asks.get("cpu").copied().unwrap_or(0));
    let what = match (&trial.lost, trial.breaks) {
        (Some(zone), BindingRule::ZoneLoss) => {
            format!("with {with} the loss of zone {zone} leaves {memory} and {cpu} Pending")
        }
        (Some(node), _) => format!("with {with} the loss of {node} leaves {memory} and {cpu} Pending"),
        (None, _) => format!("with {with} there is no place for {memory} and {cpu}"),
    };
    let orders = if trial.orders_failed < trial.orders_tried {
        format!(", in {} of {} orders in which pods may come", trial.orders_failed, trial.orders_tried)
    } else {
        String::new()
    };
    format!("{what}: {pods} ({}){orders}", trial.because.trim_end_matches('.'))
}

/// The flavor to take: of those on which the fewest pods fit nowhere, the cheapest, or the one with the least memory.
pub(super) fn best(flavors: &[FlavorSizing], currency: Option<&str>) -> Option<Best> {
    if flavors.len() < 2 {
        return None;
    }
    let answered = || flavors.iter().filter_map(|one| Some((one, one.answer.as_ref()?)));
    let fewest = answered().map(|(one, _)| one.nowhere.len()).min()?;
    let good: Vec<_> = answered().filter(|(one, _)| one.nowhere.len() == fewest).collect();
    // Where a flavor takes what others do not, its price is not the reason.
    let only = answered().count() > good.len();
    let reason = |nodes: u32, why: String| {
        if !only {
            format!("{nodes} of them {why}")
        } else if good.len() == 1 {
            format!("no other flavor takes as many of the pods; {nodes} of them {why}")
        } else {
            format!("of the flavors that take the most pods, {nodes} of them {why}")
        }
    };
    let priced: Option<Vec<_>> = good.iter().map(|(one, answer)| Some((*one, *answer, answer.cost?))).collect();
    if let Some(mut priced) = priced {
        priced.sort_by(|a, b| a.2.total_cmp(&b.2).then(a.1.nodes.cmp(&b.1.nodes)));
        let (one, answer, cost) = priced.first()?;
        let currency = currency.map(|currency| format!(" {currency}")).unwrap_or_default();
        let why = if good.len() == 1 { "cost" } else { "cost the least:" };
        let because = reason(answer.nodes, format!("{why} {cost:.2}{currency}"));
        return Some(Best { flavor: one.flavor.title(), because });
    }
    let memory = |one: &FlavorSizing, nodes: u32| {
        one.advertised.get("memory").copied().unwrap_or(0).saturating_mul(nodes.into())
    };
    let (one, answer) = good.iter().min_by_key(|(one, answer)| (memory(one, answer.nodes), answer.nodes))?;
    let all = amount("memory", memory(one, answer.nodes));
    let why = if good.len() == 1 { "have" } else { "are the least memory to buy:" };
    Some(Best { flavor: one.flavor.title(), because: reason(answer.nodes, format!("{why} {all}")) })
}

/// What else somebody should know.
pub(super) fn notes(view: &View, wish: &SizingWish, demand: &Demand, flavors: &[FlavorSizing]) -> Vec<String> {
    let mut notes = Vec::new();
    let fragile = wish.floor < 2 && wish.survives == Loss::Nothing;
    if fragile {
        notes.push(match &wish.accepted_because {
            Some(because) => format!("a target that survives no loss was accepted: {because}"),
            None => "a target that survives no loss: while its node is away, everything is; accept it with sizing.acceptedBecause in the Intent".to_owned(),
        });
    }
    for kind in [Kind::DaemonSet, Kind::LimitRange, Kind::PersistentVolume, Kind::PersistentVolumeClaim, Kind::CSINode]
    {
        if let Some(gap) = view.gap(kind) {
            notes.push(format!("{kind} could not be read, and counts for nothing here: {}", gap.message));
        }
    }
    let without: Vec<&str> = demand
        .workloads
        .iter()
        .filter(|one| one.requests.get("memory").copied().unwrap_or(0) == 0)
        .map(|one| one.workload.name.as_str())
        .collect();
    if !without.is_empty() {
        let named = without.iter().take(NAMED).copied().collect::<Vec<_>>().join(", ");
        notes.push(format!(
            "{} workload(s) ask for no memory and count as nothing: {named}{}; measure them with --prometheus",
            without.len(),
            if without.len() > NAMED { ", …" } else { "" }
        ));
    }
    if let Some(peaks) = &demand.peaks {
        notes.extend(against_peaks(peaks, flavors));
    }
    for one in flavors.iter().filter(|one| !one.bound_to_zone.is_empty()) {
        notes.push(format!(
            "{}: {} pod(s) have their volumes in one zone and are down with it, whatever the number of nodes",
            one.flavor.title(),
            one.bound_to_zone.len()
        ));
    }
    notes
}

/// Whether what the machines really used fits, for each answer.
fn against_peaks(peaks: &rehome_model::sizing::Peaks, flavors: &[FlavorSizing]) -> Vec<String> {
    let memory = |amounts: &rehome_model::sizing::Amounts| amounts.get("memory").copied().unwrap_or(0);
    let (at_once, sum) = (memory(&peaks.simultaneous), memory(&peaks.sum_of_peaks));
    let sentence = |one: &FlavorSizing| {
        let answer = one.answer.as_ref()?;
        let have = memory(&one.capacity).saturating_mul(answer.nodes.into());
        let all = format!(
            "the machines peaked at {} together ({} if all had peaked at once), operating system and control plane included",
            amount("memory", at_once),
            amount("memory", sum)
        );
        let (nodes, title) = (answer.nodes, one.flavor.title());
        let verdict = if sum <= have {
            "either fits"
        } else if at_once <= have {
            "only the first fits"
        } else {
            "it does not fit"
        };
        Some(format!("{all}; {nodes} × {title} have {}: {verdict}", amount("memory", have)))
    };
    flavors.iter().filter_map(sentence).collect()
}
