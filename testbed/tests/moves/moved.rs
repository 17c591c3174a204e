//! A scenario in the simulated world, and what it takes to move it.

use std::sync::Arc;

use rehome_engine::drive::{self, End, Start};
use rehome_engine::machine::Machine;
use rehome_k8s::{View, readiness};
use rehome_model::intent::{Consent, ConsentTo, Intent};
use rehome_model::journal::Record;
use rehome_model::plan::Plan;
use rehome_model::snapshot::ClusterIdentity;
use rehome_model::time::Seconds;
use rehome_model::{Digest, ObjectRef, Timestamp};
use rehome_sim::SimWorld;
use rehome_testbed::audit::{AuditEvent, Evidence, Timeline, Violation, check};
use rehome_testbed::scenario::six_to_six as scenario;

/// When every simulated test begins.
pub(crate) const BEGIN: Timestamp = Timestamp::from_millis(1_767_225_600_000);

/// When the move begins.
pub(crate) const WINDOW: Timestamp = Timestamp::from_millis(BEGIN.as_millis() + 3_600_000);

/// The cluster with everything on the old nodes, Ready, and the new nodes empty.
pub(crate) fn cluster() -> View {
    let identity = ClusterIdentity {
        uid: Some("11111111-2222-3333-4444-555555555555".into()),
        name: Some("six-to-six".to_owned()),
        server_version: Some("v1.37.2".to_owned()),
    };
    let mut world = SimWorld::new(View::new(identity), scenario::behaviour_before(), 7, BEGIN);
    for node in scenario::old_nodes() {
        world.create("admin", &scenario::node(&node).to_string()).unwrap();
    }
    for object in scenario::objects() {
        world.create("admin", &object.to_string()).unwrap();
    }
    let ready = |view: &View| {
        view.pods().count() > 60
            && view
                .pods()
                .filter(|pod| !scenario::PENDING.contains(&pod.meta.name.as_str()))
                .all(|pod| readiness::serves(pod))
    };
    assert!(world.run_until(BEGIN + Seconds::new(300), ready), "the workloads become Ready");
    // An ordered set creates its next pod a moment after the last one is Ready.
    world.advance(Seconds::new(30));
    assert!(ready(world.truth()), "all of them stay Ready");
    for node in scenario::new_and_other_nodes() {
        world.create("admin", &scenario::node(&node).to_string()).unwrap();
    }
    world.advance(Seconds::new(30));
    world.truth().clone()
}

/// The wish of the scenario, with its consents.
pub(crate) fn intent() -> Intent {
    let mut intent = Intent::new("pool=old", "pool=new");
    for consent in scenario::CONSENTS {
        let path = consent.strip_prefix("delete-past-budget=").unwrap();
        let [kind, namespace, name] = path.split('/').collect::<Vec<_>>()[..] else { panic!("{path}") };
        let object = ObjectRef::namespaced(kind, namespace, name);
        intent.consents.insert(Consent { to: ConsentTo::DeletePastBudget, object });
    }
    intent
}

/// The plan for it.
pub(crate) fn plan(view: &View) -> Plan {
    rehome_plan::plan(view, Digest::of_bytes(b"snapshot"), &intent()).unwrap()
}

/// A world that is to be moved.
pub(crate) fn world(view: &View, seed: u64) -> SimWorld {
    SimWorld::new(view.clone(), scenario::behaviour_during(seed), seed, WINDOW)
}

/// The first record of a run.
pub(crate) fn start(plan: &Plan) -> Start {
    Start {
        run: "test".to_owned(),
        plan: Digest::of(plan).unwrap(),
        approval: None,
        cluster: plan.cluster.clone(),
        program: "test".to_owned(),
    }
}

/// Moves a world from beginning to end.
pub(crate) fn run(plan: &Plan, world: &mut SimWorld) -> (End, Vec<Record>) {
    let mut machine = Machine::new(Arc::new(plan.clone()), Digest::of(plan).unwrap());
    let mut journal: Vec<Record> = Vec::new();
    let now = rehome_engine::world::World::now(world);
    drive::start(&mut machine, &mut journal, &mut (), start(plan), now).unwrap();
    let end = drive::drive(&mut machine, world, &mut journal, &mut ()).unwrap();
    (end, journal)
}

/// What the audit checker says of a run that began with this view.
pub(crate) fn violations(before: &View, plan: &Plan, journal: &[Record], world: &SimWorld) -> Vec<Violation> {
    let events: Vec<AuditEvent> = world.audit_events().map(|event| serde_json::from_value(event).unwrap()).collect();
    // Everything in the view was there before: an hour is as good as a year.
    let timeline = Timeline::of_view(before, Timestamp::EPOCH);
    check(&Evidence::from(timeline, plan, journal, rehome_sim::world::ENGINE_USER, &events))
}
