//! A small run by hand: two pods of `web` are evicted, `api` is restarted, `db` is deleted with consent. It breaks
//! nothing; each test changes one thing.

use std::collections::BTreeSet;

use rehome_model::document::API_VERSION;
use rehome_model::journal::{Event, Record, Verdict};
use rehome_model::plan::Plan;
use rehome_model::request::{Cause, Outcome, Request};
use rehome_model::snapshot::ClusterIdentity;
use rehome_model::verb::{Evict, Verb};
use rehome_model::{Digest, ObjectRef, Seconds, Timestamp, Uid};
use serde_json::{Value, json};

use crate::audit::event::{AuditEvent, AuditRef};
use crate::audit::{Evidence, check};

/// The user of the controller that scales ReplicaSets.
pub(crate) const RS_CONTROLLER: &str = "system:serviceaccount:kube-system:replicaset-controller";

/// The evidence of a run, to be changed.
pub(crate) struct Case {
    pub(crate) plan: Plan,
    pub(crate) journal: Vec<Record>,
    pub(crate) events: Vec<AuditEvent>,
}

fn at(seconds: i64) -> Timestamp {
    Timestamp::from_millis(seconds * 1000)
}

impl Case {
    /// The user of the run.
    pub(crate) const USER: &'static str = "mover";

    /// The run that breaks nothing.
    pub(crate) fn good() -> Self {
        let mut case = Self { plan: plan(), journal: Vec::new(), events: Vec::new() };
        for (name, workload, node) in [
            ("web-1", "Deployment/web", "old-1"),
            ("web-2", "Deployment/web", "old-2"),
            ("api-1", "Deployment/api", "old-1"),
            ("api-2", "Deployment/api", "new-1"),
            ("db-0", "StatefulSet/db", "old-1"),
        ] {
            case.pod(name, workload, node);
        }
        case.record(100, started());
        case.record(101, Event::StepStarted { step: "move/web".into(), leaving: vec![], known: vec![] });
        case.record(102, Event::StepAlreadyDone { step: "fence".into() });
        case.send(102, "move/web", 1, evict("web-1"), 201);
        case.remove_by("web-1", "kwok", 103);
        case.pod_at("web-1b", "Deployment/web", "new-1", true, 104);
        case.send(110, "move/web", 1, evict("web-2"), 201);
        case.pod_at("web-2b", "Deployment/web", "new-1", true, 112);
        case.record(120, Event::StepDone { step: "move/web".into() });
        case.record(121, Event::StepStarted { step: "restart/api".into(), leaving: vec![], known: vec![] });
        case.pod_at("api-1b", "Deployment/api", "new-1", true, 122);
        case.remove_by("api-1", RS_CONTROLLER, 124);
        case.pod_at("api-2b", "Deployment/api", "new-1", true, 125);
        case.remove_by("api-2", RS_CONTROLLER, 127);
        case.record(140, Event::StepDone { step: "restart/api".into() });
        case.record(141, Event::StepStarted { step: "delete/db".into(), leaving: vec![], known: vec![] });
        case.send(142, "delete/db", 1, Request::Delete { pod: ObjectRef::pod("x", "db-0"), uid: "db-0".into() }, 200);
        case.record(150, Event::StepDone { step: "delete/db".into() });
        case.record(400, Event::Finished { verdict: Verdict::Done });
        case
    }

    /// The names of the broken invariants.
    pub(crate) fn broken(&self) -> String {
        let mut events = self.events.clone();
        events.sort_by_key(|event| event.stage_timestamp);
        let evidence = Evidence::new(&self.plan, &self.journal, Self::USER, &events);
        let names: BTreeSet<_> = check(&evidence).into_iter().map(|violation| violation.invariant).collect();
        names.into_iter().collect::<Vec<_>>().join(" ")
    }

    /// The first request of the run about this object.
    pub(crate) fn request_of(&mut self, name: &str) -> &mut AuditEvent {
        let mut ours = self.events.iter_mut().filter(|event| event.user.username == Self::USER);
        ours.find(|event| event.object_ref.as_ref().unwrap().name.as_deref() == Some(name)).unwrap()
    }

    /// Where the journal has the answer to an intent.
    pub(crate) fn answer_to(&self, seq: u64) -> usize {
        self.journal.iter().position(|r| matches!(r.event, Event::Answer { intent, .. } if intent == seq)).unwrap()
    }

    /// The step that evicts `web`.
    pub(crate) fn plan_evict(&mut self) -> &mut Evict {
        match &mut self.plan.waves[0].steps[0].verb {
            Verb::Evict(evict) => evict,
            _ => unreachable!("the first step evicts"),
        }
    }

    /// The step that deletes `db` becomes one that evicts it, which is no consent.
    pub(crate) fn plan_without_consent(&mut self) {
        let step = &mut self.plan.waves[0].steps[2];
        if let Verb::Delete(delete) = &step.verb {
            let (lineages, off, onto) = (vec![delete.lineage.clone()], delete.off.clone(), delete.onto.clone());
            step.verb = Verb::Evict(Evict { lineages, off, onto });
        }
    }

    /// A Ready pod from before the run. The workload is `Kind/name`.
    pub(crate) fn pod(&mut self, name: &str, workload: &str, node: &str) {
        self.pod_at(name, workload, node, true, 60);
    }

    /// A pod from before the run that is not Ready.
    pub(crate) fn unready_pod(&mut self, name: &str, workload: &str, node: &str) {
        self.pod_at(name, workload, node, false, 60);
    }

    fn pod_at(&mut self, name: &str, workload: &str, node: &str, ready: bool, time: i64) {
        let (kind, owner) = workload.split_once('/').unwrap();
        let mut controller = json!({"kind": kind, "name": owner, "uid": owner, "controller": true});
        if kind == "Deployment" {
            let set = format!("{owner}-rs");
            let body =
                json!({"metadata": {"namespace": "x", "name": set, "uid": set, "ownerReferences": [controller]}});
            self.other("replicasets", &set, None, body, time);
            controller = json!({"kind": "ReplicaSet", "name": set, "uid": set, "controller": true});
        }
        let body = json!({
            "metadata": {"namespace": "x", "name": name, "uid": name, "labels": {"app": owner},
                "ownerReferences": [controller]},
            "spec": {"nodeName": node},
            "status": {"phase": "Running",
                "conditions": [{"type": "Ready", "status": if ready { "True" } else { "False" }}]},
        });
        self.other("pods", name, Some("status"), body, time);
    }

    /// The pod ends by itself.
    pub(crate) fn finish(&mut self, name: &str) {
        let body = json!({"metadata": {"namespace": "x", "name": name, "uid": name}, "status": {"phase": "Succeeded"}});
        self.other("pods", name, Some("status"), body, 70);
    }

    /// A budget whose controller asks for so many healthy pods with the label `app`.
    pub(crate) fn budget(&mut self, name: &str, app: &str, desired: i64) {
        let body = json!({
            "metadata": {"namespace": "x", "name": name, "uid": name},
            "spec": {"selector": {"matchLabels": {"app": app}}},
            "status": {"observedGeneration": 1, "desiredHealthy": desired},
        });
        self.other("poddisruptionbudgets", name, Some("status"), body, 50);
    }

    fn other(&mut self, resource: &str, name: &str, subresource: Option<&str>, body: Value, time: i64) {
        let mut object = AuditRef::new(resource, Some("x"), name);
        object.subresource = subresource.map(str::to_owned);
        self.events.push(AuditEvent::new("-", "somebody", "update", object, at(time)).answer(
            at(time),
            200,
            Some(body),
        ));
    }

    /// Somebody deletes a pod after the last step, before the run's end.
    pub(crate) fn delete(&mut self, name: &str, user: &str) {
        self.remove_by(name, user, 200);
    }

    /// Somebody deletes a pod while `api` is restarted.
    pub(crate) fn delete_during_restart(&mut self, name: &str, user: &str) {
        self.remove_by(name, user, 130);
    }

    fn remove_by(&mut self, name: &str, user: &str, time: i64) {
        let grace = if user == "kwok" { json!({"gracePeriodSeconds": 0}) } else { json!({}) };
        let object = AuditRef::new("pods", Some("x"), name);
        let event = AuditEvent::new("-", user, "delete", object, at(time)).request(grace);
        self.events.push(event.answer(at(time), 200, None));
    }

    /// The run evicts one more pod, after its last step.
    pub(crate) fn evict(&mut self, name: &str) {
        self.send(300, "move/web", 1, evict(name), 201);
    }

    /// The first eviction of a pod is tried again so long after it was written down; the pod is gone by then.
    pub(crate) fn evict_again(&mut self, name: &str, later: Seconds) {
        let first =
            self.journal.iter().find(|r| matches!(&r.event, Event::Intent { request, .. } if *request == evict(name)));
        let time = (first.unwrap().at + later).as_millis() / 1000;
        self.send(time, "move/web", 2, evict(name), 404);
    }

    fn record(&mut self, time: i64, event: Event) -> u64 {
        let seq = self.journal.len() as u64;
        self.journal.push(Record { seq, at: at(time), prev: Digest::zero(), event });
        seq
    }

    /// Intent, request and answer.
    fn send(&mut self, time: i64, step: &str, attempt: u32, request: Request, code: u16) {
        let seq = self.record(time, Event::Intent { step: step.to_owned(), attempt, request: request.clone() });
        let object = AuditRef::new("pods", Some("x"), &request.target().name);
        let (verb, object, body) = match &request {
            Request::Evict { uid, .. } => {
                ("create", object.subresource("eviction"), json!({"deleteOptions": {"preconditions": {"uid": uid}}}))
            }
            Request::Delete { uid, .. } => ("delete", object, json!({"preconditions": {"uid": uid}})),
            Request::SetField(_) => unreachable!("no case sets a field"),
        };
        let event = AuditEvent::new(&format!("run/{seq}/{attempt}"), Self::USER, verb, object, at(time));
        self.events.push(event.request(body).answer(at(time) + Seconds::from_millis(500), code, None));
        let outcome = if code < 300 { Outcome::Applied } else { Outcome::Rejected { cause: Cause::NotFound } };
        self.record(time + 1, Event::Answer { intent: seq, outcome });
    }
}

fn evict(name: &str) -> Request {
    Request::Evict { pod: ObjectRef::pod("x", name), uid: Uid::from(name) }
}

fn started() -> Event {
    Event::RunStarted {
        api_version: API_VERSION.to_owned(),
        run: "run".to_owned(),
        plan: Digest::zero(),
        approval: None,
        cluster: ClusterIdentity::default(),
        program: "test".to_owned(),
    }
}

fn plan() -> Plan {
    let lineage = |kind: &str, name: &str, pods: usize| json!({"workload": {"kind": kind, "namespace": "x", "name": name}, "pods": pods});
    let step = |name: &str, verb: Value| {
        let mut step = json!({
            "name": name, "after": {}, "because": "", "requires": [], "establishes": [],
            "undo": {"undo": "nothing"}, "deadline": 60,
        });
        step.as_object_mut().unwrap().extend(verb.as_object().unwrap().clone());
        step
    };
    let (off, onto) = (json!(["old-1", "old-2"]), json!(["new-1"]));
    let steps = json!([
        step(
            "move/web",
            json!({"verb": "evict", "lineages": [lineage("Deployment", "web", 2)], "off": off, "onto": onto})
        ),
        step(
            "restart/api",
            json!({
                "verb": "restart", "lineage": lineage("Deployment", "api", 1), "restartedElsewhere": 1, "off": off,
                "from": null, "to": "now",
            })
        ),
        step(
            "delete/db",
            json!({
                "verb": "delete", "lineage": lineage("StatefulSet", "db", 1), "off": off, "onto": onto,
                "consent": "deletePastBudget", "successor": "awaited",
            })
        ),
    ]);
    let plan = json!({
        "apiVersion": API_VERSION, "kind": "Plan", "snapshot": Digest::zero(), "cluster": {},
        "intent": {"apiVersion": API_VERSION, "kind": "Intent", "from": "pool=old", "to": "pool=new"},
        "sources": off, "targets": onto, "bystanders": [], "moves": [], "stays": [], "pending": [], "findings": [],
        "waves": [{"name": "w1", "title": "", "steps": steps}],
    });
    serde_json::from_value(plan).unwrap()
}
