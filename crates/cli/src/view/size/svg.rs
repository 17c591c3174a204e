//! The nodes before and after as a picture: stacked bars of reserve, DaemonSets, workloads and free room, memory above cpu.
//!
//! Written by hand, without fonts or scripts of its own: it opens in any browser and can be pasted into a report. Both
//! sides have one scale.

use std::fmt::Write as _;

use rehome_model::sizing::{FlavorSizing, NodeBar, Sizing};

use super::{amount, cost_of, gib, percent};
use crate::view::{cluster_name, count};

/// The picture's width.
const WIDTH: f64 = 1200.0;
/// Room at the left for the scale, and at the right.
const LEFT: f64 = 78.0;
const RIGHT: f64 = 36.0;
/// Between the two sides.
const GAP: f64 = 72.0;
/// A bar and the space beside it, at most.
const PITCH: f64 = 104.0;
/// Below this pitch names do not fit under the bars.
const NAMED: f64 = 26.0;
/// More bars than this on a side are thinner than a line: the fullest are drawn.
const DRAWN: usize = 160;
/// Height of the memory chart and of the cpu chart.
const HEIGHTS: [f64; 2] = [300.0, 150.0];
/// Room under a chart for the names.
const NAMES: f64 = 78.0;
/// The parts from below: name, fill, text on it.
const PARTS: [(&str, &str, &str); 4] = [
    ("reserve of the kubelet", "#98a2b3", "#1d2939"),
    ("DaemonSets", "#f4a63a", "#3b2300"),
    ("workloads", "#2563c9", "#ffffff"),
    ("free", "#e6f0ea", "#2d5b3f"),
];
const INK: &str = "#1d2939";
const SOFT: &str = "#667085";
const LINE: &str = "#d0d5dd";

/// The picture: of the flavor that is best, or of the first.
pub(crate) fn text(sizing: &Sizing) -> String {
    let best =
        sizing.best.as_ref().and_then(|best| sizing.flavors.iter().find(|one| one.flavor.title() == best.flavor));
    let Some(one) = best.or(sizing.flavors.first()) else { return String::new() };
    let after = one.answer.as_ref().map(|answer| answer.after.as_slice()).unwrap_or_default();
    let lines = because(sizing, one);
    let top = 96.0 + 20.0 * count_of(lines.len());
    let height = top + 58.0 + HEIGHTS.iter().sum::<f64>() + 2.0 * (NAMES + 34.0);
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {height:.0}\" width=\"{WIDTH}\" height=\"{height:.0}\" \
         font-family=\"system-ui, -apple-system, 'Segoe UI', 'DejaVu Sans', sans-serif\" role=\"img\">\n\
         <title>{0}</title>\n<rect width=\"100%\" height=\"100%\" fill=\"#ffffff\"/>\n",
        escape(&title(sizing, one))
    );
    label(&mut svg, (LEFT, 52.0), 26.0, INK, "font-weight=\"700\"", &title(sizing, one));
    for (index, line) in (0_u32..).zip(&lines) {
        label(&mut svg, (LEFT, 82.0 + 20.0 * f64::from(index)), 15.0, SOFT, "", line);
    }
    legend(&mut svg, top);
    let sides = [drawn(&sizing.before), drawn(after)];
    let bars = count_of(sides.iter().map(Vec::len).sum::<usize>().max(1));
    let pitch = ((WIDTH - LEFT - RIGHT - GAP) / bars).min(PITCH);
    let mut y = top + 58.0;
    for (chart, height) in [Chart::memory(), Chart::cpu()].into_iter().zip(HEIGHTS) {
        chart.draw(&mut svg, &sides, (y, height, pitch));
        y += height + NAMES + 34.0;
    }
    svg.push_str("</svg>\n");
    svg
}

fn title(sizing: &Sizing, one: &FlavorSizing) -> String {
    let before = count(sizing.before.len(), "node");
    let after = one.answer.as_ref().map_or_else(|| "no number".to_owned(), |answer| answer.nodes.to_string());
    format!("{}: {before} → {after} × {}", cluster_name(&sizing.cluster), one.flavor.title())
}

/// The sentences under the title, broken into lines.
fn because(sizing: &Sizing, one: &FlavorSizing) -> Vec<String> {
    /// Characters of 15 pixels that fit beside each other.
    const COLUMNS: usize = 132;
    let mut sentences = Vec::new();
    if let Some(answer) = &one.answer {
        sentences.push(answer.because.clone());
        let used = |name: &str| percent(answer.used_thousandths.get(name).copied().unwrap_or(0));
        let cost = answer.cost.map(|cost| format!("; cost {}", cost_of(cost, sizing))).unwrap_or_default();
        sentences.push(format!(
            "asked for of what pods can have: {} of memory, {} of cpu{cost}",
            used("memory"),
            used("cpu")
        ));
    }
    if !one.nowhere.is_empty() {
        let memory = one.nowhere.iter().map(|pod| pod.requests.get("memory").copied().unwrap_or(0)).sum::<i64>();
        sentences.push(format!(
            "on no number of such nodes: {} ({:.1} GiB)",
            count(one.nowhere.len(), "pod"),
            gib(memory)
        ));
    }
    let mut lines = Vec::new();
    for sentence in sentences {
        let mut line = String::new();
        for word in sentence.split(' ') {
            if !line.is_empty() && line.chars().count() + word.chars().count() >= COLUMNS {
                lines.push(std::mem::take(&mut line));
            }
            if !line.is_empty() {
                line.push(' ');
            }
            line.push_str(word);
        }
        lines.push(line);
    }
    lines
}

fn legend(svg: &mut String, y: f64) {
    let mut x = LEFT;
    for (name, fill, _) in PARTS {
        let _ = writeln!(
            svg,
            "<rect x=\"{x:.1}\" y=\"{:.1}\" width=\"14\" height=\"14\" rx=\"3\" fill=\"{fill}\" stroke=\"{LINE}\"/>",
            y - 12.0
        );
        label(svg, (x + 21.0, y), 14.0, INK, "", name);
        x += 62.0 + 7.6 * count_of(name.len());
    }
}

/// The bars of one side; the fullest where there are too many.
fn drawn(bars: &[NodeBar]) -> Vec<&NodeBar> {
    let mut drawn: Vec<&NodeBar> = bars.iter().collect();
    if drawn.len() > DRAWN {
        drawn.sort_by_key(|bar| bar.free.get("memory").copied().unwrap_or(0));
        drawn.truncate(DRAWN);
    }
    drawn
}

/// One resource of all nodes.
struct Chart {
    resource: &'static str,
    title: &'static str,
    /// Steps of the scale, in base units: the first that gives at most six lines is taken.
    steps: &'static [i64],
}

impl Chart {
    fn memory() -> Self {
        const GIB: i64 = 1 << 30;
        const STEPS: &[i64] =
            &[GIB, 2 * GIB, 4 * GIB, 8 * GIB, 16 * GIB, 32 * GIB, 64 * GIB, 128 * GIB, 256 * GIB, 1024 * GIB];
        Self { resource: "memory", title: "Memory", steps: STEPS }
    }

    fn cpu() -> Self {
        Self { resource: "cpu", title: "CPU", steps: &[500, 1000, 2000, 4000, 8000, 16_000, 32_000, 64_000, 128_000] }
    }

    fn of(&self, amounts: &rehome_model::sizing::Amounts) -> i64 {
        amounts.get(self.resource).copied().unwrap_or(0)
    }

    fn unit(&self, amount: i64) -> String {
        if self.resource == "memory" { format!("{} GiB", amount >> 30) } else { format!("{}", float(amount) / 1000.0) }
    }

    fn total(&self, amount: i64) -> String {
        if self.resource == "memory" {
            format!("{:.1} GiB", gib(amount))
        } else {
            format!("{} cores", float(amount) / 1000.0)
        }
    }

    fn draw(&self, svg: &mut String, sides: &[Vec<&NodeBar>; 2], (top, height, pitch): (f64, f64, f64)) {
        let most = sides.iter().flatten().map(|bar| self.of(&bar.capacity)).max().unwrap_or(0).max(1);
        let step = self.steps.iter().copied().find(|step| most / step <= 6).unwrap_or(most);
        let scale = (most + step - 1) / step * step;
        let at = |amount: i64| top + height - height * float(amount.clamp(0, scale)) / float(scale);
        label(svg, (LEFT, top - 16.0), 16.0, INK, "font-weight=\"600\"", self.title);
        let mut line = 0;
        while line <= scale {
            let y = at(line);
            let _ = writeln!(
                svg,
                "<line x1=\"{LEFT}\" y1=\"{y:.1}\" x2=\"{:.1}\" y2=\"{y:.1}\" stroke=\"{LINE}\" stroke-width=\"1\"/>",
                WIDTH - RIGHT
            );
            label(svg, (LEFT - 10.0, y + 4.0), 12.0, SOFT, "text-anchor=\"end\"", &self.unit(line));
            line += step;
        }
        let mut x = LEFT + 8.0;
        for (name, bars) in ["before", "after"].iter().zip(sides) {
            let middle = x + pitch * count_of(bars.len()) / 2.0;
            let all: i64 = bars.iter().map(|bar| self.of(&bar.capacity)).sum();
            let caption = format!("{name}: {}, {}", count(bars.len(), "node"), self.total(all));
            if !bars.is_empty() {
                label(svg, (middle, top - 16.0), 14.0, SOFT, "text-anchor=\"middle\"", &caption);
            }
            for bar in bars {
                self.bar(svg, bar, (x, pitch), &at);
                if pitch >= NAMED {
                    let place = (x + pitch / 2.0, top + height + 18.0);
                    let turn = format!("text-anchor=\"end\" transform=\"rotate(-35 {:.1} {:.1})\"", place.0, place.1);
                    label(svg, place, 12.0, INK, &turn, &short(&bar.node));
                }
                x += pitch;
            }
            x += GAP - 16.0;
        }
    }

    fn bar(&self, svg: &mut String, bar: &NodeBar, (x, pitch): (f64, f64), at: &dyn Fn(i64) -> f64) {
        let width = (pitch * 0.72).max(1.0);
        let left = x + (pitch - width) / 2.0;
        let parts = [&bar.reserve, &bar.daemon_sets, &bar.workloads, &bar.free].map(|amounts| self.of(amounts).max(0));
        let said = PARTS.iter().zip([&bar.reserve, &bar.daemon_sets, &bar.workloads, &bar.free]);
        let said: Vec<String> =
            said.map(|((name, _, _), amounts)| format!("{name} {}", amount(self.resource, amounts))).collect();
        let _ = writeln!(svg, "<g><title>{}: {}</title>", escape(&bar.node), escape(&said.join(", ")));
        let mut sum = 0;
        for ((_, fill, ink), part) in PARTS.iter().zip(parts) {
            let (bottom, upper) = (at(sum), at(sum + part));
            sum += part;
            let height = bottom - upper;
            if height < 0.05 {
                continue;
            }
            let _ = writeln!(
                svg,
                "<rect x=\"{left:.1}\" y=\"{upper:.1}\" width=\"{width:.1}\" height=\"{height:.1}\" fill=\"{fill}\"/>"
            );
            if height >= 17.0 && width >= 38.0 {
                let figure = if self.resource == "memory" {
                    format!("{:.1}", gib(part))
                } else {
                    format!("{:.1}", float(part) / 1000.0)
                };
                label(
                    svg,
                    (left + width / 2.0, upper + height / 2.0 + 4.0),
                    12.0,
                    ink,
                    "text-anchor=\"middle\"",
                    &figure,
                );
            }
        }
        let (bottom, upper) = (at(0), at(sum));
        let _ = writeln!(
            svg,
            "<rect x=\"{left:.1}\" y=\"{upper:.1}\" width=\"{width:.1}\" height=\"{:.1}\" fill=\"none\" stroke=\"{SOFT}\" stroke-width=\"0.8\" rx=\"1.5\"/></g>",
            bottom - upper
        );
    }
}

fn label(svg: &mut String, (x, y): (f64, f64), size: f64, fill: &str, more: &str, text: &str) {
    let _ = writeln!(
        svg,
        "<text x=\"{x:.1}\" y=\"{y:.1}\" font-size=\"{size}\" fill=\"{fill}\" {more}>{}</text>",
        escape(text)
    );
}

/// A name that fits under a bar: its end tells nodes of a pool apart.
fn short(name: &str) -> String {
    const FITS: usize = 16;
    let length = name.chars().count();
    if length <= FITS {
        name.to_owned()
    } else {
        format!("…{}", name.chars().skip(length - FITS + 1).collect::<String>())
    }
}

fn escape(text: &str) -> String {
    text.chars().fold(String::with_capacity(text.len()), |mut escaped, c| {
        match c {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            // A name from a cluster must not break the picture.
            c if c.is_control() => escaped.push(' '),
            c => escaped.push(c),
        }
        escaped
    })
}

fn float(amount: i64) -> f64 {
    #[expect(clippy::cast_precision_loss, reason = "a place in a picture")]
    let float = amount as f64;
    float
}

fn count_of(number: usize) -> f64 {
    float(i64::try_from(number).unwrap_or(i64::MAX))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_can_not_break_the_picture() {
        assert_eq!(escape("a<b>&\"\u{1b}"), "a&lt;b&gt;&amp;&quot; ");
        assert_eq!(short("a-node-with-a-very-long-name-1"), "…ery-long-name-1");
    }
}
