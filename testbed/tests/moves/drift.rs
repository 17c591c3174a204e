//! Somebody or something changes what the run rests on: it is seen, it is in the journal, nothing is sent while it lasts,
//! and the run goes on when it has passed, or stops and names it.

use std::sync::Arc;

use rehome_engine::drive::{self, End};
use rehome_engine::machine::Machine;
use rehome_engine::world::World;
use rehome_k8s::node::Node;
use rehome_k8s::{Key, Kind, Record as Object};
use rehome_model::journal::{Event, Record, Verdict};
use rehome_model::request::{Outcome, Request};
use rehome_model::time::Seconds;
use rehome_model::verb::FENCE_TAINT;
use rehome_model::{Digest, Timestamp};
use rehome_sim::SimWorld;
use rehome_sim::controllers::Mutation;
use rehome_testbed::between::{Between, Through};

use crate::moved;
use crate::scenario::{Scenario, six_to_six};

/// What a person does.
type Act = fn(&mut SimWorld);

/// A world in which somebody does something after so many requests, and undoes it some time later.
struct Meddled {
    inner: SimWorld,
    requests: usize,
    does: Option<(usize, Act)>,
    /// After how long it is undone, and how.
    undoes: Option<(Seconds, Act)>,
    done_at: Option<Timestamp>,
}

impl Meddled {
    fn turn(&mut self) {
        if let Some((after, act)) = self.does
            && self.requests >= after
        {
            self.does = None;
            self.done_at = Some(self.inner.now());
            act(&mut self.inner);
        }
        if let (Some(at), Some((later, act))) = (self.done_at, self.undoes)
            && self.inner.now() >= at + later
        {
            self.undoes = None;
            act(&mut self.inner);
        }
    }
}

impl Between for Meddled {
    type Behind = SimWorld;

    fn behind(&self) -> &SimWorld {
        &self.inner
    }

    fn behind_mut(&mut self) -> &mut SimWorld {
        &mut self.inner
    }

    fn send(&mut self, request: &Request, audit_id: &str) -> Outcome {
        self.requests += 1;
        self.inner.send(request, audit_id)
    }

    fn wait(&mut self, until: Timestamp) {
        self.turn();
        let undone = self.done_at.zip(self.undoes).map(|(at, (later, _))| at + later);
        self.inner.wait(undone.map_or(until, |undone| until.min(undone.max(self.inner.now()))));
        self.turn();
    }
}

fn change(world: &mut SimWorld, node: &str, change: impl FnOnce(&mut Node)) {
    let Some(Object::Node(found)) = world.truth().get(Kind::Node, &Key::cluster(node)) else { panic!("no {node}") };
    let mut changed = Node::clone(found);
    change(&mut changed);
    world.mutate("somebody", Mutation::Update(Object::Node(Arc::new(changed))));
}

fn unfence(world: &mut SimWorld) {
    change(world, "old-2", |node| node.taints.retain(|taint| taint.key != FENCE_TAINT));
}

fn fence(world: &mut SimWorld) {
    let Some(Object::Node(other)) = world.truth().get(Kind::Node, &Key::cluster("old-3")) else { panic!("no node") };
    let taint = other.taints.iter().find(|taint| taint.key == FENCE_TAINT).unwrap().clone();
    change(world, "old-2", |node| node.taints.push(taint));
}

fn cordon(world: &mut SimWorld) {
    change(world, "new-4", |node| node.unschedulable = true);
}

fn uncordon(world: &mut SimWorld) {
    change(world, "new-4", |node| node.unschedulable = false);
}

fn lose(world: &mut SimWorld) {
    change(world, "new-4", |node| node.ready = Some(false));
}

fn find(world: &mut SimWorld) {
    change(world, "new-4", |node| node.ready = Some(true));
}

fn delete(world: &mut SimWorld) {
    world.mutate("somebody", Mutation::Delete(Kind::Node, Key::cluster("new-6")));
}

/// Fences are up and the first pods move.
const IN_THE_MIDDLE: usize = 14;

fn run(scenario: &Scenario, does: Act, undoes: Option<(Seconds, Act)>) -> (End, Vec<Record>, Through<Meddled>) {
    let does = Some((IN_THE_MIDDLE, does));
    let mut world = Through(Meddled { inner: scenario.world(7), requests: 0, does, undoes, done_at: None });
    let mut journal = Vec::new();
    let mut machine = Machine::new(Arc::new(scenario.plan.clone()), Digest::of(&scenario.plan).unwrap());
    let now = world.now();
    drive::start(&mut machine, &mut journal, &mut (), moved::start(&scenario.plan), now).unwrap();
    let end = drive::drive(&mut machine, &mut world, &mut journal, &mut ()).unwrap();
    (end, journal, world)
}

/// What drifted, in order; nothing is announced between its beginning and its end.
fn drifts(journal: &[Record]) -> Vec<String> {
    let (mut seen, mut lasts) = (Vec::new(), false);
    for record in journal {
        match &record.event {
            Event::Drifted { subject, expected, found } => {
                lasts = true;
                seen.push(format!("{subject}: {expected}: {found}"));
            }
            Event::DriftEnded { .. } => lasts = false,
            Event::Intent { .. } | Event::StepStarted { .. } => assert!(!lasts, "{record:?} while {seen:?} lasts"),
            _ => {}
        }
    }
    seen
}

#[test]
fn what_is_put_right_in_time_only_costs_that_time() {
    let scenario = six_to_six();
    let fence_gone = "Node old-2: taint rehome.dev/moving:NoSchedule is \"source\": not set";
    for (does, lasts, undoes, told) in [
        (unfence as Act, 5, fence as Act, fence_gone),
        (cordon, 5, uncordon, "Node new-4: a node to move to: it is cordoned"),
        (lose, 120, find, "Node new-4: a node to move to: it is not Ready"),
    ] {
        let (end, journal, world) = run(&scenario, does, Some((Seconds::new(lasts), undoes)));
        assert_eq!(end, End::Finished(Verdict::Done), "{told}: {:#?}", journal.last());
        assert_eq!(drifts(&journal), [told]);
        let violations = moved::violations(&scenario.before, &scenario.plan, &journal, &world.inner);
        assert!(violations.is_empty(), "{told}: {violations:#?}");
    }
}

#[test]
fn what_is_not_put_right_stops_the_run_which_goes_on_afterwards() {
    let scenario = six_to_six();
    for (does, undoes, told) in [
        (unfence as Act, fence as Act, "Node old-2 has drifted"),
        (cordon, uncordon, "Node new-4 has drifted"),
        (lose, find, "Node new-4 has drifted"),
    ] {
        let (end, mut journal, mut world) = run(&scenario, does, None);
        let End::Stuck { cause, instructions, .. } = &end else { panic!("{told}: {end:?}") };
        assert!(cause.starts_with(told) && instructions[0].contains("put it back"), "{end:?}");
        assert_eq!(drifts(&journal).len(), 1);
        let plan = Arc::new(scenario.plan.clone());
        for (mended, expected) in [(false, false), (true, true)] {
            if mended {
                undoes(&mut world.inner);
                world.inner.advance(Seconds::new(1));
            }
            let digest = Digest::of(&scenario.plan).unwrap();
            let mut machine = Machine::replay(Arc::clone(&plan), digest, &journal).unwrap();
            let now = world.now();
            drive::resume(&mut machine, &mut journal, &mut (), "test", 0, now).unwrap();
            let end = drive::drive(&mut machine, &mut world, &mut journal, &mut ()).unwrap();
            assert_eq!(end == End::Finished(Verdict::Done), expected, "{told}, mended: {mended}: {end:?}");
        }
        drifts(&journal);
    }
}

#[test]
fn a_target_that_is_deleted_stops_the_run_and_a_rollback_gives_everything_back() {
    let scenario = six_to_six();
    let (end, mut journal, mut world) = run(&scenario, delete, None);
    let End::Stuck { cause, .. } = &end else { panic!("{end:?}") };
    assert!(cause.contains("Node new-6") && cause.contains("does not exist any more"), "{cause}");
    let plan = Arc::new(scenario.plan.clone());
    let mut machine = Machine::replay(plan, Digest::of(&scenario.plan).unwrap(), &journal).unwrap();
    let now = world.now();
    drive::resume(&mut machine, &mut journal, &mut (), "test", 0, now).unwrap();
    drive::begin_undo(&mut machine, &mut journal, &mut (), now).unwrap();
    let end = drive::drive(&mut machine, &mut world, &mut journal, &mut ()).unwrap();
    assert_eq!(end, End::Finished(Verdict::RolledBack));
    let fenced = world.inner.truth().nodes().filter(|node| node.taints.iter().any(|taint| taint.key == FENCE_TAINT));
    assert_eq!(fenced.count(), 0);
}
