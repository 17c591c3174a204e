//! Numbers that may be percentages, and how each user of them rounds.

use std::fmt;

/// `intstr.IntOrString`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum IntOrPercent {
    /// A number.
    Int(i64),
    /// A percentage of a total.
    Percent(i64),
}

impl Default for IntOrPercent {
    fn default() -> Self {
        Self::Int(0)
    }
}

impl IntOrPercent {
    /// Reads `3` or `25%`.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        match text.strip_suffix('%') {
            Some(percent) => percent.parse().ok().map(Self::Percent),
            None => text.parse().ok().map(Self::Int),
        }
    }

    /// The number that it stands for, rounded up: `maxSurge`, and both fields of a PodDisruptionBudget.
    /// Source: `k8s.io/kubernetes/pkg/controller/disruption`, `getExpectedPodCount` (roundUp true).
    #[must_use]
    pub fn of_rounded_up(self, total: i64) -> i64 {
        match self {
            Self::Int(number) => number,
            Self::Percent(percent) => hundredths(percent, total, 99),
        }
    }

    /// The number that it stands for, rounded down: `maxUnavailable` of a Deployment.
    #[must_use]
    pub fn of_rounded_down(self, total: i64) -> i64 {
        match self {
            Self::Int(number) => number,
            Self::Percent(percent) => hundredths(percent, total, 0),
        }
    }
}

/// In 128 bits: a file may hold any number.
fn hundredths(percent: i64, total: i64, round: i128) -> i64 {
    let number = (i128::from(percent) * i128::from(total) + round).div_euclid(100);
    i64::try_from(number).unwrap_or(if number < 0 { i64::MIN } else { i64::MAX })
}

/// `maxSurge` and `maxUnavailable` of a Deployment as its controller computes them for this many replicas: if both come
/// out as zero, `maxUnavailable` becomes one.
/// Source: `k8s.io/kubernetes/pkg/controller/deployment/util`, `ResolveFenceposts`.
#[must_use]
pub fn rolling_update_limits(max_surge: IntOrPercent, max_unavailable: IntOrPercent, replicas: i64) -> (i64, i64) {
    let surge = max_surge.of_rounded_up(replicas);
    let unavailable = max_unavailable.of_rounded_down(replicas);
    if surge == 0 && unavailable == 0 { (0, 1) } else { (surge, unavailable) }
}

impl fmt::Display for IntOrPercent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Int(number) => write!(f, "{number}"),
            Self::Percent(percent) => write!(f, "{percent}%"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_quarter_rounds_up_for_surge_and_down_for_unavailable() {
        let quarter = IntOrPercent::Percent(25);
        let limits: Vec<_> = (1..=5).map(|replicas| rolling_update_limits(quarter, quarter, replicas)).collect();
        assert_eq!(limits, [(1, 0), (1, 0), (1, 0), (1, 1), (2, 1)]);
        assert_eq!(rolling_update_limits(IntOrPercent::Int(0), IntOrPercent::Percent(25), 3), (0, 1));
        assert_eq!(IntOrPercent::Percent(i64::MAX).of_rounded_up(i64::MAX), i64::MAX);
        assert_eq!(IntOrPercent::Percent(i64::MIN).of_rounded_down(7), i64::MIN / 100 * 7 - 1);
    }
}
