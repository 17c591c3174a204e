//! The journal: what is written before what, and what a run makes of a journal that it finds.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

mod scripted;

use std::sync::Arc;

use rehome_engine::drive::{self, DriveError, End};
use rehome_engine::journal::{self, ChainError};
use rehome_engine::machine::{Action, Machine};
use rehome_engine::world::Stop;
use rehome_model::Digest;
use rehome_model::journal::{Event, Verdict};
use scripted::{Full, Scripted, again, begin, machine, plan, receipts, replay, run};

const DONE: End = End::Finished(Verdict::Done);
const BACK: End = End::Finished(Verdict::RolledBack);

#[test]
fn nothing_is_sent_that_could_not_be_written() {
    let mut world = Scripted::new();
    let (_, journal) = run(&mut world);
    for room in 0..journal.len() {
        let (mut world, mut store) = (Scripted::new(), Full { kept: Vec::new(), room });
        let mut machine = machine(plan());
        let failed = begin(&mut machine, &mut store)
            .and_then(|()| drive::drive(&mut machine, &mut world, &mut store, &mut ()).map(|_| ()));
        assert!(matches!(failed, Err(DriveError::Store(_))), "room for {room}: {failed:?}");
        let announced = store.kept.iter().filter(|record| matches!(record.event, Event::Intent { .. })).count();
        assert_eq!(world.sent.len(), announced, "room for {room}");
    }
}

#[test]
fn a_machine_from_any_prefix_goes_on_to_the_same_end() {
    let (_, whole) = run(&mut Scripted::new());
    for kept in 1..whole.len() {
        let (mut world, mut store) = (Scripted::new(), Full { kept: Vec::new(), room: kept });
        let mut machine = machine(plan());
        begin(&mut machine, &mut store).unwrap();
        assert!(drive::drive(&mut machine, &mut world, &mut store, &mut ()).is_err());
        let mut journal = store.kept;
        assert_eq!(journal, whole[..kept]);
        assert_eq!(again(&mut world, &mut journal, false), DONE, "after {kept} records");
        assert_eq!((receipts(&journal), world.pods_on("old"), world.pods_on("new")), (2, 0, 2));
        assert_eq!(world.evictions(), 2, "after {kept} records");
    }
}

#[test]
fn the_same_prefix_the_same_next_action() {
    let mut world = Scripted::new();
    let mut journal = Vec::new();
    let mut live = machine(plan());
    begin(&mut live, &mut journal).unwrap();
    loop {
        use rehome_engine::world::World as _;
        let (now, view) = (world.now(), world.view().clone());
        match live.next(&view, now) {
            Action::Record(event) => {
                // What is only known for a moment is read again by another process; what is decided by records is not.
                if matches!(event, Event::StepDone { .. } | Event::StepStarted { .. } | Event::Finished { .. }) {
                    let (mut one, mut two) = (replay(&journal), replay(&journal));
                    assert_eq!(one.next(&view, now), two.next(&view, now));
                }
                drive::keep(&mut live, &mut journal, &mut (), event, now).unwrap();
            }
            Action::Send { intent, request, audit_id } => {
                let outcome = world.send(&request, &audit_id);
                let now = world.now();
                drive::keep(&mut live, &mut journal, &mut (), Event::Answer { intent, outcome }, now).unwrap();
            }
            Action::Read { step, target } => {
                let read = world.read(&target);
                live.observe_read(&step, target, read, now);
            }
            Action::ListPods { step, node } => {
                let list = world.list_pods_on(&node);
                live.observe_list(&step, list, now, world.now());
            }
            Action::Wait { until, .. } => world.wait(until),
            Action::Stop => panic!("nobody asked to stop"),
            Action::End(end) => return assert_eq!(end, DONE),
        }
    }
}

#[test]
fn a_rollback_from_any_prefix_puts_back_what_is_ours() {
    let (_, whole) = run(&mut Scripted::new());
    for kept in 1..whole.len() {
        let (mut world, mut store) = (Scripted::new(), Full { kept: Vec::new(), room: kept });
        let mut machine = machine(plan());
        begin(&mut machine, &mut store).unwrap();
        assert!(drive::drive(&mut machine, &mut world, &mut store, &mut ()).is_err());
        let evicted = world.evictions();
        assert_eq!(again(&mut world, &mut store.kept, true), BACK, "after {kept} records");
        assert_eq!((world.fence(), world.truth.node("old").unwrap().unschedulable), (None, false), "after {kept}");
        assert_eq!(world.evictions(), evicted, "nothing is evicted by a rollback");
    }
}

#[test]
fn a_rollback_after_the_end_puts_back_and_a_second_one_is_refused_before_it_is_written() {
    let mut world = Scripted::new();
    let (_, mut journal) = run(&mut world);
    assert_eq!(again(&mut world, &mut journal, true), BACK);
    assert_eq!(world.fence(), None);
    let left = journal.iter().filter(|record| matches!(record.event, Event::Left { .. })).count();
    assert_eq!(left, 1, "the pods stay where they are, and that is said");
    let written = journal.len();
    let mut machine = replay(&journal);
    let now = world.now;
    assert!(matches!(drive::resume(&mut machine, &mut journal, &mut (), "t", 0, now), Err(DriveError::Replay(_))));
    assert_eq!(journal.len(), written);
}

#[test]
fn a_rollback_leaves_what_somebody_else_changed() {
    let mut world = Scripted::new();
    let (_, mut journal) = run(&mut world);
    world.set("old", |node| node.taints[0].value = "a person".to_owned());
    assert_eq!(again(&mut world, &mut journal, true), BACK);
    assert_eq!(world.fence().as_deref(), Some("a person"));
    assert!(!world.truth.node("old").unwrap().unschedulable, "the cordon was ours");
    let why = journal.iter().find_map(|record| match &record.event {
        Event::Left { step, why } if step == "w0/fence/old" => Some(why.clone()),
        _ => None,
    });
    assert!(why.unwrap().contains("a person"));
}

#[test]
fn a_cordon_that_was_there_before_is_not_ours() {
    let mut world = Scripted::new();
    world.set("old", |node| node.unschedulable = true);
    rehome_engine::world::World::wait(&mut world, scripted::START);
    let (end, mut journal) = run(&mut world);
    assert_eq!(end, DONE);
    assert_eq!(again(&mut world, &mut journal, true), BACK);
    assert!(world.truth.node("old").unwrap().unschedulable);
}

#[test]
fn an_interruption_falls_between_two_requests_and_is_resumed() {
    let mut world = Scripted::new();
    world.stop = Stop::Now;
    let (end, mut journal) = run(&mut world);
    assert_eq!((end, world.sent.len()), (End::Interrupted, 0));
    world.stop = Stop::No;
    assert_eq!(again(&mut world, &mut journal, false), DONE);
}

#[test]
fn a_journal_of_another_plan_or_with_a_record_that_does_not_follow_is_refused() {
    let (_, journal) = run(&mut Scripted::new());
    let other = Digest::of_bytes(b"another plan");
    assert!(Machine::replay(Arc::new(plan()), other, &journal).is_err());
    let mut swapped = journal.clone();
    swapped.swap(3, 4);
    assert!(Machine::replay(Arc::new(plan()), Digest::zero(), &swapped).is_err());
    let mut changed = journal.clone();
    changed[2].at = changed[2].at + rehome_model::Seconds::new(1);
    let error = Machine::replay(Arc::new(plan()), Digest::zero(), &changed).map(|_| ()).unwrap_err();
    assert_eq!(error.seq, 3);
}

#[test]
fn a_torn_tail_is_counted_and_a_broken_chain_is_refused() {
    let (_, records) = run(&mut Scripted::new());
    let text: String = records.iter().map(|record| journal::line(record).unwrap()).collect();
    let whole = journal::read(text.as_bytes()).unwrap();
    assert_eq!((whole.records, whole.torn_bytes), (records.clone(), 0));
    let end = text.len() - 1;
    let torn = journal::read(&text.as_bytes()[..end]).unwrap();
    assert_eq!(torn.records, records[..records.len() - 1]);
    assert_eq!(torn.whole_bytes + torn.torn_bytes, end as u64);
    let forged = text.replacen("\"test\"", "\"forged\"", 1);
    assert!(matches!(journal::read(forged.as_bytes()), Err(ChainError::Broken { seq: 1, .. })));
    let cut = text.split_inclusive('\n').skip(1).collect::<String>();
    assert!(matches!(journal::read(cut.as_bytes()), Err(ChainError::Broken { seq: 1, .. })));
}
