//! The figures as text.

use std::fmt::Write as _;

use rehome_model::time::Seconds;

use super::Size;
use super::drained::Drained;
use super::measured::Cost;
use super::moved::Moved;
use super::requests::Requests;

/// The most memory that the program may hold at once, in MiB.
pub const MEMORY: u64 = 300;
/// The most requests beside watches for each pod that is moved.
pub const REQUESTS: f64 = 3.0;

/// The table.
#[must_use]
pub fn text(size: Size, moved: &Moved, drained: Option<&Drained>) -> String {
    let mut text = format!("{} nodes, {} on the move at once\n\n", size.nodes, size.parallel);
    let mut row = |name: &str, rehome: String, kubectl: String, target: &str| {
        // Writing to a String cannot fail.
        let _ = writeln!(text, "{}", format!("{name:<34}{rehome:>16}{kubectl:>16}  {target}").trim_end());
    };
    let other = |value: &dyn Fn(&Drained) -> String| drained.map(value).unwrap_or_default();
    row("", "rehome".to_owned(), "kubectl drain".to_owned(), "TARGET");
    row("nodes emptied", (size.nodes / 2).to_string(), other(&|d| d.nodes.to_string()), "");
    row("pods moved", moved.pods.to_string(), other(&|d| d.pods.to_string()), "");
    let (peak, per_pod) = (mebibytes(moved.run), per_pod(&moved.requests, moved.pods));
    row(
        "peak memory, run",
        peak.clone(),
        other(&|d| mebibytes(d.run)),
        &target(moved.run.peak_kib <= MEMORY * 1024, &format!("{MEMORY} MiB")),
    );
    for (name, cost) in &moved.before {
        row(
            &format!("peak memory, {name}"),
            mebibytes(*cost),
            String::new(),
            &target(cost.peak_kib <= MEMORY * 1024, &format!("{MEMORY} MiB")),
        );
    }
    row(
        "requests a moved pod",
        format!("{per_pod:.2}"),
        other(&|d| format!("{:.2}", self::per_pod(&d.requests, d.pods))),
        &target(per_pod <= REQUESTS, &format!("{REQUESTS}")),
    );
    let mut kinds: Vec<&String> = moved.requests.by_kind.keys().collect();
    kinds.extend(drained.iter().flat_map(|drained| drained.requests.by_kind.keys()));
    kinds.sort();
    kinds.dedup();
    for kind in kinds {
        let count = |requests: &Requests| requests.by_kind.get(kind).copied().unwrap_or(0).to_string();
        row(&format!("  {kind}"), count(&moved.requests), other(&|d| count(&d.requests)), "");
    }
    row("watches opened", moved.requests.watches.to_string(), other(&|d| d.requests.watches.to_string()), "");
    row("took", moved.took.to_string(), other(&|d| d.run.took.to_string()), "");
    row("took a node", each(moved.took, size.nodes / 2), other(&|d| each(d.run.took, d.nodes)), "");
    row("critical path", moved.critical_path.length.to_string(), String::new(), "");
    row("rollouts restarted", moved.rollouts.to_string(), String::new(), "");
    row("journal", format!("{:.1} MiB", kib_to_mib(moved.journal / 1024)), String::new(), "");
    text
}

/// Requests beside watches for each pod.
#[must_use]
pub fn per_pod(requests: &Requests, pods: usize) -> f64 {
    #[expect(clippy::cast_precision_loss, reason = "some ten thousands")]
    let ratio = requests.total() as f64 / pods.max(1) as f64;
    ratio
}

fn target(met: bool, limit: &str) -> String {
    format!("≤ {limit} {}", if met { "met" } else { "NOT MET" })
}

fn mebibytes(cost: Cost) -> String {
    format!("{:.0} MiB", kib_to_mib(cost.peak_kib))
}

fn kib_to_mib(kib: u64) -> f64 {
    #[expect(clippy::cast_precision_loss, reason = "2^53 KiB are more than any machine has")]
    let mebibytes = kib as f64 / 1024.0;
    mebibytes
}

fn each(time: Seconds, of: usize) -> String {
    Seconds::from_millis(time.as_millis() / i64::try_from(of).unwrap_or(1).max(1)).to_string()
}
