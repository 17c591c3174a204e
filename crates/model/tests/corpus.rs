//! The golden corpus: documents of every kind, from the first release on, are read and keep their digests.
//!
//! A file of the corpus is never changed; what a later release adds gets a new file. The digests were written when the
//! file was new (`cargo xtask gen`), so a reader that computes another digest cannot hide it.

#![expect(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use rehome_model::Digest;
use rehome_model::approval::Approval;
use rehome_model::behaviour::Behaviour;
use rehome_model::check::Check;
use rehome_model::document::{self, Document, Loaded, ReadError};
use rehome_model::flavor::Catalogue;
use rehome_model::intent::Intent;
use rehome_model::journal::Record;
use rehome_model::plan::Plan;
use rehome_model::rehearsal::Rehearsal;
use rehome_model::sizing::Sizing;
use rehome_model::snapshot::Snapshot;
use rehome_model::verification::Verification;
use serde_json::{Value, json};

/// A document by file name, as it was read: its generic JSON, written again, and its digest.
type Read = fn(&str) -> Result<(Value, Digest), ReadError>;

/// How a file is read, by the beginning of its name (`plan.json`, `plan-2.json`).
const READERS: [(&str, Read); 10] = [
    ("approval", read::<Approval>),
    ("behaviour", read::<Behaviour>),
    ("catalogue", read::<Catalogue>),
    ("check", read::<Check>),
    ("intent", read::<Intent>),
    ("plan", read::<Plan>),
    ("rehearsal", read::<Rehearsal>),
    ("sizing", read::<Sizing>),
    ("snapshot", read_snapshot),
    ("verification", read::<Verification>),
];

fn read<D: Document>(text: &str) -> Result<(Value, Digest), ReadError> {
    let Loaded { document, digest } = document::read::<D>(text)?;
    Ok((serde_json::to_value(document).unwrap(), digest))
}

fn read_snapshot(text: &str) -> Result<(Value, Digest), ReadError> {
    let Loaded { document, digest } = Snapshot::read(text)?;
    Ok((serde_json::to_value(document).unwrap(), digest))
}

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../corpus/v1alpha1")
}

fn text(name: &str) -> String {
    std::fs::read_to_string(folder().join(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
}

/// The digests by file name.
fn digests() -> BTreeMap<String, Digest> {
    let lines = text("digests.txt");
    let pairs = lines.lines().map(|line| line.split_once("  ").unwrap());
    pairs.map(|(digest, name)| (name.to_owned(), digest.parse().unwrap())).collect()
}

/// All documents with their readers; the journal is lines and has its own test.
fn documents() -> Vec<(String, Read)> {
    let files = digests().into_keys().filter(|name| name.ends_with(".json"));
    files
        .map(|name| {
            let kind = name.split(['.', '-']).next().unwrap_or_default().to_owned();
            let reader = READERS.iter().find(|(known, _)| *known == kind);
            (name.clone(), reader.unwrap_or_else(|| panic!("no reader for {name}")).1)
        })
        .collect()
}

#[test]
fn every_kind_is_in_the_corpus_and_every_file_has_a_digest() {
    let digests = digests();
    for (kind, _) in READERS {
        assert!(digests.contains_key(&format!("{kind}.json")), "{kind}");
    }
    for entry in std::fs::read_dir(folder()).unwrap() {
        let name = entry.unwrap().file_name().into_string().unwrap();
        assert!(name == "digests.txt" || digests.contains_key(&name), "{name}");
    }
}

#[test]
fn every_document_is_still_read_and_keeps_its_digest() {
    let digests = digests();
    for (name, reader) in documents() {
        let (_, digest) = reader(&text(&name)).unwrap_or_else(|error| panic!("{name}: {error}"));
        assert_eq!(digest, digests[&name], "{name}");
    }
}

#[test]
fn an_unknown_field_changes_the_digest_and_nothing_else() {
    for (name, reader) in documents() {
        let text = text(&name);
        let (before, digest) = reader(&text).unwrap();
        let mut value: Value = serde_json::from_str(&text).unwrap();
        value["fromTheFuture"] = json!({"b": [1, 2], "a": null});
        let (after, other) = reader(&value.to_string()).unwrap_or_else(|error| panic!("{name}: {error}"));
        assert_eq!(after, before, "{name}");
        assert_ne!(other, digest, "{name}");
    }
}

#[test]
fn the_order_of_fields_and_white_space_change_nothing() {
    for (name, reader) in documents() {
        let text = text(&name);
        let value: Value = serde_json::from_str(&text).unwrap();
        let canonical = rehome_model::canonical::to_string(&value).unwrap();
        assert_ne!(canonical, text, "{name}");
        assert_eq!(reader(&canonical).unwrap(), reader(&text).unwrap(), "{name}");
    }
}

#[test]
fn another_version_or_kind_is_refused_by_name() {
    for (name, reader) in documents() {
        let value: Value = serde_json::from_str(&text(&name)).unwrap();
        for field in ["apiVersion", "kind"] {
            let mut other = value.clone();
            other[field] = json!("rehome.dev/v9");
            let error = reader(&other.to_string()).unwrap_err().to_string();
            assert!(error.contains("rehome.dev/v9"), "{name}: {error}");
        }
    }
}

#[test]
fn an_unknown_verb_is_refused_by_name() {
    let mut plan: Value = serde_json::from_str(&text("plan.json")).unwrap();
    plan["waves"][0]["steps"][0]["verb"] = json!("teleport");
    let error = read::<Plan>(&plan.to_string()).unwrap_err().to_string();
    assert!(error.contains("teleport") && error.contains("evict"), "{error}");
}

#[test]
fn an_unknown_condition_field_or_undo_is_refused_by_name() {
    let plan: Value = serde_json::from_str(&text("plan.json")).unwrap();
    for (path, tag) in
        [("/waves/0/steps/0/requires/0", "if"), ("/waves/0/steps/0/field", "field"), ("/waves/0/steps/0/undo", "undo")]
    {
        let mut other = plan.clone();
        other.pointer_mut(path).unwrap()[tag] = json!("teleport");
        let error = read::<Plan>(&other.to_string()).unwrap_err().to_string();
        assert!(error.contains("teleport"), "{path}: {error}");
    }
}

#[test]
fn every_line_of_a_journal_is_read_and_the_chain_is_whole() {
    let digests = digests();
    for name in digests.keys().filter(|name| name.ends_with(".jsonl")) {
        let mut prev = Digest::zero();
        for (index, line) in text(name).lines().enumerate() {
            let record: Record = serde_json::from_str(line).unwrap_or_else(|error| panic!("{name}:{index}: {error}"));
            assert_eq!((record.seq, &record.prev), (index as u64, &prev), "{name}");
            prev = Digest::of(&serde_json::from_str::<Value>(line).unwrap()).unwrap();
        }
        assert_eq!(prev, digests[name], "{name}");
    }
}

#[test]
fn an_unknown_event_or_request_in_a_journal_is_refused_by_name() {
    let lines = text("journal.jsonl");
    let mut start: Value = serde_json::from_str(lines.lines().next().unwrap()).unwrap();
    start["event"] = json!("teleported");
    let error = serde_json::from_value::<Record>(start).unwrap_err().to_string();
    assert!(error.contains("teleported"), "{error}");

    let intent = lines.lines().find(|line| line.contains(r#""request":"evict""#)).unwrap();
    let mut intent: Value = serde_json::from_str(intent).unwrap();
    intent["request"]["request"] = json!("teleport");
    let error = serde_json::from_value::<Record>(intent).unwrap_err().to_string();
    assert!(error.contains("teleport"), "{error}");
}
