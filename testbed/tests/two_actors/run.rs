//! A run of the built program in a place, in the background.

use std::path::{Path, PathBuf};
use std::process::{Child, Stdio};

use rehome_model::journal::{Event, Record};
use rehome_testbed::audit::{Evidence, Violation, check, read};
use rehome_testbed::clock;
use rehome_testbed::control_plane::rule;
use rustix::process::{Pid, Signal, kill_process};

use crate::place::{LIMIT, Place};
use crate::program::{self, Ran};

/// The user as which the program runs, in this place only, so that the audit log says what is whose.
fn user(place: &Place) -> String {
    format!("mover-of-{}", place.name)
}

/// The user's kubeconfig. What it needs is the matter of other tests: it may do everything.
pub(crate) fn mover(place: &Place) -> PathBuf {
    let all = rule("*", &["*"], &["*"]);
    place.plane.identity(&user(place), &[all]).unwrap().kubeconfig.clone()
}

/// A process of the program.
pub(crate) struct Run(Child);

impl Run {
    /// Starts the program in a folder.
    pub(crate) fn start(folder: &Path, arguments: &[&str]) -> Self {
        let child = program::command(folder, arguments).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        Self(child)
    }

    /// Starts the move of a place.
    pub(crate) fn execute(place: &Place) -> Self {
        Self::start(place.folder(), &place.execute(&mover(place)))
    }

    pub(crate) fn pid(&self) -> u32 {
        self.0.id()
    }

    pub(crate) fn signal(&self, signal: Signal) {
        kill_process(Pid::from_child(&self.0), signal).unwrap();
    }

    pub(crate) fn kill(mut self) {
        self.0.kill().unwrap();
        self.0.wait().unwrap();
    }

    /// Waits until the journal of the place says so.
    pub(crate) fn until(&mut self, place: &Place, what: &str, holds: impl Fn(&[Record]) -> bool) {
        clock::wait_for(what, LIMIT, || {
            let text = place.journal();
            let records = rehome_engine::journal::read(text.as_bytes()).map(|read| read.records).unwrap_or_default();
            if holds(&records) {
                return Ok(());
            }
            match self.0.try_wait().unwrap() {
                Some(status) => panic!("{what}: ended before, {status}: {:?}", records.last()),
                None => Err(format!("{:?}", records.last())),
            }
        })
        .unwrap();
    }

    /// Waits for its end.
    pub(crate) fn end(self) -> Ran {
        let ran = Ran::of(&self.0.wait_with_output().unwrap());
        println!("{}{}exit {}", ran.stdout, ran.stderr, ran.code);
        ran
    }
}

/// A run of a place that cannot get past its first move before [`Held::release`], and who runs it.
pub(crate) struct Held {
    pub(crate) place: Place,
    /// The kubeconfig of who runs it.
    pub(crate) kubeconfig: String,
    pub(crate) run: Run,
}

impl Held {
    /// Begins it, and waits until a pod is on its way.
    pub(crate) fn begin(name: &str) -> Self {
        let place = Place::new(name);
        let mover = mover(&place);
        place.prepare(&mover);
        taint(&place, "held=yes:NoSchedule");
        let mut run = Run::execute(&place);
        run.until(&place, "a pod to be on its way", under_way);
        Self { kubeconfig: mover.to_str().unwrap().to_owned(), place, run }
    }

    /// Pods can go to the new nodes.
    pub(crate) fn release(&self) {
        release(&self.place);
    }

    /// Another machine: a folder with nothing in it but the approval.
    pub(crate) fn elsewhere(&self) -> tempfile::TempDir {
        let there = tempfile::tempdir().unwrap();
        std::fs::copy(self.place.folder().join("approval.json"), there.path().join("approval.json")).unwrap();
        there
    }
}

/// Pods can go to the new nodes again.
pub(crate) fn release(place: &Place) {
    taint(place, "held-");
}

/// The whole records of a journal.
pub(crate) fn records(journal: &Path) -> Vec<Record> {
    let text = std::fs::read(journal).unwrap_or_default();
    rehome_engine::journal::read(&text).map(|read| read.records).unwrap_or_default()
}

/// Whether a pod is on its way: a move was begun and something was sent for it.
pub(crate) fn under_way(records: &[Record]) -> bool {
    records.iter().any(|record| match &record.event {
        Event::Intent { step, .. } => step.contains("/move/"),
        _ => false,
    })
}

/// How many evictions and deletions were announced.
pub(crate) fn announced(records: &[Record]) -> usize {
    let moves = |record: &&Record| match &record.event {
        Event::Intent { request, .. } => !matches!(request, rehome_model::request::Request::SetField(_)),
        _ => false,
    };
    records.iter().filter(moves).count()
}

/// Closes or opens the new nodes for new pods, so that a move cannot end before it shall.
fn taint(place: &Place, taint: &str) {
    for node in place.pool("new").split(',') {
        place.plane.kubectl(&["taint", "node", node, taint]).unwrap();
    }
}

/// Nothing was done twice, or without a record before it, whoever did it.
pub(crate) fn in_order(place: &Place, journal: &Path) {
    in_order_but_for(place, journal, &[]);
}

/// The same, but for pods that a person deleted: the checker names each of them.
pub(crate) fn in_order_but_for(place: &Place, journal: &Path, deleted: &[String]) {
    let plan = serde_json::from_str(&std::fs::read_to_string(place.folder().join("plan.json")).unwrap()).unwrap();
    let events = read::log(&place.plane.audit_log()).unwrap();
    let records = records(journal);
    let violations = check(&Evidence::new(&plan, &records, &user(place), &events));
    let named = |pod: &String| violations.iter().any(|violation| violation.message.contains(pod.as_str()));
    assert!(deleted.iter().all(named), "{deleted:?}: {violations:#?}");
    let other = |violation: &&Violation| !deleted.iter().any(|pod| violation.message.contains(pod.as_str()));
    let others: Vec<&Violation> = violations.iter().filter(other).collect();
    assert!(others.is_empty(), "{others:#?}");
}
