//! What becomes of a file when a run is taken up again.

use rehome_model::journal::Event;
use rehome_model::snapshot::ClusterIdentity;
use rehome_model::{Digest, Timestamp};

use super::*;

fn next(records: &[Record], event: Event) -> Record {
    let prev = records.last().map_or_else(Digest::zero, |last| Digest::of(last).unwrap());
    Record { seq: records.len() as u64, at: Timestamp::EPOCH, prev, event }
}

fn begun(run: &str) -> Vec<Record> {
    let api_version = rehome_model::document::API_VERSION.to_owned();
    let plan = Digest::of_bytes(b"plan");
    let cluster = ClusterIdentity::default();
    let (run, program) = (run.to_owned(), "rehome".to_owned());
    vec![next(&[], Event::RunStarted { api_version, run, plan, approval: None, cluster, program })]
}

fn with(mut records: Vec<Record>, events: impl IntoIterator<Item = Event>) -> Vec<Record> {
    for event in events {
        records.push(next(&records, event));
    }
    records
}

fn resumed() -> Event {
    Event::Resumed { program: "rehome".to_owned(), torn_bytes: 0 }
}

/// A file with these records, settled by those of the cluster, and what it holds then.
fn settled(folder: &Path, file: &[Record], cluster: &[Record]) -> (Result<Settled, SettleError>, Vec<Record>) {
    let path = folder.join("journal.jsonl");
    drop(adopt(&path, file).unwrap());
    let (journal, held) = FileJournal::open(&path).unwrap();
    let settled = settle(journal, held, cluster);
    (settled, crate::journal_file::read(&path).unwrap().records)
}

#[test]
fn a_file_that_is_ahead_stays_as_it_is() {
    let folder = tempfile::tempdir().unwrap();
    let file = with(begun("a"), [Event::Interrupted {}]);
    let (settled, now) = settled(folder.path(), &file, &file[..1]);
    let settled = settled.unwrap();
    assert_eq!((settled.winner, settled.held.records, now), (Winner::File { more: 1 }, file.clone(), file));
}

#[test]
fn a_file_that_is_behind_is_brought_forward() {
    let folder = tempfile::tempdir().unwrap();
    let cluster = with(begun("a"), [Event::Interrupted {}, resumed()]);
    let (settled, now) = settled(folder.path(), &cluster[..1], &cluster);
    let settled = settled.unwrap();
    assert_eq!((settled.winner, settled.held.records, now), (Winner::Cluster { more: 2 }, cluster.clone(), cluster));
    assert_eq!(settled.set_aside, None);
}

#[test]
fn a_file_that_says_something_else_is_set_aside_and_never_overwritten() {
    let folder = tempfile::tempdir().unwrap();
    let file = with(begun("a"), [Event::Interrupted {}]);
    let cluster = with(begun("a"), [resumed(), Event::Interrupted {}]);
    for name in ["journal.jsonl.until-1", "journal.jsonl.until-1.2"] {
        let (settled, now) = settled(folder.path(), &file, &cluster);
        let settled = settled.unwrap();
        assert_eq!(settled.winner, Winner::ClusterInstead { common: 1, dropped: 1 });
        assert_eq!((&settled.held.records, &now), (&cluster, &cluster));
        let aside = settled.set_aside.unwrap();
        assert_eq!(aside, folder.path().join(name));
        assert_eq!(crate::journal_file::read(&aside).unwrap().records, file);
        std::fs::remove_file(folder.path().join("journal.jsonl")).unwrap();
    }
}

#[test]
fn a_file_of_another_run_is_refused_and_untouched() {
    let folder = tempfile::tempdir().unwrap();
    let file = begun("b");
    let (settled, now) = settled(folder.path(), &file, &begun("a"));
    assert!(matches!(settled, Err(SettleError::OtherRun { .. })));
    assert_eq!(now, file);
}
