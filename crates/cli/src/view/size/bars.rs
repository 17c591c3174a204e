//! Nodes as bars in a terminal: reserve, DaemonSets, workloads, free, each with a sign of its own, so that no colour is
//! needed to tell them apart. All bars have one scale: the largest node is as wide as the column.

use rehome_model::sizing::{FlavorSizing, NodeBar, Sizing};

use super::gib;
use crate::ui::{BOLD, DIM, paint};

/// Columns of the largest bar: with names and figures it fits into 100.
const WIDTH: i64 = 48;
/// How many nodes are drawn on each side unless wide.
const DRAWN: usize = 12;
/// The parts in the order in which they stand: sign, name.
const PARTS: [(char, &str); 4] = [('░', "reserve"), ('▓', "DaemonSets"), ('█', "workloads"), ('·', "free")];

/// The nodes before and after, by memory.
pub(super) fn text(sizing: &Sizing, one: &FlavorSizing, wide: bool) -> String {
    let after = one.answer.as_ref().map(|answer| answer.after.as_slice()).unwrap_or_default();
    let all = || sizing.before.iter().chain(after);
    let scale = all().map(|bar| memory(&bar.capacity)).max().unwrap_or(0).max(1);
    let names = all().map(|bar| bar.node.chars().count()).max().unwrap_or(0);
    let legend: Vec<String> = PARTS.iter().map(|(sign, name)| format!("{sign} {name}")).collect();
    let mut text = format!("\n{}   {}\n", paint(BOLD, "MEMORY BY NODE"), paint(DIM, legend.join("   ")));
    for (title, bars) in [("before", sizing.before.as_slice()), ("after", after)] {
        if bars.is_empty() {
            continue;
        }
        text.push_str(&format!("{title}, {}\n", total(bars)));
        let mut order: Vec<&NodeBar> = bars.iter().collect();
        if !wide && bars.len() > DRAWN {
            order.sort_by_key(|bar| memory(&bar.free));
            order.truncate(DRAWN);
        }
        for bar in &order {
            text.push_str(&line(bar, names, scale));
        }
        if bars.len() > order.len() {
            text.push_str(&format!("  … and {} with more free (-o wide)\n", bars.len() - order.len()));
        }
    }
    text
}

/// How many nodes, and what all of them have and use.
fn total(bars: &[NodeBar]) -> String {
    let sum = |part: fn(&NodeBar) -> i64| gib(bars.iter().map(part).sum());
    let (all, used) = (sum(|bar| memory(&bar.capacity)), sum(|bar| memory(&bar.workloads)));
    let share = if all > 0.0 { used / all * 100.0 } else { 0.0 };
    format!(
        "{}: {all:.1} GiB, of which workloads ask for {used:.1} GiB ({share:.0} %)",
        super::count(bars.len(), "node")
    )
}

fn line(bar: &NodeBar, names: usize, scale: i64) -> String {
    let parts = [&bar.reserve, &bar.daemon_sets, &bar.workloads, &bar.free].map(memory);
    // Rounded at each border, not for each part: the bar is as long as the node is large.
    let column = |bytes: i64| (bytes.max(0) * WIDTH + scale / 2) / scale;
    let (mut from, mut sum, mut drawn) = (0, 0, String::new());
    for ((sign, _), part) in PARTS.iter().zip(parts) {
        sum += part.max(0);
        let to = column(sum);
        drawn.extend(std::iter::repeat_n(*sign, usize::try_from(to - from).unwrap_or(0)));
        from = to;
    }
    let pad = usize::try_from(WIDTH).unwrap_or(0).saturating_sub(drawn.chars().count());
    let [_, _, _, free] = parts;
    let warn = if free < 0 { "  over!" } else { "" };
    format!(
        "  {:<names$}  {drawn}{}  {:>5.1} GiB, {:.1} free{warn}\n",
        bar.node,
        " ".repeat(pad),
        gib(memory(&bar.capacity)),
        gib(free)
    )
}

fn memory(amounts: &rehome_model::sizing::Amounts) -> i64 {
    amounts.get("memory").copied().unwrap_or(0)
}
