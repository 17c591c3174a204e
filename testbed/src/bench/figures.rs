//! One row of the table, and the figures of several runs of it.

use super::BenchError;
use super::stopwatch::Took;

/// How often each row is run.
pub const RUNS: usize = 5;

/// Figures of several runs.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Figures {
    /// The one in the middle.
    pub median: f64,
    /// The lowest.
    pub least: f64,
    /// The highest.
    pub most: f64,
}

impl Figures {
    /// Of a list of figures; zeros of an empty one.
    #[must_use]
    pub fn of(mut figures: Vec<f64>) -> Self {
        figures.sort_by(f64::total_cmp);
        let at = |place: usize| figures.get(place).copied().unwrap_or_default();
        Self { median: at(figures.len() / 2), least: at(0), most: at(figures.len().saturating_sub(1)) }
    }
}

/// What a figure counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unit {
    /// Pods placed in a second: more is better.
    PodsPerSecond,
    /// Seconds: less is better.
    Seconds,
    /// 2^20 bytes: less is better.
    Mebibytes,
    /// The exponent `k` of a growth with `n^k`: less is better.
    Exponent,
    /// How many of a number of runs were equal.
    Equal,
    /// How many times the peer's figure: more is better.
    Times,
}

impl Unit {
    /// As it is printed.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::PodsPerSecond => "pods/s",
            Self::Seconds => "s",
            Self::Mebibytes => "MiB",
            Self::Exponent => "exponent",
            Self::Equal => "equal",
            Self::Times => "times",
        }
    }

    fn more_is_better(self) -> bool {
        matches!(self, Self::PodsPerSecond | Self::Equal | Self::Times)
    }
}

/// A row of the table.
#[derive(Clone, Debug)]
pub struct Row {
    /// The row of the table.
    pub name: &'static str,
    /// What was measured.
    pub what: String,
    /// What the figures count.
    pub unit: Unit,
    /// By the clock on the wall.
    pub wall: Figures,
    /// By the time on a processor, where that was taken.
    pub processor: Option<Figures>,
    /// What it should be, if somebody said so.
    pub target: Option<f64>,
    /// What the peer does, in the same unit and the same run.
    pub peer: Option<f64>,
}

impl Row {
    /// A row of a figure that is not a time.
    #[must_use]
    pub fn counted(name: &'static str, what: impl Into<String>, unit: Unit, figures: Vec<f64>) -> Self {
        let (what, wall) = (what.into(), Figures::of(figures));
        Self { name, what, unit, wall, processor: None, target: None, peer: None }
    }

    /// A row of times, each of which became a figure.
    #[must_use]
    pub fn timed(
        name: &'static str,
        what: impl Into<String>,
        unit: Unit,
        took: &[Took],
        figure: impl Fn(f64) -> f64,
    ) -> Self {
        let wall = took.iter().map(|took| figure(took.wall)).collect();
        let processor = Figures::of(took.iter().map(|took| figure(took.processor)).collect());
        Self { processor: Some(processor), ..Self::counted(name, what, unit, wall) }
    }

    /// The same with what it should be.
    #[must_use]
    pub fn target(self, target: f64) -> Self {
        Self { target: Some(target), ..self }
    }

    /// The same with what the peer does.
    #[must_use]
    pub fn peer(self, peer: f64) -> Self {
        Self { peer: Some(peer), ..self }
    }

    /// Whether the median is what it should be; `None` if nobody said what.
    #[must_use]
    pub fn met(&self) -> Option<bool> {
        let target = self.target?;
        Some(if self.unit.more_is_better() { self.wall.median >= target } else { self.wall.median <= target })
    }
}

/// Runs something as often as each row is run.
///
/// # Errors
/// The first failure.
pub fn runs<T>(mut run: impl FnMut() -> Result<T, BenchError>) -> Result<Vec<T>, BenchError> {
    (0..RUNS).map(|_| run()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_median_decides_and_more_is_not_always_better() {
        let figures = vec![9.0, 1.0, 3.0, 2.0, 8.0];
        let row = |unit| Row::counted("P0", "", unit, figures.clone()).target(3.0);
        assert_eq!(row(Unit::Seconds).wall, Figures { median: 3.0, least: 1.0, most: 9.0 });
        assert_eq!(row(Unit::Seconds).met(), Some(true));
        assert_eq!(row(Unit::PodsPerSecond).target(3.1).met(), Some(false));
        assert_eq!(Row::counted("P0", "", Unit::Seconds, figures).met(), None);
    }
}
