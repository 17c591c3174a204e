//! What the rules found: the worst first, each with what to do about it.

use rehome_model::finding::{Finding, Severity};

use super::count;
use crate::ui::{BAD, BOLD, CARE, DIM, GOOD, paint};

/// The findings. Notes are shown with their remedies only when `wide`.
pub(crate) fn text(findings: &[Finding], wide: bool) -> String {
    sorted(findings).into_iter().map(|finding| one(finding, wide || finding.severity > Severity::Note)).collect()
}

fn sorted(findings: &[Finding]) -> Vec<&Finding> {
    let mut sorted: Vec<&Finding> = findings.iter().collect();
    sorted.sort_by(|a, b| b.severity.cmp(&a.severity).then_with(|| a.cmp(b)));
    sorted
}

fn one(finding: &Finding, remedies: bool) -> String {
    let (mark, style) = mark(finding.severity);
    let head = paint(style, format!("{mark} {}[{}]", finding.severity.word(), finding.code));
    let mut text = format!("{head} {}\n    {}\n", paint(BOLD, &finding.subject), finding.message);
    for remedy in finding.remedies.iter().filter(|_| remedies) {
        text.push_str(&format!("    {} {remedy}\n", paint(DIM, "try:")));
    }
    text
}

/// The findings, a line each; what blocks or is not known comes with what to do about it.
pub(crate) fn short(findings: &[Finding]) -> String {
    let (worst, others): (Vec<&Finding>, Vec<&Finding>) =
        sorted(findings).into_iter().partition(|finding| finding.severity > Severity::Warning);
    let mut text: String = worst.into_iter().map(|finding| one(finding, true)).collect();
    for finding in others {
        let (mark, style) = mark(finding.severity);
        let head = paint(style, format!("{mark} {}[{}]", finding.severity.word(), finding.code));
        text.push_str(&format!("{head} {}: {}\n", finding.subject, finding.message));
    }
    text
}

/// `2 blocking, 1 warning`.
pub(crate) fn summary(findings: &[Finding]) -> String {
    let of = |severity| findings.iter().filter(|finding| finding.severity == severity).count();
    let parts: Vec<String> = [Severity::Blocking, Severity::Unknown, Severity::Warning, Severity::Note]
        .into_iter()
        .filter(|severity| of(*severity) > 0)
        .map(|severity| match severity {
            Severity::Warning | Severity::Note => count(of(severity), severity.word()),
            Severity::Blocking | Severity::Unknown => format!("{} {}", of(severity), severity.word()),
        })
        .collect();
    if parts.is_empty() { "nothing found".to_owned() } else { parts.join(", ") }
}

fn mark(severity: Severity) -> (&'static str, anstyle::Style) {
    match severity {
        Severity::Blocking => ("✗", BAD),
        Severity::Unknown => ("?", CARE),
        Severity::Warning => ("!", CARE),
        Severity::Note => ("·", GOOD),
    }
}
