//! Killed at every record in turn, and resumed or rolled back: the same end, and every invariant holds.
//!
//! A kill drops the machine and keeps the world. What it leaves of the journal is what had been flushed, and a torn
//! piece of the line that was being written.

use std::collections::BTreeMap;
use std::sync::Arc;

use rehome_engine::drive::{self, DriveError, End};
use rehome_engine::journal::{self, JournalStore, StoreFailed};
use rehome_engine::machine::Machine;
use rehome_engine::world::World as _;
use rehome_k8s::View;
use rehome_k8s::node::{Node, UNSCHEDULABLE_TAINT};
use rehome_k8s::toleration::Taint;
use rehome_model::Digest;
use rehome_model::journal::{Event, Record, Verdict};
use rehome_sim::SimWorld;

use crate::moved;
use crate::scenario::{Scenario, case, on_two_threads, six_to_six};

/// The seed of ties, jitter and delays.
const SEED: u64 = 11;

/// When the process dies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Death {
    /// While this record is written: a piece of its line is left.
    While(u64),
    /// Right after this record was flushed: what it announces is not sent.
    After(u64),
    Never,
}

/// A disk that outlives the process.
struct Disk {
    bytes: Vec<u8>,
    death: Death,
}

impl JournalStore for Disk {
    fn append(&mut self, record: &Record) -> Result<(), StoreFailed> {
        let line = journal::line(record).unwrap();
        let dead = || Err(StoreFailed { message: "killed".to_owned() });
        if self.death == Death::While(record.seq) {
            self.bytes.extend_from_slice(&line.as_bytes()[..line.len() / 2]);
            return dead();
        }
        self.bytes.extend_from_slice(line.as_bytes());
        if self.death == Death::After(record.seq) { dead() } else { Ok(()) }
    }
}

impl Scenario {
    fn machine(&self) -> Machine {
        Machine::new(Arc::new(self.plan.clone()), Digest::of(&self.plan).unwrap())
    }

    /// Runs until the process dies, and gives what it leaves behind.
    fn until(&self, death: Death) -> (SimWorld, Disk) {
        let mut world = self.world(SEED);
        let mut disk = Disk { bytes: Vec::new(), death };
        let mut machine = self.machine();
        let now = world.now();
        let result = drive::start(&mut machine, &mut disk, &mut (), moved::start(&self.plan), now)
            .and_then(|()| drive::drive(&mut machine, &mut world, &mut disk, &mut ()));
        match (death, result) {
            (Death::Never, Ok(End::Finished(Verdict::Done))) | (_, Err(DriveError::Store(_))) => (world, disk),
            (_, other) => panic!("{death:?}: {other:?}"),
        }
    }

    /// Takes a run up from what is on the disk, as another process would.
    fn take_up(&self, world: &mut SimWorld, disk: &Disk, undo: bool) -> (End, Vec<Record>) {
        let read = journal::read(&disk.bytes).unwrap();
        let torn_bytes = read.torn_bytes;
        let mut store = read.records.clone();
        let mut machine = if read.records.is_empty() {
            let mut machine = self.machine();
            drive::start(&mut machine, &mut store, &mut (), moved::start(&self.plan), world.now()).unwrap();
            machine
        } else {
            let plan = Arc::new(self.plan.clone());
            Machine::replay(plan, Digest::of(&self.plan).unwrap(), &read.records).unwrap()
        };
        if machine.finished().is_none() {
            let resumed = Event::Resumed { program: "test".to_owned(), torn_bytes };
            drive::keep(&mut machine, &mut store, &mut (), resumed, world.now()).unwrap();
            if undo {
                drive::keep(&mut machine, &mut store, &mut (), Event::UndoStarted {}, world.now()).unwrap();
            }
        }
        let end = drive::drive(&mut machine, world, &mut store, &mut ()).unwrap();
        (end, store)
    }
}

/// Everything about nodes that a run writes. The taint of a cordon is the node controller's, which follows a moment later.
fn node_settings(view: &View) -> BTreeMap<String, (bool, Vec<Taint>)> {
    let settings = |node: &Node| {
        let taints = node.taints.iter().filter(|taint| taint.key != UNSCHEDULABLE_TAINT).cloned().collect();
        (node.unschedulable, taints)
    };
    view.nodes().map(|node| (node.name().to_owned(), settings(node))).collect()
}

#[test]
fn six_to_six_killed_at_every_record() {
    sweep("six-to-six", &six_to_six());
}

#[test]
fn the_demo_killed_at_every_record() {
    sweep("demo", &case("demo"));
}

#[test]
fn workloads_on_one_volume_killed_at_every_record() {
    sweep("shared-volume", &case("shared-volume"));
}

#[test]
fn an_ordered_set_killed_at_every_record() {
    sweep("statefulset-ordered", &case("statefulset-ordered"));
}

/// Each point is resumed to the same end, and rolled back to the beginning.
fn sweep(name: &str, scenario: &Scenario) {
    let (uncut, disk) = scenario.until(Death::Never);
    let records = journal::read(&disk.bytes).unwrap().records;
    let due = records.iter().filter(|record| matches!(record.event, Event::Moved { .. })).count();
    let settings_before = node_settings(&scenario.before);
    let settings_after = node_settings(uncut.truth());
    let deaths: Vec<Death> = (0..records.len() as u64).flat_map(|seq| [Death::While(seq), Death::After(seq)]).collect();
    on_two_threads(deaths.len(), |index| {
        let death = deaths[index];
        let (world, disk) = scenario.until(death);

        let mut resumed = world.clone();
        let (end, journal) = scenario.take_up(&mut resumed, &disk, false);
        assert_eq!(end, End::Finished(Verdict::Done), "{death:?}: {:?}", journal.last());
        assert_eq!(node_settings(resumed.truth()), settings_after, "{death:?}");
        let receipts = journal.iter().filter(|record| matches!(record.event, Event::Moved { .. })).count();
        assert_eq!(receipts, due, "{death:?}: one receipt for each pod");
        let violations = moved::violations(&scenario.before, &scenario.plan, &journal, &resumed);
        assert!(violations.is_empty(), "{death:?}: {violations:#?}");

        let mut undone = world;
        let (end, _) = scenario.take_up(&mut undone, &disk, true);
        let finished = index + 1 == deaths.len();
        let expected =
            if finished { (Verdict::Done, &settings_after) } else { (Verdict::RolledBack, &settings_before) };
        assert_eq!(end, End::Finished(expected.0), "{death:?}");
        assert_eq!(&node_settings(undone.truth()), expected.1, "{death:?}: every field has its old value");
    });
    println!("{name}: killed at {} points of {} records: all resumed, all rolled back", deaths.len(), records.len());
}
