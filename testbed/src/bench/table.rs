//! The table as text.

use super::figures::{Figures, Row};

/// A figure with three digits or so.
fn number(figure: f64) -> String {
    match figure.abs() {
        size if size >= 1000.0 => thousands(&format!("{figure:.0}")),
        size if size >= 100.0 => format!("{figure:.0}"),
        size if size >= 10.0 => format!("{figure:.1}"),
        size if size >= 0.1 || size == 0.0 => format!("{figure:.2}"),
        _ => format!("{figure:.4}"),
    }
}

fn thousands(digits: &str) -> String {
    let mut text = String::new();
    for (place, digit) in digits.chars().enumerate() {
        if place > 0 && (digits.len() - place).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

fn range(figures: &Figures) -> String {
    format!("{} ({}-{})", number(figures.median), number(figures.least), number(figures.most))
}

/// The first line of the table.
#[must_use]
pub fn header() -> String {
    line(["ROW", "WHAT", "MEDIAN (MIN-MAX)", "ON THE CPU", "TARGET", "MET", "PEER", "RATIO"].map(str::to_owned))
}

/// A row as a line.
#[must_use]
pub fn text(row: &Row) -> String {
    let figure = format!("{} {}", range(&row.wall), row.unit.name());
    let processor = row.processor.as_ref().map(|figures| number(figures.median)).unwrap_or_default();
    let target = row.target.map(number).unwrap_or_default();
    let met = row.met().map(|met| if met { "met" } else { "NOT MET" }).unwrap_or_default();
    let peer = row.peer.map(number).unwrap_or_default();
    let ratio = row.peer.map(|peer| number(row.wall.median / peer)).unwrap_or_default();
    line([row.name.to_owned(), row.what.clone(), figure, processor, target, met.to_owned(), peer, ratio])
}

/// Columns at their places; what is longer pushes the rest.
fn line(columns: [String; 8]) -> String {
    let widths = [4, 74, 36, 11, 8, 8, 8, 0];
    let padded = columns.iter().zip(widths).map(|(text, width)| format!("{text:width$}"));
    padded.collect::<Vec<_>>().join(" ").trim_end().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bench::figures::Unit;

    #[test]
    fn a_row_says_its_figure_its_target_and_the_ratio() {
        let row = Row::counted("P1", "openb", Unit::PodsPerSecond, vec![20_500.0]).target(20_000.0).peer(410.0);
        let text = text(&row);
        for part in ["20,500 (20,500-20,500) pods/s", "20,000", " met ", "410", "50.0"] {
            assert!(text.contains(part), "{part} in {text}");
        }
    }
}
