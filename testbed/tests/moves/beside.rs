//! Steps beside each other: as many as the intent allows, one outage at a time, and never two under one budget.

use std::collections::{BTreeMap, BTreeSet};

use rehome_engine::drive::{self, End};
use rehome_engine::machine::Machine;
use rehome_engine::world::Stop;
use rehome_model::Digest;
use rehome_model::journal::{Event, Record, Verdict};
use rehome_model::plan::{Plan, Step};
use std::sync::Arc;

use crate::moved;

/// Calls back with the steps that are under way after each record.
fn follow(plan: &Plan, journal: &[Record], mut see: impl FnMut(&[&Step])) {
    let steps: BTreeMap<&str, &Step> = plan.steps().map(|step| (step.name.as_str(), step)).collect();
    let mut open: BTreeSet<&str> = BTreeSet::new();
    for record in journal {
        match &record.event {
            Event::StepStarted { step, .. } => _ = open.insert(step),
            Event::StepDone { step } => _ = open.remove(step.as_str()),
            _ => continue,
        }
        see(&open.iter().map(|name| steps[name]).collect::<Vec<_>>());
    }
}

fn moves(step: &Step) -> bool {
    step.verb.moves_pods()
}

#[test]
fn no_more_move_at_a_time_than_the_intent_allows_and_one_outage() {
    let before = moved::cluster();
    let mut took = Vec::new();
    for (parallel, down) in [(1, 1), (4, 1), (12, 3)] {
        let mut intent = moved::intent();
        (intent.parallel, intent.max_unavailable) = (parallel, down);
        let plan = rehome_plan::plan(&before, Digest::of_bytes(b"snapshot"), &intent).unwrap();
        let mut world = moved::world(&before, 3);
        let (end, journal) = moved::run(&plan, &mut world);
        assert_eq!(end, End::Finished(Verdict::Done), "{:#?}", journal.last());
        let violations = moved::violations(&before, &plan, &journal, &world);
        assert!(violations.is_empty(), "{violations:#?}");
        let (mut most, mut most_down) = (0, 0);
        follow(&plan, &journal, |open| {
            most = most.max(open.iter().filter(|step| moves(step)).count());
            most_down = most_down.max(open.iter().map(|step| step.outages).sum());
            for (index, step) in open.iter().enumerate() {
                assert!(open[..index].iter().all(|other| other.holds.is_disjoint(&step.holds)), "{open:#?}");
            }
        });
        assert!(most <= parallel && most_down <= down, "{most} of {parallel} moved, {most_down} of {down} were down");
        assert!(most > 1 || parallel == 1, "with {parallel} allowed, some did move beside each other");
        took.push(world.took());
    }
    assert!(took.is_sorted_by(|slower, faster| slower > faster), "the more at a time, the sooner it ends: {took:?}");
}

#[test]
fn a_run_that_is_to_stop_sees_its_steps_through_and_begins_no_other() {
    let before = moved::cluster();
    let plan = moved::plan(&before);
    let (_, whole) = moved::run(&plan, &mut moved::world(&before, 3));
    let mut seen_through = 0;
    for kept in (1..whole.len()).step_by(whole.len() / 12) {
        let mut world = moved::world(&before, 3);
        let mut machine = Machine::new(Arc::new(plan.clone()), Digest::of(&plan).unwrap());
        let mut journal = StopsAfter { records: Vec::new(), kept };
        let now = rehome_engine::world::World::now(&world);
        drive::start(&mut machine, &mut journal, &mut (), moved::start(&plan), now).unwrap();
        assert!(drive::drive(&mut machine, &mut world, &mut journal, &mut ()).is_err(), "the store is full");
        let mut journal = journal.records;
        // Another process takes it up, and is asked to stop at once.
        let mut machine = Machine::replay(Arc::new(plan.clone()), Digest::of(&plan).unwrap(), &journal).unwrap();
        world.ask_to_stop(Stop::AfterSteps);
        let now = rehome_engine::world::World::now(&world);
        drive::resume(&mut machine, &mut journal, &mut (), "test", 0, now).unwrap();
        assert_eq!(drive::drive(&mut machine, &mut world, &mut journal, &mut ()).unwrap(), End::Interrupted);
        let begun = |records: &[Record]| {
            let started = records.iter().filter(|record| matches!(record.event, Event::StepStarted { .. }));
            started.count()
        };
        // A step that was about to be begun when the store was full may be begun before the word to stop is heard.
        assert!(begun(&journal) <= begun(&whole[..kept]) + 1, "after {kept} records");
        let mut open = 0;
        follow(&plan, &journal, |steps| open = steps.len());
        assert_eq!(open, 0, "after {kept} records: nothing is left in the middle");
        seen_through += usize::from(journal.len() > kept + 3);
        world.ask_to_stop(Stop::No);
        let now = rehome_engine::world::World::now(&world);
        drive::resume(&mut machine, &mut journal, &mut (), "test", 0, now).unwrap();
        let mut machine = Machine::replay(Arc::new(plan.clone()), Digest::of(&plan).unwrap(), &journal).unwrap();
        let end = drive::drive(&mut machine, &mut world, &mut journal, &mut ()).unwrap();
        assert_eq!(end, End::Finished(Verdict::Done), "after {kept} records: {:#?}", journal.last());
    }
    assert!(seen_through > 3, "{seen_through} of the stops fell into a step");
}

/// A journal that has no room for more records than these.
struct StopsAfter {
    records: Vec<Record>,
    kept: usize,
}

impl rehome_engine::journal::JournalStore for StopsAfter {
    fn append(&mut self, record: &Record) -> Result<(), rehome_engine::journal::StoreFailed> {
        if self.records.len() == self.kept {
            return Err(rehome_engine::journal::StoreFailed::Unwritable { message: "no space left".to_owned() });
        }
        self.records.push(record.clone());
        Ok(())
    }
}
