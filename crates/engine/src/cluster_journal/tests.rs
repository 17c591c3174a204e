//! The copy in the cluster: what goes up when, how a run is claimed, and what is seen as damage.

use std::collections::BTreeMap;

use rehome_model::journal::{Event, Record, Verdict};
use rehome_model::request::Request;
use rehome_model::snapshot::ClusterIdentity;
use rehome_model::{Digest, ObjectRef, Seconds, Timestamp, Uid};

use super::*;

/// What goes wrong with the next write.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Fault {
    /// It does not arrive.
    Cut,
    /// It arrives, and its answer does not.
    AnswerCut,
    /// It is refused for good.
    Refused,
}

/// Objects whose next writes go wrong.
#[derive(Clone, Debug)]
struct Faulty {
    inner: InMemory,
    faults: Vec<Fault>,
}

impl Faulty {
    fn write<T>(&mut self, write: impl FnOnce(&mut InMemory) -> Result<T, WriteError>) -> Result<T, WriteError> {
        match self.faults.pop() {
            Some(Fault::Cut) => Err(WriteError::NoAnswer("cut".to_owned())),
            Some(Fault::AnswerCut) => write(&mut self.inner).and(Err(WriteError::NoAnswer("cut".to_owned()))),
            Some(Fault::Refused) => Err(WriteError::Refused("configmaps is forbidden".to_owned())),
            None => write(&mut self.inner),
        }
    }
}

impl Objects for Faulty {
    fn now(&self) -> Timestamp {
        self.inner.now()
    }

    fn pause(&mut self, time: Seconds) {
        self.inner.pause(time);
    }

    fn get(&mut self, name: &str) -> Result<Option<Stored>, ObjectsError> {
        self.inner.get(name)
    }

    fn create(&mut self, name: &str, run: &str, data: &BTreeMap<String, String>) -> Result<Version, WriteError> {
        self.write(|inner| inner.create(name, run, data))
    }

    fn swap(&mut self, name: &str, at: &Version, data: &BTreeMap<String, String>) -> Result<Version, WriteError> {
        self.write(|inner| inner.swap(name, at, data))
    }
}

fn holder(pid: u32) -> Holder {
    Holder { id: format!("id-{pid}"), host: "bastion".to_owned(), pid, file: None }
}

fn claimant(pid: u32, run: &str) -> Claimant {
    Claimant { holder: holder(pid), run: run.to_owned(), plan: Digest::of_bytes(b"plan") }
}

/// Records that follow from each other: a start, then one for each event.
#[derive(Default)]
struct Chain(Vec<Record>);

impl Chain {
    fn push(&mut self, event: Event) -> Record {
        let prev = self.0.last().map_or_else(Digest::zero, |last| Digest::of(last).unwrap());
        let at = Timestamp::EPOCH + Seconds::new(i64::try_from(self.0.len()).unwrap());
        let record = Record { seq: self.0.len() as u64, at, prev, event };
        self.0.push(record.clone());
        record
    }

    fn started(run: &str) -> Self {
        let mut chain = Self::default();
        chain.push(Event::RunStarted {
            api_version: rehome_model::document::API_VERSION.to_owned(),
            run: run.to_owned(),
            plan: Digest::of_bytes(b"plan"),
            approval: None,
            cluster: ClusterIdentity::default(),
            program: "rehome".to_owned(),
        });
        chain
    }
}

fn intent(pod: &str) -> Event {
    let request = Request::Evict { pod: ObjectRef::namespaced("Pod", "shop", pod), uid: Uid::from("u-1") };
    Event::Intent { step: "move".to_owned(), attempt: 1, request }
}

fn answered() -> Event {
    Event::Answer { intent: 1, outcome: rehome_model::request::Outcome::Applied }
}

fn copy(objects: &InMemory) -> Copied {
    read(&mut objects.clone()).unwrap().unwrap()
}

fn begun(objects: &InMemory) -> (ClusterJournal<InMemory>, Chain) {
    let chain = Chain::started("run-a");
    let mut journal = begin(objects.clone(), claimant(1, "run-a"), "the plan", None, &mut ()).unwrap();
    journal.append(&chain.0[0]).unwrap();
    (journal, chain)
}

#[test]
fn an_intent_is_in_the_cluster_before_it_is_sent_and_answers_come_with_the_next() {
    let objects = InMemory::default();
    let (mut journal, mut chain) = begun(&objects);
    journal.append(&chain.push(intent("a"))).unwrap();
    assert_eq!(copy(&objects).records, chain.0);
    let writes = objects.writes();
    journal.append(&chain.push(answered())).unwrap();
    assert_eq!(objects.writes(), writes, "an answer is no write of its own");
    assert_eq!(copy(&objects).records.len(), 2);
    journal.append(&chain.push(intent("b"))).unwrap();
    assert_eq!((copy(&objects).records, copy(&objects).plan), (chain.0, "the plan".to_owned()));
}

#[test]
fn a_long_journal_is_cut_into_segments_and_read_whole() {
    let objects = InMemory::default();
    let (mut journal, mut chain) = begun(&objects);
    for number in 0..1000 {
        journal.append(&chain.push(intent(&format!("pod-{number}")))).unwrap();
    }
    let copied = copy(&objects);
    assert_eq!(copied.records, chain.0);
    assert!(copied.head.segments.len() > 3, "{:?}", copied.head.segments);
    assert!(copied.tail.len() <= TAIL_LIMIT);
    let parts = objects.names().iter().filter(|name| name.contains("-journal-")).count();
    assert_eq!(parts, copied.head.segments.len());
}

#[test]
fn a_record_that_is_larger_than_an_object_is_cut_into_several() {
    let objects = InMemory::default();
    let (mut journal, mut chain) = begun(&objects);
    let known = (0..60_000).map(|number| Uid(format!("00000000-0000-0000-0000-{number:012}"))).collect();
    journal.append(&chain.push(Event::StepStarted { step: "move".to_owned(), leaving: Vec::new(), known })).unwrap();
    journal.append(&chain.push(intent("a"))).unwrap();
    journal.append(&chain.push(intent("b"))).unwrap();
    assert_eq!(copy(&objects).records, chain.0);
    for name in objects.names() {
        let stored = objects.clone().get(&name).unwrap().unwrap();
        assert!(stored.data.values().all(|text| text.len() <= PART), "{name}");
    }
}

#[test]
fn a_plan_of_several_parts_comes_back_as_it_was() {
    let objects = InMemory::default();
    let plan = "zażółć ".repeat(200_000);
    begin(objects.clone(), claimant(1, "run-a"), &plan, None, &mut ()).unwrap();
    let copied = copy(&objects);
    assert!(copied.head.plan_parts.len() > 2);
    assert_eq!(copied.plan, plan);
}

#[test]
fn a_lost_answer_is_looked_for_and_a_lost_request_sent_again() {
    for fault in [Fault::Cut, Fault::AnswerCut] {
        let inner = InMemory::default();
        let mut chain = Chain::started("run-a");
        let faulty = Faulty { inner: inner.clone(), faults: vec![fault] };
        // The first write is that of the plan's part.
        let mut journal = begin(faulty, claimant(1, "run-a"), "", None, &mut ())
            .or_else(|_| {
                begin(Faulty { inner: inner.clone(), faults: vec![] }, claimant(1, "run-a"), "", None, &mut ())
            })
            .unwrap();
        journal.append(&chain.0[0]).unwrap();
        for number in 0..200 {
            journal.objects.faults = vec![fault; number % 3];
            journal.append(&chain.push(intent(&number.to_string()))).unwrap();
            assert_eq!(copy(&inner).records, chain.0, "{fault:?} at {number}");
        }
    }
}

#[test]
fn what_is_refused_is_not_kept_and_nothing_follows_it() {
    let inner = InMemory::default();
    let mut chain = Chain::started("run-a");
    let mut journal =
        begin(Faulty { inner: inner.clone(), faults: vec![] }, claimant(1, "run-a"), "p", None, &mut ()).unwrap();
    journal.append(&chain.0[0]).unwrap();
    journal.objects.faults = vec![Fault::Refused];
    let refused = StoreFailed::Unwritable { message: "configmaps is forbidden".to_owned() };
    assert_eq!(journal.append(&chain.push(intent("a"))), Err(refused.clone()));
    assert_eq!(journal.append(&chain.push(intent("b"))), Err(refused));
    assert_eq!(copy(&inner).records.len(), 1);
}

#[test]
fn a_second_run_is_refused_as_long_as_the_first_is_not_at_its_end() {
    let objects = InMemory::default();
    let (mut journal, mut chain) = begun(&objects);
    let second = || begin(objects.clone(), claimant(2, "run-b"), "p", None, &mut ());
    assert!(matches!(second(), Err(ClaimError::Held { run, holder: by, .. }) if run == "run-a" && by == holder(1)));
    let stuck = Event::Stuck { step: "move".to_owned(), cause: "no room".to_owned(), instructions: Vec::new() };
    journal.append(&chain.push(stuck)).unwrap();
    assert!(matches!(second(), Err(ClaimError::Unfinished { released: Some(Release::Stuck), .. })));
    begin(objects.clone(), claimant(2, "run-b"), "p", Some("run-a"), &mut ()).unwrap();
    assert_eq!(copy(&objects).head.epoch, 2);
}

#[test]
fn a_run_that_has_ended_leaves_the_place_to_the_next() {
    let objects = InMemory::default();
    let (mut journal, mut chain) = begun(&objects);
    journal.append(&chain.push(Event::Finished { verdict: Verdict::Done })).unwrap();
    begin(objects.clone(), claimant(2, "run-b"), "p", None, &mut ()).unwrap();
    assert_eq!((copy(&objects).head.run, copy(&objects).records.len()), ("run-b".to_owned(), 0));
}

/// Somebody who lets the holder give a sign of life while it is waited for.
struct Alive<'a> {
    journal: &'a mut ClusterJournal<InMemory>,
    told: Option<(Timestamp, Timestamp)>,
}

impl Watching for Alive<'_> {
    fn silent(&mut self, _: &Holder, since: Timestamp, until: Timestamp) {
        self.told = Some((since, until));
        self.journal.keep_alive(since + Seconds::new(60)).unwrap();
    }
}

#[test]
fn a_silent_holder_is_waited_for_and_superseded_and_a_living_one_is_not() {
    let objects = InMemory::default();
    let (mut journal, mut chain) = begun(&objects);
    journal.append(&chain.push(intent("a"))).unwrap();

    let mut alive = Alive { journal: &mut journal, told: None };
    let copied = copy(&objects);
    let refused = take(objects.clone(), claimant(2, "run-a"), Some(copied), "p", |_| false, &mut alive);
    assert!(matches!(refused, Err(ClaimError::Held { .. })), "{refused:?}");
    let (since, until) = alive.told.unwrap();
    assert_eq!(until, since + takeover_after());

    let before = objects.now();
    let copied = copy(&objects);
    let mut next = take(objects.clone(), claimant(2, "run-a"), Some(copied), "p", |_| false, &mut ()).unwrap();
    assert!(objects.now() >= before + takeover_after(), "taken over too early");
    assert_eq!((next.head().epoch, next.head().holder.pid), (2, 2));

    // The old holder wakes up: its answer is no write, its next intent is refused, and everything after it.
    let mut theirs = Chain(chain.0.clone());
    journal.append(&chain.push(answered())).unwrap();
    let superseded = StoreFailed::Superseded { by: holder(2).to_string(), run: "run-a".to_owned() };
    assert_eq!(journal.append(&chain.push(intent("b"))), Err(superseded.clone()));
    assert_eq!(journal.keep_alive(objects.now()), Err(superseded));
    next.append(&theirs.push(Event::Resumed { program: "rehome".to_owned(), torn_bytes: 0 })).unwrap();
    assert_eq!(copy(&objects).records, theirs.0);
}

#[test]
fn a_holder_that_is_known_to_be_dead_is_not_waited_for() {
    let objects = InMemory::default();
    let (..) = begun(&objects);
    let before = objects.now();
    let copied = copy(&objects);
    let ours = |by: &Holder| by.pid == 1;
    take(objects.clone(), claimant(2, "run-a"), Some(copied), "p", ours, &mut ()).unwrap();
    assert_eq!(objects.now(), before);
}

#[test]
fn of_two_that_take_a_run_at_once_one_has_it() {
    let objects = InMemory::default();
    let (mut journal, mut chain) = begun(&objects);
    journal.append(&chain.push(Event::Interrupted {})).unwrap();
    let copied = copy(&objects);
    take(objects.clone(), claimant(2, "run-a"), Some(copied.clone()), "p", |_| false, &mut ()).unwrap();
    let second = take(objects.clone(), claimant(3, "run-a"), Some(copied), "p", |_| false, &mut ());
    assert!(matches!(second, Err(ClaimError::Held { holder: ref by, .. }) if *by == holder(2)), "{second:?}");
}

#[test]
fn a_head_that_somebody_deleted_ends_the_run_and_the_file_makes_a_new_one() {
    let objects = InMemory::default();
    let (mut journal, mut chain) = begun(&objects);
    objects.delete(HEAD);
    assert!(matches!(journal.append(&chain.push(intent("a"))), Err(StoreFailed::Superseded { .. })));
    chain.0.pop();
    let mut next = take(objects.clone(), claimant(1, "run-a"), None, "the plan", |_| false, &mut ()).unwrap();
    next.ahead(&chain.0).unwrap();
    next.append(&chain.push(intent("a"))).unwrap();
    assert_eq!(copy(&objects).records, chain.0);
    // The one from before, had it only been frozen, has a head of another incarnation.
    assert!(journal.append(&chain.push(intent("c"))).is_err());
}

#[test]
fn a_segment_that_was_made_before_a_crash_is_no_obstacle() {
    let objects = InMemory::default();
    let (mut journal, mut chain) = begun(&objects);
    let mut next = chain.push(intent("a"));
    while journal.tail.len() + crate::journal::line(&next).unwrap().len() <= TAIL_LIMIT {
        journal.append(&next).unwrap();
        next = chain.push(intent("a"));
    }
    let name = journal.head().segment_name();
    let text = format!("{}{}", journal.tail, crate::journal::line(&next).unwrap());
    let data = [(head::JOURNAL.to_owned(), text)].into();
    objects.clone().create(&name, "run-a", &data).unwrap();
    journal.append(&next).unwrap();
    assert_eq!(copy(&objects).records, chain.0);
    assert_eq!(copy(&objects).head.segments.len(), 1);
}

#[test]
fn damage_is_seen() {
    let objects = InMemory::default();
    let (mut journal, mut chain) = begun(&objects);
    while journal.head().segments.is_empty() {
        journal.append(&chain.push(intent("a"))).unwrap();
    }
    let change = |name: &str, key: &str, old: &str, new: &str| {
        let changed = InMemory::default();
        for name in objects.names() {
            let stored = objects.clone().get(&name).unwrap().unwrap();
            changed.clone().create(&name, "run-a", &stored.data).unwrap();
        }
        let mut stored = changed.clone().get(name).unwrap().unwrap();
        let text = stored.data.get_mut(key).unwrap();
        *text = text.replacen(old, new, 1);
        changed.clone().swap(name, &stored.version, &stored.data).unwrap();
        read(&mut changed.clone()).unwrap_err().to_string()
    };
    let segment = journal.head().segments[0].name.clone();
    assert!(change(&segment, "journal", "shop", "shot").contains("does not follow"));
    assert!(change(HEAD, "head", "\"nextSeq\": ", "\"nextSeq\": 1").contains("as the last record"));
    assert!(change(HEAD, "head", "v1alpha1", "v9").contains("apiVersion"));
    assert!(change(HEAD, "head", "\"run\": \"run-a\"", "\"run\": \"../../etc/run\"").contains("is no name"));
    assert!(change(HEAD, "head", "bastion", "bas\\u001b[2Jtion").contains("is no name"));
    objects.delete(&segment);
    assert!(read(&mut objects.clone()).unwrap_err().to_string().contains(&segment));
}

#[test]
fn which_copy_wins() {
    let mut chain = Chain::started("run-a");
    for pod in ["a", "b", "c"] {
        chain.push(intent(pod));
    }
    let all = &chain.0;
    let mut other = Chain(all[..2].to_vec());
    other.push(Event::Resumed { program: "rehome".to_owned(), torn_bytes: 0 });
    assert_eq!(compare(all, all), Winner::Either);
    assert_eq!(compare(all, &all[..2]), Winner::File { more: 2 });
    assert_eq!(compare(&all[..1], all), Winner::Cluster { more: 3 });
    assert_eq!(compare(all, &other.0), Winner::ClusterInstead { common: 2, dropped: 2 });
    assert_eq!(compare(all, &Chain::started("run-b").0), Winner::Neither);
}
