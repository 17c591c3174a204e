//! A snapshot: what is in it, and what is not.

use std::collections::BTreeMap;

use rehome_k8s::{Kind, View};
use rehome_model::Digest;
use rehome_model::snapshot::{GapReason, Snapshot};

use super::table::Table;

/// Objects by kind, and the gaps.
pub(crate) fn text(snapshot: &Snapshot, view: &View, digest: &Digest, wide: bool) -> String {
    let mut text = format!("Snapshot of cluster {}\n", super::cluster(&snapshot.cluster));
    text.push_str(&format!("taken {}, digest {}\n\n", snapshot.taken, digest.short()));
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    for record in view.records() {
        *counts.entry(record.kind().name()).or_default() += 1;
    }
    let mut table = Table::new(["KIND", "OBJECTS"]);
    for kind in Kind::ALL.iter().filter(|kind| view.gap(**kind).is_none()) {
        table.row([kind.name().to_owned(), counts.get(kind.name()).copied().unwrap_or(0).to_string()]);
    }
    text.push_str(&table.render(""));
    let mut gaps = Table::new(["NOT KNOWN", "WHY"]);
    for gap in &snapshot.gaps {
        let why = match gap.reason {
            GapReason::Forbidden => "forbidden",
            GapReason::NotServed => "not served",
            GapReason::NotProvided => "not in the files",
            GapReason::Unreadable => "unreadable",
        };
        gaps.row([gap.source.clone(), if wide { format!("{why}: {}", gap.message) } else { why.to_owned() }]);
    }
    if !gaps.is_empty() {
        text.push_str(&format!("\n{}", gaps.render("")));
    }
    if wide && !snapshot.redacted.is_empty() {
        text.push_str("\nTaken out:\n");
        text.extend(snapshot.redacted.iter().map(|what| format!("  {what}\n")));
    }
    text
}
