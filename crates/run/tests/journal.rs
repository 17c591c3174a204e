//! The journal on disk: torn tails are cut, broken chains are refused, one process at a time.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::path::Path;

use rehome_engine::journal::{ChainError, JournalStore as _};
use rehome_model::journal::{Event, Record};
use rehome_model::{Digest, Timestamp};
use rehome_run::journal_file::{self, FileJournal, JournalError};

/// Two records in a chain.
fn records() -> [Record; 2] {
    let record = |seq, prev, step: &str| Record {
        seq,
        at: Timestamp::EPOCH,
        prev,
        event: Event::StepDone { step: step.to_owned() },
    };
    let first = record(0, Digest::zero(), "w0/a");
    let second = record(1, Digest::of(&first).unwrap(), "w0/b");
    [first, second]
}

fn written(path: &Path) {
    let mut journal = FileJournal::create(path).unwrap();
    for record in &records() {
        journal.append(record).unwrap();
    }
}

#[test]
fn what_was_appended_is_there_again() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("run.jsonl");
    written(&path);
    let (_, held) = FileJournal::open(&path).unwrap();
    assert_eq!((held.records, held.torn_bytes), (records().to_vec(), 0));
}

#[test]
fn a_journal_is_never_overwritten_and_belongs_to_one_process() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("run.jsonl");
    written(&path);
    assert!(matches!(FileJournal::create(&path), Err(JournalError::Exists { .. })));
    let (_held, _) = FileJournal::open(&path).unwrap();
    assert!(matches!(FileJournal::open(&path), Err(JournalError::InUse { .. })));
}

#[test]
fn every_torn_tail_is_cut_off_and_its_bytes_are_said() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("run.jsonl");
    written(&path);
    let whole = std::fs::read(&path).unwrap();
    let first = whole.iter().position(|byte| *byte == b'\n').unwrap() + 1;
    for length in first..whole.len() {
        std::fs::write(&path, &whole[..length]).unwrap();
        let (mut journal, held) = FileJournal::open(&path).unwrap();
        assert_eq!((held.records.len(), held.torn_bytes), (1, (length - first) as u64));
        journal.append(&records()[1]).unwrap();
        assert_eq!(std::fs::read(&path).unwrap(), whole);
    }
    std::fs::write(&path, &whole[..first / 2]).unwrap();
    assert!(matches!(FileJournal::open(&path), Err(JournalError::Empty { .. })));
}

#[test]
fn an_edited_a_lost_and_a_strange_record_are_refused_with_their_line() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("run.jsonl");
    written(&path);
    let text = std::fs::read_to_string(&path).unwrap();
    let broken = |text: &str| {
        std::fs::write(&path, text).unwrap();
        journal_file::read(&path).unwrap_err()
    };
    assert!(matches!(
        broken(&text.replace("w0/a", "w0/x")),
        JournalError::Chain { source: ChainError::Broken { seq: 1, .. }, .. }
    ));
    let second = text.lines().nth(1).unwrap();
    assert!(matches!(broken(&format!("{second}\n")), JournalError::Chain { source: ChainError::Broken { .. }, .. }));
    assert!(matches!(
        broken(&text.replace("stepDone", "stepSkipped")),
        JournalError::Chain { source: ChainError::NotARecord { line: 1, .. }, .. }
    ));
}

#[test]
fn a_record_that_cannot_be_kept_is_an_error_and_the_next_one_too() {
    // Refused by the kernel with ENOSPC, as on a full disk.
    if !Path::new("/dev/full").exists() {
        return;
    }
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("run.jsonl");
    std::os::unix::fs::symlink("/dev/full", &path).unwrap();
    assert!(FileJournal::create(&path).is_err(), "a link is not a new file");
}
