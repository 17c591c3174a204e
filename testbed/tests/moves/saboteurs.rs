//! Engines that break one rule each. Every one is caught by an invariant that is named; the honest engine, under the
//! same accidents, is not.
//!
//! A saboteur is a wrapper around the world or the journal: the machine itself has no switch for doing wrong.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use rehome_engine::drive::{self, End};
use rehome_engine::journal::{JournalStore, StoreFailed};
use rehome_engine::machine::Machine;
use rehome_engine::world::World;
use rehome_k8s::{Key, Kind, View};
use rehome_model::Digest;
use rehome_model::journal::{Event, Record};
use rehome_model::plan::Plan;
use rehome_model::request::{Outcome, Request};
use rehome_model::time::Seconds;
use rehome_sim::controllers::Mutation;
use rehome_sim::{Fault, Faults, SimWorld, When};
use rehome_testbed::between::{Between, Through};

use crate::moved;

/// What a world does to requests on their way.
type Meddle = Box<dyn FnMut(&mut SimWorld, &Request, &str) -> Outcome>;

/// A world between the engine and the simulated one.
struct Meddling {
    inner: SimWorld,
    send: Meddle,
}

impl Between for Meddling {
    type Behind = SimWorld;

    fn behind(&self) -> &SimWorld {
        &self.inner
    }

    fn behind_mut(&mut self) -> &mut SimWorld {
        &mut self.inner
    }

    fn send(&mut self, request: &Request, audit_id: &str) -> Outcome {
        (self.send)(&mut self.inner, request, audit_id)
    }
}

/// A journal that says how many of its records are on stable storage, and may hold some back.
struct Shelf {
    records: Vec<Record>,
    /// Records that were said to be kept, and were not yet.
    held: Vec<Record>,
    hold: fn(&Record, usize) -> bool,
    durable: Arc<AtomicU64>,
    /// The process dies when it is asked to keep this one.
    dies_at: Option<u64>,
}

impl Shelf {
    fn honest(durable: &Arc<AtomicU64>) -> Self {
        Self::new(durable, |_, _| false)
    }

    fn new(durable: &Arc<AtomicU64>, hold: fn(&Record, usize) -> bool) -> Self {
        Self { records: Vec::new(), held: Vec::new(), hold, durable: Arc::clone(durable), dies_at: None }
    }

    /// Everything, as if the process had lived to write it.
    fn all(mut self) -> Vec<Record> {
        self.records.append(&mut self.held);
        self.records
    }
}

impl JournalStore for Shelf {
    fn append(&mut self, record: &Record) -> Result<(), StoreFailed> {
        if self.dies_at == Some(record.seq) {
            return Err(StoreFailed::Unwritable { message: "killed".to_owned() });
        }
        self.held.push(record.clone());
        if !(self.hold)(record, self.held.len()) {
            self.records.append(&mut self.held);
        }
        self.durable.store(self.records.len() as u64, Ordering::SeqCst);
        Ok(())
    }
}

/// What is moved, by whom.
struct Trial {
    before: View,
    plan: Plan,
    durable: Arc<AtomicU64>,
    world: SimWorld,
}

impl Trial {
    fn new() -> Self {
        let before = moved::cluster();
        let plan = moved::plan(&before);
        let durable = Arc::new(AtomicU64::new(0));
        let mut world = moved::world(&before, 5);
        world.follow_journal(Arc::clone(&durable));
        Self { before, plan, durable, world }
    }

    fn faults(mut self, faults: Vec<(When, Fault)>) -> Self {
        self.world.set_faults(Faults::new(faults));
        self
    }

    /// Runs with this journal and this meddling; the names of the invariants that are broken.
    fn run(self, mut shelf: Shelf, send: Meddle) -> BTreeSet<&'static str> {
        let mut world = Through(Meddling { inner: self.world, send });
        let digest = Digest::of(&self.plan).unwrap();
        let mut machine = Machine::new(Arc::new(self.plan.clone()), digest.clone());
        let now = world.now();
        drive::start(&mut machine, &mut shelf, &mut (), moved::start(&self.plan), now).unwrap();
        let first = drive::drive(&mut machine, &mut world, &mut shelf, &mut ());
        if first.is_err() {
            // Killed: what was held back is lost, and another process goes on.
            shelf.held.clear();
            shelf.dies_at = None;
            let mut machine = Machine::replay(Arc::new(self.plan.clone()), digest, &shelf.records).unwrap();
            let resumed = Event::Resumed { program: "test".to_owned(), torn_bytes: 0 };
            drive::keep(&mut machine, &mut shelf, &mut (), resumed, world.now()).unwrap();
            drive::drive(&mut machine, &mut world, &mut shelf, &mut ()).unwrap();
        } else if let Ok(End::Interrupted) = first {
            panic!("nobody interrupted it");
        }
        let journal = shelf.all();
        let violations = moved::violations(&self.before, &self.plan, &journal, &world.inner);
        violations.into_iter().map(|violation| violation.invariant).collect()
    }
}

fn honest() -> Meddle {
    Box::new(|world, request, audit_id| world.send(request, audit_id))
}

fn none() -> BTreeSet<&'static str> {
    BTreeSet::new()
}

/// Just before the pod `kv-1` is evicted, somebody deletes it, and its successor of the same name is Ready already.
fn somebody_is_faster(world: &mut SimWorld, request: &Request) {
    if let Request::Evict { pod, uid } = request
        && pod.name == "kv-1"
        && world.truth().pod(&Key::of(pod)).is_some_and(|found| found.meta.uid == *uid)
    {
        world.mutate("somebody", Mutation::Delete(Kind::Pod, Key::of(pod)));
        let until = world.now() + Seconds::new(120);
        let back = world.run_until(until, |view| {
            view.pod(&Key::of(pod)).is_some_and(|found| found.meta.uid != *uid && found.ready)
        });
        assert!(back, "the StatefulSet creates it again");
    }
}

#[test]
fn evicts_by_name() {
    let trial = Trial::new();
    let shelf = Shelf::honest(&trial.durable);
    let by_name: Meddle = Box::new(|world, request, audit_id| {
        somebody_is_faster(world, request);
        let Request::Evict { pod, .. } = request else { return world.send(request, audit_id) };
        let Some(found) = world.truth().pod(&Key::of(pod)).cloned() else { return world.send(request, audit_id) };
        world.send(&Request::Evict { pod: pod.clone(), uid: found.meta.uid.clone() }, audit_id)
    });
    let caught = trial.run(shelf, by_name);
    assert!(caught.contains("right-incarnation"), "{caught:?}");

    let trial = Trial::new();
    let shelf = Shelf::honest(&trial.durable);
    let accident: Meddle = Box::new(|world, request, audit_id| {
        somebody_is_faster(world, request);
        world.send(request, audit_id)
    });
    let caught = trial.run(shelf, accident);
    let ours = ["right-incarnation", "lineage-moves-once", "written-before-sent", "attempts-do-not-overlap"];
    assert!(ours.iter().all(|name| !caught.contains(name)), "the honest engine leaves the successor alone: {caught:?}");
}

#[test]
fn writes_the_request_before_the_intent() {
    let trial = Trial::new();
    let late = Shelf::new(&trial.durable, |record, _| matches!(record.event, Event::Intent { .. }));
    let caught = trial.run(late, honest());
    assert!(caught.contains("written-before-sent"), "{caught:?}");
}

#[test]
fn skips_fsync() {
    // Eight records are gathered before they are flushed; the process is killed in between.
    let gather: fn(&Record, usize) -> bool = |_, held| held < 8;
    let trial = Trial::new();
    let mut lazy = Shelf::new(&trial.durable, gather);
    lazy.dies_at = Some(102);
    let caught = trial.run(lazy, honest());
    assert!(caught.contains("written-before-sent"), "{caught:?}");

    let trial = Trial::new();
    let mut shelf = Shelf::honest(&trial.durable);
    shelf.dies_at = Some(102);
    assert_eq!(trial.run(shelf, honest()), none(), "the honest engine, killed at the same record");
}

#[test]
fn trusts_the_first_reread() {
    let late = vec![(When::NthEviction(2), Fault::LandsLate { delay: Seconds::new(20) })];
    let trial = Trial::new().faults(late.clone());
    let shelf = Shelf::honest(&trial.durable);
    let hasty: Meddle = Box::new(|world, request, audit_id| match world.send(request, audit_id) {
        Outcome::Unknown { message, .. } => Outcome::Unknown { not_before: world.now(), message },
        answer => answer,
    });
    let caught = trial.run(shelf, hasty);
    assert!(caught.contains("attempts-do-not-overlap"), "{caught:?}");

    let trial = Trial::new().faults(late);
    let shelf = Shelf::honest(&trial.durable);
    assert_eq!(trial.run(shelf, honest()), none(), "the honest engine waits until nothing can land any more");
}

#[test]
fn moves_twice() {
    let trial = Trial::new();
    let shelf = Shelf::honest(&trial.durable);
    let mut again = false;
    let twice: Meddle = Box::new(move |world, request, audit_id| {
        let outcome = world.send(request, audit_id);
        // A pod of the kv set that stands on a target already is evicted once more.
        let moved = world.truth().pods().find(|pod| {
            pod.meta.name.starts_with("kv-")
                && pod.ready
                && pod.node.as_ref().is_some_and(|node| node.starts_with("new-"))
        });
        if let Some(pod) = moved.filter(|_| !again).cloned() {
            let pod_again = Request::Evict { pod: pod.meta.key().reference(Kind::Pod), uid: pod.meta.uid.clone() };
            again = world.send(&pod_again, audit_id) == Outcome::Applied;
        }
        outcome
    });
    let caught = trial.run(shelf, twice);
    assert!(caught.contains("lineage-moves-once"), "{caught:?}");
}
