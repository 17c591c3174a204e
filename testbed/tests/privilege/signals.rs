//! Interrupts: once, and the steps under way end; twice, and it is over at once. A run goes on from either.

use std::collections::BTreeSet;
use std::process::{Child, Stdio};

use rehome_model::exit;
use rehome_model::journal::{Event, Record};
use rehome_testbed::clock;
use rustix::process::{Pid, Signal, kill_process};

use crate::place::{LIMIT, Place};
use crate::program::{self, Ran};

/// Sends a signal to a process of ours.
pub(crate) fn signal(child: &Child, signal: Signal) {
    kill_process(Pid::from_child(child), signal).unwrap();
}

/// The records of the run so far.
fn records(place: &Place) -> Vec<Record> {
    rehome_engine::journal::read(place.journal().as_bytes()).map(|read| read.records).unwrap_or_default()
}

/// Steps that were begun, and those of them that are done.
fn steps(records: &[Record]) -> (BTreeSet<&str>, BTreeSet<&str>) {
    let (mut begun, mut done) = (BTreeSet::new(), BTreeSet::new());
    for record in records {
        match &record.event {
            Event::StepStarted { step, .. } => drop(begun.insert(step.as_str())),
            Event::StepDone { step } => drop(done.insert(step.as_str())),
            _ => {}
        }
    }
    (begun, done)
}

/// Closes or opens the new nodes for new pods. A cordon would be drift, which a run waits for before it begins a step.
fn taint(place: &Place, taint: &str) {
    for node in place.pool("new").split(',') {
        place.plane.kubectl(&["taint", "node", node, taint]).unwrap();
    }
}

/// A run that cannot get past its first eviction or rollout: new pods do not become Ready before `release`.
struct Held {
    place: Place,
    child: Child,
}

impl Held {
    fn begin(name: &str) -> Self {
        let place = Place::new(name);
        let admin = place.plane.admin_kubeconfig();
        place.prepare(admin);
        taint(&place, "held=yes:NoSchedule");
        let child = program::command(place.folder(), &place.execute(admin))
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let held = Self { place, child };
        held.wait_for("pods under way", |records| {
            records.iter().any(|record| matches!(&record.event, Event::Answer { .. }))
                && steps(records).0.iter().any(|step| step.contains("/move/"))
        });
        held
    }

    fn wait_for(&self, what: &str, holds: impl Fn(&[Record]) -> bool) {
        clock::wait_for(what, LIMIT, || {
            let records = records(&self.place);
            if holds(&records) { Ok(()) } else { Err(format!("{:?}", records.last())) }
        })
        .unwrap();
    }

    /// Pods can go to the new nodes.
    fn release(&self) {
        taint(&self.place, "held-");
    }

    fn end(self) -> (Place, Ran) {
        let output = self.child.wait_with_output().unwrap();
        let ran = Ran::of(&output);
        println!("{}{}", ran.stdout, ran.stderr);
        (self.place, ran)
    }
}

fn resumed(place: &Place) {
    let file = place.plane.admin_kubeconfig().to_str().unwrap();
    place.expect(exit::DONE, &["resume", "--kubeconfig", file, "--journal", "plan.journal.jsonl"]);
    assert!(place.moved());
}

fn once(name: &str, which: Signal) {
    let mut held = Held::begin(name);
    signal(&held.child, which);
    // It goes on as long as a step is under way.
    assert_eq!(held.child.try_wait().unwrap(), None, "steps are under way");
    held.release();
    let (place, ran) = held.end();
    assert_eq!(ran.code, i32::from(exit::INTERRUPTED), "{}", ran.stderr);
    assert!(ran.stderr.contains("interrupted: the steps under way are seen through"), "{}", ran.stderr);
    assert!(ran.stderr.contains("next: rehome resume --journal plan.journal.jsonl"), "{}", ran.stderr);
    let records = records(&place);
    assert!(matches!(records.last().unwrap().event, Event::Interrupted {}), "{:?}", records.last());
    let (begun, done) = steps(&records);
    assert_eq!(begun, done, "what was begun is done");
    assert!(!place.moved(), "and not all was begun");
    resumed(&place);
}

#[test]
fn one_interrupt_lets_the_steps_under_way_end_and_begins_no_other() {
    once("sigint", Signal::INT);
}

#[test]
fn a_termination_is_an_interrupt() {
    once("sigterm", Signal::TERM);
}

#[test]
fn a_second_interrupt_ends_it_at_once() {
    let held = Held::begin("twice");
    signal(&held.child, Signal::INT);
    signal(&held.child, Signal::TERM);
    let (place, ran) = held.end();
    assert_eq!(ran.code, i32::from(exit::INTERRUPTED), "{}", ran.stderr);
    assert!(ran.stderr.contains("stopped at once"), "{}", ran.stderr);
    assert!(ran.stderr.contains("next: rehome resume --journal plan.journal.jsonl"), "{}", ran.stderr);
    let records = records(&place);
    let (begun, done) = steps(&records);
    assert_ne!(begun, done, "a step was under way");
    taint(&place, "held-");
    resumed(&place);
}
