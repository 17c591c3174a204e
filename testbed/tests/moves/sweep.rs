//! Killed at every record in turn, and resumed or rolled back: the same end, and every invariant holds. Resumed from the
//! file, and by another machine from the copy in the cluster alone.
//!
//! A kill drops the machine and keeps the world. What it leaves of the journal is what had been flushed, a torn piece of
//! the line that was being written, and what had gone up to the cluster.

use std::collections::BTreeMap;
use std::sync::Arc;

use rehome_engine::cluster_journal::{self, Claimant, ClusterJournal, Holder, InMemory, takeover_after};
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
pub(crate) const SEED: u64 = 11;

/// When the process dies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Death {
    /// While this record is written: a piece of its line is left.
    While(u64),
    /// Right after this record was flushed: what it announces is not sent.
    After(u64),
    /// Right after this record could have gone up to the cluster: what it announces is not sent.
    Up(u64),
    Never,
}

/// A disk that outlives the process, and so does the copy in the cluster.
struct Disk {
    bytes: Vec<u8>,
    cluster: ClusterJournal<InMemory>,
    death: Death,
}

pub(crate) fn claimant(plan: &Digest, pid: u32) -> Claimant {
    let holder = Holder { id: format!("id-{pid}"), host: "bastion".to_owned(), pid, file: None };
    Claimant { holder, run: "run".to_owned(), plan: plan.clone() }
}

impl JournalStore for Disk {
    fn append(&mut self, record: &Record) -> Result<(), StoreFailed> {
        let line = journal::line(record).unwrap();
        let dead = || Err(StoreFailed::Unwritable { message: "killed".to_owned() });
        if self.death == Death::While(record.seq) {
            self.bytes.extend_from_slice(&line.as_bytes()[..line.len() / 2]);
            return dead();
        }
        self.bytes.extend_from_slice(line.as_bytes());
        if self.death == Death::After(record.seq) {
            return dead();
        }
        self.cluster.append(record)?;
        if self.death == Death::Up(record.seq) { dead() } else { Ok(()) }
    }
}

/// The journal of a machine that has nothing but the copy in the cluster.
struct Elsewhere {
    records: Vec<Record>,
    cluster: ClusterJournal<InMemory>,
}

impl JournalStore for Elsewhere {
    fn append(&mut self, record: &Record) -> Result<(), StoreFailed> {
        self.records.push(record.clone());
        self.cluster.append(record)
    }
}

impl Death {
    fn around(seq: u64) -> [Self; 3] {
        [Self::While(seq), Self::After(seq), Self::Up(seq)]
    }

    fn at(self) -> u64 {
        match self {
            Self::While(seq) | Self::After(seq) | Self::Up(seq) => seq,
            Self::Never => u64::MAX,
        }
    }
}

impl Scenario {
    pub(crate) fn machine(&self) -> Machine {
        Machine::new(Arc::new(self.plan.clone()), Digest::of(&self.plan).unwrap())
    }

    /// Runs until the process dies, and gives what it leaves behind.
    fn until(&self, death: Death) -> (SimWorld, Disk) {
        let mut world = self.world(SEED);
        let mut machine = self.machine();
        let claimant = claimant(&Digest::of(&self.plan).unwrap(), 1);
        let cluster = cluster_journal::begin(InMemory::default(), claimant, "the plan", None, &mut ()).unwrap();
        let mut disk = Disk { bytes: Vec::new(), cluster, death };
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
        let mut store = read.records.clone();
        let end = self.go_on(world, &read.records, read.torn_bytes, &mut store, undo);
        (end, store)
    }

    /// Takes a run up from the copy in the cluster, as another machine would: it waits until the holder was silent for
    /// long enough, and the cluster goes on meanwhile.
    pub(crate) fn take_over(&self, world: &mut SimWorld, objects: InMemory) -> (End, Vec<Record>) {
        let copied = cluster_journal::read(&mut objects.clone()).unwrap().unwrap();
        let until = world.now() + takeover_after();
        while world.now() < until {
            world.wait(until);
        }
        let claimant = claimant(&copied.head.plan, 2);
        let held = copied.records.clone();
        let cluster = cluster_journal::take(objects, claimant, Some(copied), "", |_| false, &mut ()).unwrap();
        let mut store = Elsewhere { records: held.clone(), cluster };
        let end = self.go_on(world, &held, 0, &mut store, false);
        let up = cluster_journal::read(&mut store.cluster.into_objects()).unwrap().unwrap();
        assert_eq!(up.records, store.records, "what is in the cluster at the end is all");
        (end, store.records)
    }

    fn go_on(
        &self,
        world: &mut SimWorld,
        held: &[Record],
        torn_bytes: u64,
        store: &mut dyn JournalStore,
        undo: bool,
    ) -> End {
        let mut machine = if held.is_empty() {
            let mut machine = self.machine();
            drive::start(&mut machine, store, &mut (), moved::start(&self.plan), world.now()).unwrap();
            machine
        } else {
            Machine::replay(Arc::new(self.plan.clone()), Digest::of(&self.plan).unwrap(), held).unwrap()
        };
        if machine.finished().is_none() {
            let resumed = Event::Resumed { program: "test".to_owned(), torn_bytes };
            drive::keep(&mut machine, store, &mut (), resumed, world.now()).unwrap();
            if undo {
                drive::keep(&mut machine, store, &mut (), Event::UndoStarted {}, world.now()).unwrap();
            }
        }
        drive::drive(&mut machine, world, store, &mut ()).unwrap()
    }
}

/// Everything about nodes that a run writes. The taint of a cordon is the node controller's, which follows a moment later.
pub(crate) fn node_settings(view: &View) -> BTreeMap<String, (bool, Vec<Taint>)> {
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
    let deaths: Vec<Death> = (0..records.len() as u64).flat_map(Death::around).collect();
    on_two_threads(deaths.len(), |index| {
        let death = deaths[index];
        let (world, disk) = scenario.until(death);

        // What the cluster has is the same while a record is written and after it was flushed: it is taken over once.
        if matches!(death, Death::Up(_)) {
            let mut elsewhere = world;
            let (end, journal) = scenario.take_over(&mut elsewhere, disk.cluster.objects());
            assert_eq!(end, End::Finished(Verdict::Done), "{death:?}, from the cluster: {:?}", journal.last());
            assert_eq!(node_settings(elsewhere.truth()), settings_after, "{death:?}, from the cluster");
            let receipts = journal.iter().filter(|record| matches!(record.event, Event::Moved { .. })).count();
            assert_eq!(receipts, due, "{death:?}, from the cluster: one receipt for each pod");
            let violations = moved::violations(&scenario.before, &scenario.plan, &journal, &elsewhere);
            assert!(violations.is_empty(), "{death:?}, from the cluster: {violations:#?}");
            return;
        }

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
        let finished = death.at() + 1 == records.len() as u64 && !matches!(death, Death::While(_));
        let expected =
            if finished { (Verdict::Done, &settings_after) } else { (Verdict::RolledBack, &settings_before) };
        assert_eq!(end, End::Finished(expected.0), "{death:?}");
        assert_eq!(&node_settings(undone.truth()), expected.1, "{death:?}: every field has its old value");
    });
    println!(
        "{name}: killed at {} points of {} records: all resumed, all taken over from the cluster's copy, all rolled \
         back; {} writes of the copy for {due} moved pods",
        deaths.len(),
        records.len(),
        disk.cluster.objects().writes()
    );
}
