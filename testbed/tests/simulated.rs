//! The checker on the log of the simulated world: the same events, the same verdicts.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test that cannot go on has failed")]

use std::collections::BTreeSet;

use rehome_engine::world::World as _;
use rehome_k8s::owner;
use rehome_model::behaviour::Behaviour;
use rehome_model::document::API_VERSION;
use rehome_model::journal::{Event, Record};
use rehome_model::plan::Plan;
use rehome_model::request::Request;
use rehome_model::snapshot::ClusterIdentity;
use rehome_model::{Digest, ObjectRef, Seconds, Timestamp};
use rehome_sim::SimWorld;
use rehome_sim::world::ENGINE_USER;
use rehome_testbed::audit::probe::{By, probe};
use rehome_testbed::audit::{AuditEvent, Evidence, Timeline, check};
use serde_json::{Value, json};

const START: Timestamp = Timestamp::from_millis(1_800_000_000_000);

fn web() -> ObjectRef {
    ObjectRef::namespaced("Deployment", "x", "web")
}

/// Two pods of `web` under a budget on `old`, and `new` as the only place to go.
fn world() -> SimWorld {
    let view = rehome_k8s::View::new(ClusterIdentity::default());
    let mut world = SimWorld::new(view, Behaviour::prompt(), 7, START);
    let labels = json!({"app": "web"});
    let template = json!({"metadata": {"labels": labels}, "spec": {"containers": [{"name": "web", "image": "web"}]}});
    let mut make = |object: Value| world.create("admin", &object.to_string()).unwrap();
    make(json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "x"}}));
    make(node("old"));
    make(json!({"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"namespace": "x", "name": "web"},
        "spec": {"replicas": 2, "selector": {"matchLabels": labels}, "template": template}}));
    make(json!({"apiVersion": "v1", "kind": "Service", "metadata": {"namespace": "x", "name": "web"},
        "spec": {"selector": labels, "ports": [{"port": 80}]}}));
    make(
        json!({"apiVersion": "policy/v1", "kind": "PodDisruptionBudget", "metadata": {"namespace": "x", "name": "web"},
        "spec": {"maxUnavailable": 1, "selector": {"matchLabels": labels}}}),
    );
    world.advance(Seconds::new(60));
    world.create("admin", &node("new").to_string()).unwrap();
    world
}

fn node(name: &str) -> Value {
    let room = json!({"cpu": "4", "memory": "8Gi", "pods": "10"});
    json!({"apiVersion": "v1", "kind": "Node", "metadata": {"name": name}, "status": {"allocatable": room, "capacity": room,
        "conditions": [{"type": "Ready", "status": "True"}]}})
}

fn plan() -> Plan {
    let step = json!({
        "name": "move/web", "verb": "evict", "off": ["old"], "onto": ["new"], "after": {}, "because": "", "requires": [],
        "lineages": [{"workload": web(), "pods": 2}], "establishes": [], "undo": {"undo": "nothing"}, "deadline": 60,
    });
    serde_json::from_value(json!({
        "apiVersion": API_VERSION, "kind": "Plan", "snapshot": Digest::zero(), "cluster": {},
        "intent": {"apiVersion": API_VERSION, "kind": "Intent", "from": "pool=old", "to": "pool=new"},
        "sources": ["old"], "targets": ["new"], "bystanders": [], "moves": [], "stays": [], "pending": [],
        "findings": [], "waves": [{"name": "w1", "title": "", "steps": [step]}],
    }))
    .unwrap()
}

/// A run in miniature: it evicts both pods of `web` and writes a journal.
struct Run {
    world: SimWorld,
    before: Timeline,
    journal: Vec<Record>,
}

impl Run {
    fn new() -> Self {
        let mut world = world();
        // The log of the setting-up is left out: the run begins with what is there.
        let before = Timeline::of_view(world.truth(), world.now());
        let fence = "new".to_owned();
        world.run_until(START + Seconds::new(120), |view| view.node(&fence).is_some());
        let mut run = Self { world, before, journal: Vec::new() };
        run.record(Event::RunStarted {
            api_version: API_VERSION.to_owned(),
            run: "run".to_owned(),
            plan: Digest::zero(),
            approval: None,
            cluster: ClusterIdentity::default(),
            program: "test".to_owned(),
        });
        run.record(Event::StepStarted { step: "move/web".into(), leaving: vec![], known: vec![] });
        run
    }

    fn record(&mut self, event: Event) -> u64 {
        let seq = self.journal.len() as u64;
        self.journal.push(Record { seq, at: self.world.now(), prev: Digest::zero(), event });
        seq
    }

    fn leaving(&self) -> Vec<Request> {
        let pods = owner::pods_of(self.world.truth(), &web());
        let old = pods.into_iter().filter(|pod| pod.node.as_deref() == Some("old") && pod.meta.deleting.is_none());
        old.map(|pod| Request::Evict { pod: ObjectRef::pod("x", &pod.meta.name), uid: pod.meta.uid.clone() }).collect()
    }

    fn announce(&mut self, request: &Request) -> u64 {
        self.record(Event::Intent { step: "move/web".to_owned(), attempt: 1, request: request.clone() })
    }

    fn answered(&mut self, intent: u64, request: &Request) {
        let outcome = self.world.send(request, &format!("run/{intent}/1"));
        self.record(Event::Answer { intent, outcome });
    }

    /// Waits until both pods of `web` are Ready again.
    fn settle(&mut self) {
        let until = self.world.now() + Seconds::new(60);
        let serving = |view: &rehome_k8s::View| rehome_k8s::readiness::serving(view, &web()) == 2;
        assert!(self.world.run_until(until, serving));
        self.world.advance(Seconds::new(2));
    }

    /// What happened since the run began.
    fn events(&self) -> Vec<AuditEvent> {
        let log = self.world.audit_log();
        let events = log.lines().map(|line| serde_json::from_str::<AuditEvent>(line).unwrap());
        events.filter(|event| event.request_received_timestamp >= self.journal[0].at).collect()
    }

    /// The names of the broken invariants.
    fn broken(&self) -> BTreeSet<&'static str> {
        let (plan, events) = (plan(), self.events());
        let evidence = Evidence::from(self.before.clone(), &plan, &self.journal, ENGINE_USER, &events);
        check(&evidence).into_iter().map(|violation| violation.invariant).collect()
    }
}

#[test]
fn a_run_one_pod_after_the_other_breaks_nothing_and_is_seen_by_the_probe() {
    let mut run = Run::new();
    assert_eq!(run.leaving().len(), 2);
    let began = run.world.now();
    while let Some(request) = run.leaving().first().cloned() {
        let intent = run.announce(&request);
        run.answered(intent, &request);
        run.settle();
        // The other node is not fenced here: a pod that came back to it ends the test, not the loop.
        assert!(run.journal.len() < 20);
    }
    assert_eq!(run.broken(), BTreeSet::new());
    let (plan, events) = (plan(), run.events());
    let evidence = Evidence::from(run.before.clone(), &plan, &run.journal, ENGINE_USER, &events);
    let availability = probe(&evidence.timeline, [&web()], began, run.world.now()).remove(&web()).unwrap();
    assert!(matches!(availability.by, By::Service(_)), "{availability:?}");
    assert_eq!(availability.total(), Seconds::ZERO, "{availability:?}");
}

#[test]
fn a_request_that_was_written_down_afterwards_is_seen() {
    let mut run = Run::new();
    let request = run.leaving().remove(0);
    let outcome = run.world.send(&request, "run/2/1");
    let intent = run.announce(&request);
    run.record(Event::Answer { intent, outcome });
    assert_eq!(run.broken(), BTreeSet::from(["written-before-sent"]));
}

#[test]
fn an_eviction_by_name_is_seen() {
    let mut run = Run::new();
    let request = run.leaving().remove(0);
    let intent = run.announce(&request);
    let id = format!("run/{intent}/1");
    run.world.evict(ENGINE_USER, request.target(), None, Some(&id)).unwrap();
    assert_eq!(run.broken(), BTreeSet::from(["right-incarnation"]));
}

#[test]
fn deletions_past_the_budget_are_seen() {
    let mut run = Run::new();
    for request in run.leaving() {
        let Request::Evict { pod, uid } = &request else { panic!("{request}") };
        let delete = Request::Delete { pod: pod.clone(), uid: uid.clone() };
        let intent = run.announce(&request);
        run.answered(intent, &delete);
    }
    assert_eq!(run.broken(), BTreeSet::from(["never-below-budget", "written-before-sent"]));
}
