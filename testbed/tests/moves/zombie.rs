//! A process that is frozen between its last look at the head and its request, and thawed after another has taken its run
//! over and ended it: it sends that one request, nothing more, and what the request does is what its effect says.

use std::collections::BTreeMap;

use rehome_engine::cluster_journal::{self, ClusterJournal, InMemory};
use rehome_engine::drive::{self, DriveError, End};
use rehome_engine::journal::StoreFailed;
use rehome_engine::world::World;
use rehome_engine::zombie::{ZombieEffect, effect};
use rehome_k8s::View;
use rehome_model::Digest;
use rehome_model::journal::Verdict;
use rehome_model::request::{Outcome, Request};
use rehome_sim::SimWorld;
use rehome_testbed::between::{Between, Through};

use crate::moved;
use crate::scenario::{Scenario, case, on_two_threads};
use crate::sweep::{SEED, claimant, node_settings};

/// A world whose process is frozen right before it sends its `at`th request.
struct Frozen<'a> {
    world: SimWorld,
    scenario: &'a Scenario,
    objects: InMemory,
    at: usize,
    sent: usize,
    /// The request that was sent too late, the world before it, and the journal of who took the run over.
    late: Option<(Request, Box<SimWorld>, Vec<rehome_model::journal::Record>)>,
}

impl Between for Frozen<'_> {
    type Behind = SimWorld;

    fn behind(&self) -> &SimWorld {
        &self.world
    }

    fn behind_mut(&mut self) -> &mut SimWorld {
        &mut self.world
    }

    fn send(&mut self, request: &Request, audit_id: &str) -> Outcome {
        if self.sent == self.at {
            let (end, journal) = self.scenario.take_over(&mut self.world, self.objects.clone());
            assert_eq!(end, End::Finished(Verdict::Done), "{:?}", journal.last());
            self.late = Some((request.clone(), Box::new(self.world.clone()), journal));
        }
        self.sent += 1;
        self.world.send(request, audit_id)
    }
}

fn begun(scenario: &Scenario) -> (ClusterJournal<InMemory>, InMemory) {
    let objects = InMemory::default();
    let claimant = claimant(&Digest::of(&scenario.plan).unwrap(), 1);
    (cluster_journal::begin(objects.clone(), claimant, "the plan", None, &mut ()).unwrap(), objects)
}

/// How the nodes and pods stand: what a request could change.
fn standing(view: &View) -> (BTreeMap<String, (bool, usize)>, usize) {
    let nodes = node_settings(view).into_iter().map(|(name, (cordoned, taints))| (name, (cordoned, taints.len())));
    (nodes.collect(), view.pods().count())
}

fn frozen_before_each_request(name: &str, scenario: &Scenario) {
    let requests = {
        let (mut store, objects) = begun(scenario);
        let (_, world) = frozen(scenario, &mut store, objects, usize::MAX);
        world.sent
    };
    on_two_threads(requests, |at| {
        let (mut store, objects) = begun(scenario);
        let (end, world) = frozen(scenario, &mut store, objects, at);
        let superseded = matches!(&end, Err(DriveError::Store(StoreFailed::Superseded { .. })));
        assert!(superseded, "{at}: {end:?}");
        assert_eq!(world.sent, at + 1, "one request too late, and none after it");
        let (request, before, journal) = world.late.unwrap();
        let violations = moved::violations(&scenario.before, &scenario.plan, &journal, &before);
        assert!(violations.is_empty(), "{at}: {violations:#?}");
        let (was, is) = (standing(before.truth()), standing(world.world.truth()));
        match effect(&request) {
            // Its incarnation is long gone: nothing happens at all.
            ZombieEffect::ThatIncarnation => assert_eq!(is, was, "{at}: {request:?}"),
            ZombieEffect::ThatSwap => {
                let changed = was.0.iter().filter(|(name, settings)| is.0.get(*name) != Some(settings)).count();
                assert!(changed <= 1 && is.1 == was.1, "{at}: {request:?}");
            }
        }
    });
    println!("{name}: frozen before each of {requests} requests: none did harm");
}

fn frozen<'a>(
    scenario: &'a Scenario,
    store: &mut ClusterJournal<InMemory>,
    objects: InMemory,
    at: usize,
) -> (Result<End, DriveError>, Frozen<'a>) {
    let mut world = Through(Frozen { world: scenario.world(SEED), scenario, objects, at, sent: 0, late: None });
    let mut machine = scenario.machine();
    let now = world.now();
    let end = drive::start(&mut machine, store, &mut (), moved::start(&scenario.plan), now)
        .and_then(|()| drive::drive(&mut machine, &mut world, store, &mut ()));
    (end, world.0)
}

#[test]
fn the_demo_frozen_before_each_request() {
    frozen_before_each_request("demo", &case("demo"));
}

#[test]
fn workloads_on_one_volume_frozen_before_each_request() {
    frozen_before_each_request("shared-volume", &case("shared-volume"));
}
