//! Every request fails in turn, in each way in which one can fail: the run goes on by itself where asking again can help,
//! and stops with its reason, resumable, where it cannot.

use std::sync::{Arc, Mutex};

use rehome_engine::drive::{self, End};
use rehome_engine::machine::Machine;
use rehome_engine::world::World as _;
use rehome_model::Digest;
use rehome_model::journal::{Event, Record, Verdict};
use rehome_model::request::Cause;
use rehome_model::time::Seconds;
use rehome_sim::{Fault, SimWorld, When};

use crate::moved;
use crate::scenario::{Scenario, case, on_two_threads, six_to_six};

/// The seed of ties, jitter and delays.
const SEED: u64 = 11;

/// The ways, and whether a person has to help.
fn ways() -> Vec<(&'static str, Fault, bool)> {
    let server =
        |code: u16| Fault::Refused(Cause::Server { code, message: "etcdserver: request timed out".to_owned() });
    let forbidden = Cause::Forbidden { message: "no patch on nodes".to_owned() };
    vec![
        ("forbidden", Fault::Refused(forbidden), true),
        ("invalid", Fault::Refused(Cause::Invalid { code: 400, message: "unknown field".to_owned() }), true),
        ("denied once", Fault::Refused(Cause::Denied { message: "webhook says no".to_owned() }), false),
        ("500", server(500), false),
        ("504", server(504), false),
        ("429", Fault::Refused(Cause::Throttled { retry_after: Seconds::new(1) }), false),
        ("lost before", Fault::LostAnswer { applied: false }, false),
        ("lost after", Fault::LostAnswer { applied: true }, false),
        // Just before the last moment at which it can.
        ("lands late", Fault::LandsLate { delay: Seconds::from_millis(29_900) }, false),
        ("watch cut", Fault::WatchCut { lasts: Seconds::new(60) }, false),
    ]
}

fn run(scenario: &Scenario, world: &mut SimWorld, journal: &mut Vec<Record>) -> End {
    let plan = Arc::new(scenario.plan.clone());
    let mut machine = Machine::replay(plan, Digest::of(&scenario.plan).unwrap(), journal).unwrap();
    if journal.is_empty() {
        drive::start(&mut machine, journal, &mut (), moved::start(&scenario.plan), world.now()).unwrap();
    } else {
        drive::resume(&mut machine, journal, &mut (), "test", 0, world.now()).unwrap();
    }
    drive::drive(&mut machine, world, journal, &mut ()).unwrap()
}

fn every_request_of(name: &str, scenario: &Scenario) {
    let mut uncut = scenario.world(SEED);
    assert_eq!(run(scenario, &mut uncut, &mut Vec::new()), End::Finished(Verdict::Done));
    let requests = uncut.faults().requests();
    let points: Vec<(u64, usize)> = (1..=requests).flat_map(|n| (0..ways().len()).map(move |way| (n, way))).collect();
    let helped = Mutex::new(0);
    on_two_threads(points.len(), |index| {
        let (number, way) = points[index];
        let (word, fault, needs_help) = ways().swap_remove(way);
        let what = format!("{word} at request {number}");
        let mut world = scenario.world(SEED);
        world.faults().add(When::Nth(number), fault);
        let mut journal = Vec::new();
        let mut end = run(scenario, &mut world, &mut journal);
        if needs_help {
            let End::Stuck { cause, instructions, .. } = &end else { panic!("{what}: {end:?}") };
            assert!(!cause.is_empty() && !instructions.is_empty(), "{what}");
            let sent = world.faults().requests();
            assert_eq!(sent, number, "{what}: nothing is sent after it");
            end = run(scenario, &mut world, &mut journal);
            *helped.lock().unwrap() += 1;
        }
        assert_eq!(end, End::Finished(Verdict::Done), "{what}: {:?}", journal.last());
        let receipts = journal.iter().filter(|record| matches!(record.event, Event::Moved { .. })).count();
        assert_eq!(receipts, scenario.due(), "{what}: one receipt for each pod");
        let violations = moved::violations(&scenario.before, &scenario.plan, &journal, &world);
        assert!(violations.is_empty(), "{what}: {violations:#?}");
    });
    println!(
        "{name}: each of {requests} requests failed in {} ways: all ended, {} after a person helped",
        ways().len(),
        helped.into_inner().unwrap()
    );
}

#[test]
fn six_to_six_fails_at_every_request() {
    every_request_of("six-to-six", &six_to_six());
}

#[test]
fn workloads_on_one_volume_fail_at_every_request() {
    every_request_of("shared-volume", &case("shared-volume"));
}

#[test]
fn an_ordered_set_fails_at_every_request() {
    every_request_of("statefulset-ordered", &case("statefulset-ordered"));
}

#[test]
fn the_demo_fails_at_every_request() {
    every_request_of("demo", &case("demo"));
}
