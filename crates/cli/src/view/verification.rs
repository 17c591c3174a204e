//! A verification: check by check.

use rehome_model::verification::{CheckResult, Verification};

use super::count;
use crate::ui::{BAD, BOLD, CARE, GOOD, paint};

/// As many offenders of a check as are shown unless `wide`.
const SHOWN: usize = 5;

/// The checks with what failed, and the count.
pub(crate) fn text(verification: &Verification, wide: bool) -> String {
    let mut text = String::new();
    let width = verification.checks.iter().map(|check| check.name.chars().count()).max().unwrap_or(0);
    for check in &verification.checks {
        let (mark, style, word) = match check.result {
            CheckResult::Passed => ("✓", GOOD, "passed"),
            CheckResult::Failed => ("✗", BAD, "failed"),
            CheckResult::Unknown => ("?", CARE, "unknown"),
        };
        let head = paint(style, format!("{mark} {word:<7}"));
        text.push_str(&format!("{head} {:<width$}   {}\n", check.name, check.message));
        let shown = if wide { check.offenders.len() } else { SHOWN };
        for offender in check.offenders.iter().take(shown) {
            text.push_str(&format!("    {}: {}\n", paint(BOLD, &offender.object), offender.why));
        }
        if check.offenders.len() > shown {
            text.push_str(&format!("    and {} more (-o wide)\n", check.offenders.len() - shown));
        }
    }
    let of = |result| verification.checks.iter().filter(|check| check.result == result).count();
    text.push_str(&format!(
        "\nVerification: {}, {} failed, {} unknown\n",
        count(of(CheckResult::Passed), "check") + " passed",
        of(CheckResult::Failed),
        of(CheckResult::Unknown)
    ));
    text
}
