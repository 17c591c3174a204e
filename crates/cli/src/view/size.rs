//! A sizing: the answer for each flavor, what a node of it is made of, and the nodes before and after as bars.

mod bars;
pub(crate) mod svg;

use rehome_model::sizing::{Amounts, Basis, FlavorSizing, Sizing};

use super::count;
use super::table::Table;
use crate::ui::{BAD, BOLD, CARE, DIM, GOOD, paint};

/// How many rows of a long table are shown unless wide.
const SHOWN: usize = 8;

/// Everything about a sizing that a person reads.
pub(crate) fn text(sizing: &Sizing, wide: bool) -> String {
    let mut text = String::new();
    if sizing.flavors.len() > 1 {
        text.push_str(&compared(sizing));
    }
    let detailed = sizing.flavors.iter().filter(|one| {
        wide || sizing.best.as_ref().map_or(sizing.flavors.len() == 1, |best| best.flavor == one.flavor.title())
    });
    for one in detailed {
        text.push_str(&flavor(sizing, one, wide));
    }
    text.push_str(&demand(sizing, wide));
    for note in &sizing.notes {
        text.push_str(&format!("\n{} {note}\n", paint(CARE, "!")));
    }
    text
}

/// One line for each flavor, and which is best.
fn compared(sizing: &Sizing) -> String {
    let mut table = Table::new(["FLAVOR", "NODES", "COST", "MEMORY USED", "CPU USED", "FITS NOWHERE", "BINDS"]);
    for one in &sizing.flavors {
        let answer = one.answer.as_ref();
        let used = |name: &str| {
            answer.and_then(|answer| answer.used_thousandths.get(name)).map_or_else(String::new, |used| percent(*used))
        };
        table.row([
            one.flavor.title(),
            answer.map_or_else(|| "none does".to_owned(), |answer| answer.nodes.to_string()),
            answer.and_then(|answer| answer.cost).map_or_else(String::new, |cost| cost_of(cost, sizing)),
            used("memory"),
            used("cpu"),
            if one.nowhere.is_empty() { "0".to_owned() } else { count(one.nowhere.len(), "pod") },
            answer.map_or_else(String::new, |answer| rule(answer.binds).to_owned()),
        ]);
    }
    let mut text = table.render("");
    if let Some(best) = &sizing.best {
        text.push_str(&format!("\n{} {}: {}\n", paint(GOOD, "✓ best:"), paint(BOLD, &best.flavor), best.because));
    }
    text
}

fn cost_of(cost: f64, sizing: &Sizing) -> String {
    format!("{cost:.2}{}", sizing.currency.as_ref().map(|currency| format!(" {currency}")).unwrap_or_default())
}

fn rule(rule: rehome_model::sizing::BindingRule) -> &'static str {
    use rehome_model::sizing::BindingRule as Rule;
    match rule {
        Rule::Demand => "demand",
        Rule::Floor => "floor",
        Rule::Placement => "placement",
        Rule::NodeLoss => "loss of a node",
        Rule::ZoneLoss => "loss of a zone",
    }
}

/// One flavor: its answer, the picture, its node, and what fits nowhere.
fn flavor(sizing: &Sizing, one: &FlavorSizing, wide: bool) -> String {
    let title = one.flavor.title();
    let mut text = match &one.answer {
        Some(answer) => {
            let nodes = if answer.nodes == 1 { "1 node".to_owned() } else { format!("{} nodes", answer.nodes) };
            let mut text = format!("\n{} {} of {title}\n", paint(GOOD, "✓"), paint(BOLD, nodes));
            text.push_str(&format!("    because {}\n", answer.because));
            if let Some(worst) = &answer.worst_loss {
                let free = amount("memory", &worst.free);
                text.push_str(&format!(
                    "    without {} its {} fit elsewhere, and {free} of memory stay free\n",
                    worst.lost,
                    count(worst.pods, "pod")
                ));
            }
            if let Some(cost) = answer.cost {
                text.push_str(&format!("    cost {}\n", cost_of(cost, sizing)));
            }
            text
        }
        None => {
            let mut text = format!("\n{} no number of nodes of {title} does\n", paint(BAD, "✗"));
            if let Some(trial) = one.tried.last() {
                text.push_str(&format!("    with {}: {}\n", trial.nodes, trial.because));
            }
            text
        }
    };
    text.push_str(&bars::text(sizing, one, wide));
    text.push_str(&node(one, wide));
    if !one.nowhere.is_empty() {
        let mut table = Table::new(["FITS NOWHERE", "ASKS FOR", "WHY", "TODAY"]);
        for nowhere in one.nowhere.iter().take(if wide { usize::MAX } else { SHOWN }) {
            let asks = format!("{}, {}", amount("cpu", &nowhere.requests), amount("memory", &nowhere.requests));
            let today = if nowhere.pending_today { "Pending, too" } else { "running" };
            table.row([nowhere.pod.path(), asks, nowhere.reasons.join(", "), today.to_owned()]);
        }
        text.push_str(&format!("\n{}{}", table.render(""), more(one.nowhere.len(), wide)));
    }
    text
}

/// From what is sold to what pods can have.
fn node(one: &FlavorSizing, wide: bool) -> String {
    let mut table = Table::new(["ONE NODE", "MEMORY", "CPU", "HOW IT IS KNOWN"]);
    let how = |field: &str| {
        let found = one.node.iter().find(|found| found.field == field);
        found.map_or_else(String::new, |found| format!("{}: {}", basis(found.basis), found.because))
    };
    let mut row = |name: &str, amounts: &Amounts, how: String| {
        table.row([name.to_owned(), gib2(amounts), amount("cpu", amounts), how]);
    };
    row("advertised", &one.advertised, "given".to_owned());
    row("capacity", &one.capacity, how("capacity.memory"));
    row("allocatable", &one.allocatable, how("allocatable.memory"));
    let usable = one.usable_thousandths.get("memory").copied().unwrap_or(0);
    let after = format!("after {}; {} of the capacity", count(one.daemon_sets.len(), "DaemonSet"), percent(usable));
    row("usable", &one.usable, after);
    let mut text = format!("\n{}", table.render(""));
    let assumed: Vec<&str> =
        one.node.iter().filter(|field| field.basis == Basis::Assumed).map(|field| field.field.as_str()).collect();
    if !wide && !assumed.is_empty() {
        let line = format!("assumed, not known: {} (-o wide says from what)", assumed.join(", "));
        text.push_str(&format!("{}\n", paint(DIM, line)));
    }
    if wide {
        let mut table = Table::new(["FIELD OF THE NEW NODE", "VALUE", "BASIS", "FROM"]);
        for field in &one.node {
            let basis = basis(field.basis).to_owned();
            table.row([field.field.clone(), field.value.clone(), basis, field.because.clone()]);
        }
        text.push_str(&format!("\n{}", table.render("")));
        let mut table = Table::new(["RESERVE", "MEMORY", "CPU", "FROM"]);
        let reserve = &one.reserve;
        let mut row = |name: String, amounts: &Amounts, from: &str| {
            table.row([name, gib2(amounts), amount("cpu", amounts), from.to_owned()]);
        };
        row(format!("formula {}", reserve.formula), &reserve.by_formula, &reserve.source);
        if let Some(measured) = &reserve.measured {
            row("measured".to_owned(), measured, "capacity less allocatable of live nodes of this flavor");
        }
        text.push_str(&format!("\n{}", table.render("")));
        let mut table = Table::new(["ON EACH NEW NODE", "MEMORY", "CPU"]);
        for share in &one.daemon_sets {
            table.row([share.daemon_set.path(), amount("memory", &share.requests), amount("cpu", &share.requests)]);
        }
        if !table.is_empty() {
            text.push_str(&format!("\n{}", table.render("")));
        }
    }
    text
}

/// What asks for room, the largest first; where peaks were measured, beside the requests.
fn demand(sizing: &Sizing, wide: bool) -> String {
    let demand = &sizing.demand;
    let mut text = format!(
        "\n{} ask for {} of memory and {}",
        count(demand.pods, "pod"),
        amount("memory", &demand.requests),
        amount("cpu", &demand.requests)
    );
    if demand.sized_by != demand.requests {
        text.push_str(&format!("; sized by {} of memory, their peaks included", amount("memory", &demand.sized_by)));
    }
    if let [one] = &sizing.flavors[..]
        && !one.nowhere.is_empty()
    {
        let memory: i64 = one.nowhere.iter().map(|pod| pod.requests.get("memory").copied().unwrap_or(0)).sum();
        text.push_str(&format!(
            "; of these, {} with {:.1} GiB fit nowhere",
            count(one.nowhere.len(), "pod"),
            gib(memory)
        ));
    }
    text.push('\n');
    for out in &demand.left_out {
        text.push_str(&format!("    not counted: {}, {}\n", count(out.pods, "pod"), out.because));
    }
    if let Some(peaks) = &demand.peaks {
        let mut table = Table::new(["MACHINE", "MEMORY PEAK", "CPU PEAK"]);
        for (node, amounts) in &peaks.nodes {
            table.row([node.clone(), amount("memory", amounts), amount("cpu", amounts)]);
        }
        for (name, amounts) in [("all at one time", &peaks.simultaneous), ("sum of the peaks", &peaks.sum_of_peaks)] {
            table.row([name.to_owned(), amount("memory", amounts), amount("cpu", amounts)]);
        }
        let from = format!(
            "{} over {}, {} of samples",
            peaks.source,
            peaks.window,
            count(usize::try_from(peaks.hours).unwrap_or(usize::MAX), "hour")
        );
        text.push_str(&format!("\nPeaks from {from}:\n{}", table.render("")));
    }
    let mut workloads: Vec<_> = demand.workloads.iter().collect();
    if demand.peaks.is_none() && !wide {
        return text;
    }
    let memory = |amounts: &Amounts| amounts.get("memory").copied().unwrap_or(0);
    workloads.sort_by_key(|one| -memory(&one.requests).max(one.peaks.as_ref().map_or(0, memory)));
    let mut table =
        Table::new(["WORKLOAD", "PODS", "MEMORY ASKED", "MEMORY PEAK", "CPU ASKED", "CPU PEAK", "DIFFERENCE"]);
    for one in workloads.iter().take(if wide { usize::MAX } else { SHOWN }) {
        let peak = |name: &str| {
            one.peaks
                .as_ref()
                .filter(|peaks| peaks.contains_key(name))
                .map_or_else(String::new, |peaks| amount(name, peaks))
        };
        let difference = match &one.peaks {
            None => String::new(),
            Some(peaks) if memory(peaks) > memory(&one.requests) => "uses more memory than it asks for".to_owned(),
            Some(peaks) if memory(peaks).saturating_mul(2) < memory(&one.requests) => {
                "asks for twice what it uses".to_owned()
            }
            Some(_) => "as asked".to_owned(),
        };
        table.row([
            format!("{} {}", one.workload.kind, one.workload.path()),
            one.pods.to_string(),
            amount("memory", &one.requests),
            peak("memory"),
            amount("cpu", &one.requests),
            peak("cpu"),
            difference,
        ]);
    }
    text.push_str(&format!("\n{}{}", table.render(""), more(workloads.len(), wide)));
    text
}

fn more(rows: usize, wide: bool) -> String {
    if wide || rows <= SHOWN { String::new() } else { format!("and {} more (-o wide)\n", rows - SHOWN) }
}

fn basis(basis: Basis) -> &'static str {
    match basis {
        Basis::Given => "given",
        Basis::Measured => "measured",
        Basis::Formula => "formula",
        Basis::Assumed => "assumed",
    }
}

/// Memory with two decimals: what runbooks write down.
fn gib2(amounts: &Amounts) -> String {
    format!("{:.2} GiB", gib(amounts.get("memory").copied().unwrap_or(0)))
}

fn gib(bytes: i64) -> f64 {
    #[expect(clippy::cast_precision_loss, reason = "shown with one or two decimals")]
    let gib = bytes as f64 / f64::from(1 << 30);
    gib
}

fn percent(thousandths: i64) -> String {
    format!("{}.{} %", thousandths / 10, (thousandths % 10).abs())
}

/// An amount of cpu or memory.
fn amount(name: &str, amounts: &Amounts) -> String {
    let amount = amounts.get(name).copied().unwrap_or(0);
    match name {
        "cpu" => format!("{}m", amount),
        _ if amount.abs() < 1 << 30 => format!("{} MiB", amount >> 20),
        _ => format!("{:.1} GiB", gib(amount)),
    }
}
