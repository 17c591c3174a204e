//! rehome on one home: capture, plan, run. The same functions that the program calls, in this process, so that a test can
//! look on and stop.
//!
//! A capture is cut down to the home: tests beside this one fence nodes and move pods of their own.

use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};

use rehome_engine::drive::{End, Observer};
use rehome_engine::journal::{JournalStore, StoreFailed};
use rehome_kube::{Connection, ConnectionFlags, KubeWorld, capture};
use rehome_model::finding::Finding;
use rehome_model::intent::Intent;
use rehome_model::journal::{Event, Receipt, Record, Verdict};
use rehome_model::plan::Plan;
use rehome_model::request::Request;
use rehome_model::time::Seconds;
use rehome_model::{Digest, document};
use rehome_run::carry_out::{self, Job, RunError};
use rehome_run::journal_file::Held;
use rehome_run::read;
use serde_json::Value;

use crate::home::{Home, plane};

/// Kinds without a namespace whose objects belong to one home: their names begin with its name.
const OWNED: [&str; 4] = ["Node", "CSINode", "PersistentVolume", "VolumeAttachment"];

pub(crate) fn connect(user: &Path) -> Connection {
    let flags = ConnectionFlags { kubeconfig: Some(user.to_owned()), ..ConnectionFlags::default() };
    Connection::open(&flags, "rehome/test").unwrap()
}

/// What a capture shows of a home.
fn captured(home: &Home) -> read::Loaded {
    let mut snapshot = capture::capture(&connect(plane().admin_kubeconfig()), &mut |_| {}).unwrap();
    let ours = |text: &str| {
        let object: Value = serde_json::from_str(text).unwrap();
        let name = object["metadata"]["name"].as_str().unwrap();
        match object["metadata"]["namespace"].as_str() {
            Some(namespace) => namespace == home.name,
            None if object["kind"] == "Namespace" => name == home.name,
            None => !OWNED.iter().any(|kind| object["kind"] == *kind) || name.starts_with(&format!("{}-", home.name)),
        }
    };
    snapshot.objects.retain(|object| ours(object.get()));
    read::captured(snapshot).unwrap()
}

/// A plan to empty nodes onto `new`.
pub(crate) fn plan(home: &Home, from: &[&str]) -> Plan {
    plan_with(home, from, |_| {})
}

/// The same, with other wishes.
pub(crate) fn plan_with(home: &Home, from: &[&str], wish: impl FnOnce(&mut Intent)) -> Plan {
    let from: Vec<String> = from.iter().map(|node| home.full(node)).collect();
    let mut intent = Intent::new(from.join(","), home.full("new"));
    wish(&mut intent);
    let loaded = captured(home);
    rehome_plan::plan(&loaded.view, loaded.digest.clone(), &intent).unwrap()
}

/// A wish: a moved pod has 8 s to become Ready.
pub(crate) fn impatient(intent: &mut Intent) {
    intent.ready_deadline = Seconds::new(8);
}

/// The blocking finding of this rule.
pub(crate) fn blocker<'p>(plan: &'p Plan, rule: &str) -> &'p Finding {
    let found = plan.blockers().find(|finding| finding.rule == rule);
    found.unwrap_or_else(|| panic!("{rule} does not block: {:#?}", plan.findings))
}

fn job(plan: &Plan) -> Job {
    let value = serde_json::to_value(plan).unwrap();
    Job::new(document::Loaded { document: plan.clone(), digest: Digest::of(&value).unwrap() }, "test")
}

/// What is seen of a run while it runs.
#[derive(Default)]
struct Seen {
    records: Vec<Record>,
    reasons: Vec<String>,
}

/// A run that goes on in a thread of its own.
pub(crate) struct Running<'h> {
    home: &'h Home,
    seen: Arc<Mutex<Seen>>,
    stop: Arc<AtomicBool>,
}

impl Running<'_> {
    /// Waits until the run waits for a reason that holds this.
    pub(crate) fn waits_for(&self, part: &str) -> String {
        self.home.until(&format!("rehome to wait for {part:?}"), || {
            let seen = self.seen.lock().unwrap();
            let found = seen.reasons.iter().find(|reason| reason.contains(part));
            found.cloned().ok_or_else(|| format!("{:?}", seen.reasons))
        })
    }

    /// Whether there is such a record by now.
    pub(crate) fn recorded(&self, find: impl Fn(&Event) -> bool) -> bool {
        self.seen.lock().unwrap().records.iter().any(|record| find(&record.event))
    }

    /// Asks the run to stop, as Ctrl-C does.
    pub(crate) fn stop(&self) {
        self.stop.store(true, Ordering::SeqCst);
    }
}

struct Watcher(Arc<Mutex<Seen>>);

impl Observer for Watcher {
    fn recorded(&mut self, record: &Record) {
        self.0.lock().unwrap().records.push(record.clone());
    }

    fn waiting(&mut self, step: &str, reason: &str) {
        self.0.lock().unwrap().reasons.push(format!("{step}: {reason}"));
    }
}

/// How a run ended.
pub(crate) struct Ran {
    pub(crate) end: Result<End, RunError>,
    pub(crate) records: Vec<Record>,
    pub(crate) reasons: Vec<String>,
}

impl Ran {
    pub(crate) fn done(&self) {
        assert!(matches!(self.end, Ok(End::Finished(Verdict::Done))), "{:?}\n{:#?}", self.end, self.reasons);
    }

    /// The step and the cause.
    pub(crate) fn stuck(&self) -> (&str, &str) {
        match &self.end {
            Ok(End::Stuck { step, cause, .. }) => (step, cause),
            end => panic!("{end:?}\n{:#?}", self.reasons),
        }
    }

    /// The requests, in their order.
    pub(crate) fn requests(&self) -> impl Iterator<Item = &Request> {
        self.records.iter().filter_map(|record| match &record.event {
            Event::Intent { request, .. } => Some(request),
            _ => None,
        })
    }

    /// The UIDs that evictions were sent for.
    pub(crate) fn evicted(&self) -> Vec<&str> {
        let uids = self.requests().filter_map(|request| match request {
            Request::Evict { uid, .. } => Some(uid.0.as_str()),
            _ => None,
        });
        uids.collect()
    }

    pub(crate) fn receipts(&self) -> Vec<&Receipt> {
        let receipts = self.records.iter().filter_map(|record| match &record.event {
            Event::Moved { receipt, .. } => Some(receipt),
            _ => None,
        });
        receipts.collect()
    }
}

/// Carries a plan out, and does something meanwhile.
pub(crate) fn execute(home: &Home, plan: &Plan, meanwhile: impl FnOnce(&Running<'_>)) -> Ran {
    execute_as(home, plane().admin_kubeconfig(), plan, meanwhile)
}

/// The same, as somebody.
pub(crate) fn execute_as(home: &Home, user: &Path, plan: &Plan, meanwhile: impl FnOnce(&Running<'_>)) -> Ran {
    let running = Running { home, seen: Arc::default(), stop: Arc::default() };
    let (mut watcher, stop, job) = (Watcher(Arc::clone(&running.seen)), Arc::clone(&running.stop), job(plan));
    let end = std::thread::scope(|scope| {
        let run = scope.spawn(move || {
            let mut world = KubeWorld::start(&connect(user), stop).unwrap();
            carry_out::execute(&job, None, &mut world, &mut Vec::new(), &mut watcher)
        });
        // A test that fails must not leave the run behind it: the scope would wait for it.
        let did = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| meanwhile(&running)));
        if let Err(panic) = did {
            running.stop();
            std::panic::resume_unwind(panic);
        }
        run.join().unwrap()
    });
    let seen = std::mem::take(&mut *running.seen.lock().unwrap());
    Ran { end, records: seen.records, reasons: seen.reasons }
}

/// A journal whose process dies right after the first record that it is told to die after.
struct Mortal {
    records: Vec<Record>,
    dies_after: fn(&Event) -> bool,
    dead: bool,
}

impl JournalStore for Mortal {
    fn append(&mut self, record: &Record) -> Result<(), StoreFailed> {
        if self.dead {
            return Err(StoreFailed::Unwritable { message: "killed".to_owned() });
        }
        self.records.push(record.clone());
        self.dead = (self.dies_after)(&record.event);
        Ok(())
    }
}

/// Carries a plan out, and dies after every record that `dies_after` names; each time another process goes on. Gives the
/// whole journal, and how often it died.
pub(crate) fn execute_dying(plan: &Plan, dies_after: fn(&Event) -> bool) -> (Vec<Record>, usize) {
    let (job, mut records, mut deaths) = (job(plan), Vec::new(), 0);
    loop {
        let mut world = KubeWorld::start(&connect(plane().admin_kubeconfig()), Arc::default()).unwrap();
        let held = Held { records: records.clone(), torn_bytes: 0 };
        let mut store = Mortal { records, dies_after, dead: false };
        let end = if held.records.is_empty() {
            carry_out::execute(&job, None, &mut world, &mut store, &mut ())
        } else {
            carry_out::resume(&job, &held, &mut world, &mut store, &mut ())
        };
        records = store.records;
        match end {
            Ok(End::Finished(Verdict::Done)) => return (records, deaths),
            Err(RunError::Drive(_)) if store.dead => deaths += 1,
            end => panic!("{end:?}"),
        }
    }
}

/// Puts back what a run changed.
pub(crate) fn roll_back(plan: &Plan, records: &[Record]) -> Ran {
    let held = Held { records: records.to_vec(), torn_bytes: 0 };
    let mut world = KubeWorld::start(&connect(plane().admin_kubeconfig()), Arc::default()).unwrap();
    let mut store = Vec::new();
    let end = carry_out::rollback(&job(plan), &held, &mut world, &mut store, &mut ());
    Ran { end, records: store, reasons: Vec::new() }
}
