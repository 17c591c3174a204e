//! A process that is frozen in the middle, and thawed after another has taken its run over.

use rehome_model::exit;
use rehome_testbed::audit::read;
use rustix::process::Signal;

use crate::place::Place;
use crate::program;
use crate::run::{Held, in_order};

/// How many changes the API server saw that a journal announces.
fn writes(place: &Place) -> usize {
    let events = read::log(&place.plane.audit_log()).unwrap();
    // `<run>/<intent>/<attempt>`; kubectl's are UUIDs, and the journal's own begin with its name.
    let changes = |event: &&rehome_testbed::audit::AuditEvent| {
        event.audit_id.contains('/') && !event.audit_id.starts_with("rehome-journal/")
    };
    events.iter().filter(changes).count()
}

#[test]
fn a_run_that_was_frozen_and_thawed_after_a_takeover_sends_nothing_more() {
    let held = Held::begin("frozen");
    held.run.signal(Signal::STOP);
    held.release();
    let there = held.elsewhere();
    let Held { place, kubeconfig, run: zombie } = held;

    let resume = ["resume", "--kubeconfig", &kubeconfig, "--approval", "approval.json", "--journal", "mine.jsonl"];
    program::expect(exit::DONE, there.path(), &resume);
    assert!(place.moved());
    let before = writes(&place);

    zombie.signal(Signal::CONT);
    let ran = zombie.end();
    assert_eq!(ran.code, i32::from(exit::INTERRUPTED), "{}", ran.stderr);
    assert!(ran.stderr.contains("this process holds the run no more"), "{}", ran.stderr);
    assert!(ran.stderr.contains("was taken over by process"), "{}", ran.stderr);
    let after = writes(&place);
    assert!(after <= before + 1, "at most the one request that it was about to send: {before} and {after}");
    assert!(place.moved(), "and no harm is done");
    in_order(&place, &there.path().join("mine.jsonl"));
}
