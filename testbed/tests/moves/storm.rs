//! Faults without a pattern, from a seed: delays, connections cut before and after the server saw the request, refusals
//! of every passing kind, duplicates, watches that bring nothing, reads that fail.
//!
//! Nothing is lost, no invariant breaks, and every run ends or says what it waits for. A run that had to give up is
//! resumed in good weather, and ends. `REHOME_SEEDS=10000` makes it that many; a failure names its seed.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use rehome_engine::drive::{self, End};
use rehome_engine::machine::Machine;
use rehome_engine::world::{ReadFailed, World};
use rehome_k8s::Record as Object;
use rehome_k8s::pod::Pod;
use rehome_model::journal::{Event, Record, Verdict};
use rehome_model::request::{Cause, Outcome, Request};
use rehome_model::time::Seconds;
use rehome_model::{Digest, ObjectRef};
use rehome_sim::{Fault, SimWorld, When};
use rehome_testbed::between::{Between, Through};
use rehome_testbed::fidelity::dice::Dice;

use crate::moved;
use crate::scenario::{Scenario, case, on_two_threads, six_to_six};

/// How many seeds a test run takes, unless told otherwise.
const SEEDS: usize = 200;

/// A world with bad weather between the engine and it.
struct Storm {
    inner: SimWorld,
    dice: Dice,
    /// In how many of a hundred cases something happens to a request.
    force: usize,
    /// What happened, by its word.
    seen: BTreeMap<&'static str, usize>,
}

impl Storm {
    fn new(inner: SimWorld, seed: u64) -> Self {
        let mut dice = Dice::new(seed);
        let force = 2 + dice.below(48);
        Self { inner, dice, force, seen: BTreeMap::new() }
    }

    fn strikes(&mut self) -> bool {
        self.dice.chance(self.force)
    }

    fn up_to(&mut self, seconds: i64) -> Seconds {
        Seconds::from_millis(self.dice.between(0, seconds * 1000))
    }

    fn count(&mut self, word: &'static str) {
        *self.seen.entry(word).or_default() += 1;
    }

    fn delay(&mut self) {
        if self.strikes() {
            let by = self.up_to(5);
            self.inner.advance(by);
            self.count("delay");
        }
    }

    fn failed_read(&mut self, what: &str) -> Option<ReadFailed> {
        self.delay();
        self.strikes().then(|| {
            self.count("failed read");
            ReadFailed { what: what.to_owned(), message: "the connection was reset".to_owned(), permanent: false }
        })
    }

    fn fault(&mut self) -> (&'static str, Fault) {
        let server = |code: u16| Fault::Refused(Cause::Server { code, message: "the server is in trouble".to_owned() });
        match self.dice.below(9) {
            0 => ("cut before", Fault::LostAnswer { applied: false }),
            1 => ("cut after", Fault::LostAnswer { applied: true }),
            2 => ("lands late", Fault::LandsLate { delay: self.up_to(40) }),
            3 => ("429", Fault::Refused(Cause::Throttled { retry_after: self.up_to(20) })),
            4 => ("500", server(500)),
            5 => ("503", server(503)),
            6 => ("504", server(504)),
            7 => (
                "unobserved",
                Fault::Refused(Cause::Budget {
                    message: "the budget is still being processed by the server.".to_owned(),
                    retry_after: Some(Seconds::new(10)),
                }),
            ),
            _ => ("watch cut", Fault::WatchCut { lasts: self.up_to(90) }),
        }
    }
}

impl Between for Storm {
    type Behind = SimWorld;

    fn behind(&self) -> &SimWorld {
        &self.inner
    }

    fn behind_mut(&mut self) -> &mut SimWorld {
        &mut self.inner
    }

    fn list_pods_on(&mut self, node: &str) -> Result<Vec<Arc<Pod>>, ReadFailed> {
        self.failed_read(node).map_or_else(|| self.inner.list_pods_on(node), Err)
    }

    fn read(&mut self, target: &ObjectRef) -> Result<Option<Object>, ReadFailed> {
        self.failed_read(&target.to_string()).map_or_else(|| self.inner.read(target), Err)
    }

    fn send(&mut self, request: &Request, audit_id: &str) -> Outcome {
        self.delay();
        if self.strikes() {
            if self.dice.chance(10) {
                // A proxy that sends a request again when its connection breaks: the caller sees the second answer.
                self.count("twice");
                let _ = self.inner.send(request, audit_id);
                return self.inner.send(request, audit_id);
            }
            let (word, fault) = self.fault();
            let evicts = matches!(request, Request::Evict { .. });
            if word != "unobserved" || evicts {
                self.count(word);
                let next = self.inner.faults().requests() + 1;
                self.inner.faults().add(When::Nth(next), fault);
            }
        }
        self.inner.send(request, audit_id)
    }
}

/// How a run went.
struct Run {
    stuck: Vec<String>,
    records: usize,
    seen: BTreeMap<&'static str, usize>,
}

fn one(scenario: &Scenario, seed: u64) -> Run {
    let mut storm = Through(Storm::new(scenario.world(seed), seed));
    let plan = Arc::new(scenario.plan.clone());
    let digest = Digest::of(&scenario.plan).unwrap();
    let mut machine = Machine::new(Arc::clone(&plan), digest.clone());
    let mut journal: Vec<Record> = Vec::new();
    let now = storm.now();
    drive::start(&mut machine, &mut journal, &mut (), moved::start(&scenario.plan), now).unwrap();
    let mut end = drive::drive(&mut machine, &mut storm, &mut journal, &mut ()).unwrap();
    let mut stuck = Vec::new();
    // A person looks at it when the storm is over.
    while let End::Stuck { step, cause, instructions } = &end {
        assert!(!step.is_empty() && !cause.is_empty() && !instructions.is_empty(), "seed {seed}: {end:?}");
        stuck.push(format!("{step}: {cause}"));
        assert!(stuck.len() < 3, "seed {seed}: in good weather it ends: {stuck:#?}");
        let mut machine = Machine::replay(Arc::clone(&plan), digest.clone(), &journal).unwrap();
        let now = storm.now();
        drive::resume(&mut machine, &mut journal, &mut (), "test", 0, now).unwrap();
        end = drive::drive(&mut machine, &mut storm.inner, &mut journal, &mut ()).unwrap();
    }
    assert_eq!(end, End::Finished(Verdict::Done), "seed {seed}: {:#?}", journal.last());
    let receipts = journal.iter().filter(|record| matches!(record.event, Event::Moved { .. })).count();
    assert_eq!(receipts, scenario.due(), "seed {seed}: one receipt for each pod");
    let mut violations = moved::violations(&scenario.before, &scenario.plan, &journal, &storm.inner);
    if storm.seen.contains_key("twice") {
        // The proxy's doing, not the engine's.
        violations.retain(|violation| violation.invariant != "attempts-do-not-overlap");
    }
    assert!(violations.is_empty(), "seed {seed}: {violations:#?}");
    Run { stuck, records: journal.len(), seen: storm.0.seen }
}

#[test]
fn whatever_happens_between_us_and_the_server_nothing_is_lost() {
    #[expect(clippy::disallowed_methods, reason = "how many is asked for from outside")]
    let seeds = std::env::var("REHOME_SEEDS").ok().and_then(|text| text.parse().ok()).unwrap_or(SEEDS);
    let scenarios = [six_to_six(), case("statefulset-ordered"), case("shared-volume"), case("demo")];
    let (seen, stuck) = (Mutex::new(BTreeMap::<&str, usize>::new()), Mutex::new(Vec::new()));
    let records = Mutex::new(0);
    on_two_threads(seeds, |index| {
        let run = one(&scenarios[index % scenarios.len()], index as u64);
        *records.lock().unwrap() += run.records;
        for (word, times) in run.seen {
            *seen.lock().unwrap().entry(word).or_default() += times;
        }
        if !run.stuck.is_empty() {
            stuck.lock().unwrap().push(format!("seed {index}: {}", run.stuck.join(" | ")));
        }
    });
    let (seen, stuck) = (seen.into_inner().unwrap(), stuck.into_inner().unwrap());
    let words =
        ["cut before", "cut after", "lands late", "429", "500", "503", "504", "unobserved", "watch cut", "twice"];
    for word in words.into_iter().chain(["delay", "failed read"]) {
        assert!(seen.contains_key(word), "{word} never happened in {seeds} seeds");
    }
    println!(
        "storm: {seeds} seeds, {} records: all ended, {} after a person resumed them; {seen:?}",
        records.into_inner().unwrap(),
        stuck.len()
    );
    for line in stuck.iter().take(5) {
        println!("  {line}");
    }
}
