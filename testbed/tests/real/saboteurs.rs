//! The engine itself on the real control plane, honest and with a saboteur around it: the checker, from the real audit
//! log, has nothing to say about the one and calls the other by the invariant that it broke.
//!
//! Evicting by name is in `checker.rs`: the adapter cannot leave the UID out.

use std::collections::BTreeSet;
use std::sync::Arc;

use rehome_engine::drive::{self, End, Start};
use rehome_engine::journal::{JournalStore, StoreFailed};
use rehome_engine::machine::Machine;
use rehome_engine::world::World;
use rehome_kube::KubeWorld;
use rehome_model::journal::{Event, Record, Verdict};
use rehome_model::plan::Plan;
use rehome_model::request::{Outcome, Request};
use rehome_model::verb::FENCE_TAINT;
use rehome_model::{Digest, ObjectRef, Timestamp};
use rehome_testbed::audit::{Evidence, check, read};
use rehome_testbed::between::{Between, Through};
use rehome_testbed::control_plane::{ControlPlane, everything};
use rehome_testbed::kwok::FakeNode;
use serde_json::json;

use crate::adapter::{connect, evict, ready, start};
use crate::workload::web;

/// The world, which evicts a successor once more where `twice` is set.
struct Saboteur {
    inner: KubeWorld,
    twice: bool,
    target: String,
    last_eviction: String,
}

impl Between for Saboteur {
    type Behind = KubeWorld;

    fn behind(&self) -> &KubeWorld {
        &self.inner
    }

    fn behind_mut(&mut self) -> &mut KubeWorld {
        &mut self.inner
    }

    fn send(&mut self, request: &Request, audit_id: &str) -> Outcome {
        if matches!(request, Request::Evict { .. }) {
            audit_id.clone_into(&mut self.last_eviction);
        }
        self.inner.send(request, audit_id)
    }

    fn wait(&mut self, until: Timestamp) {
        self.inner.wait(until);
        let successor = self.inner.view().pods_on(&self.target).find(|pod| pod.ready && pod.meta.deleting.is_none());
        if let Some(successor) = successor.filter(|_| self.twice).cloned() {
            self.twice = self.inner.send(&evict(&successor), &self.last_eviction) != Outcome::Applied;
        }
    }
}

/// A journal that writes an announcement only when the answer is there, where `late` is set.
struct Journal {
    records: Vec<Record>,
    late: bool,
    announcement: Option<Record>,
}

impl JournalStore for Journal {
    fn append(&mut self, record: &Record) -> Result<(), StoreFailed> {
        if let Some(announcement) = self.announcement.take() {
            self.records.push(Record { at: record.at, ..announcement });
        }
        if self.late && matches!(record.event, Event::Intent { .. }) {
            self.announcement = Some(record.clone());
        } else {
            self.records.push(record.clone());
        }
        Ok(())
    }
}

/// Fences the node and moves both pods of `web`.
fn plan(namespace: &str, old: &str, new: &str) -> Plan {
    let workload = ObjectRef::namespaced("Deployment", namespace, "web");
    let common = |name: &str| {
        json!({"name": name, "after": {}, "because": "", "requires": [], "establishes": [],
            "undo": {"undo": "nothing"}, "deadline": 120})
    };
    let mut fence = common("fence");
    fence["verb"] = "change".into();
    fence["target"] = json!(ObjectRef::node(old));
    fence["field"] = json!({"field": "noScheduleTaint", "key": FENCE_TAINT});
    fence["to"] = namespace.into();
    let mut moving = common("move/web");
    moving["verb"] = "evict".into();
    moving["lineages"] = json!([{"workload": workload, "pods": 2}]);
    moving["off"] = json!([old]);
    moving["onto"] = json!([new]);
    let api = rehome_model::document::API_VERSION;
    serde_json::from_value(json!({
        "apiVersion": api, "kind": "Plan", "snapshot": Digest::zero(), "cluster": {},
        "intent": {"apiVersion": api, "kind": "Intent", "from": "a", "to": "b"},
        "sources": [old], "targets": [new], "bystanders": [], "moves": [], "stays": [], "pending": [],
        "findings": [], "waves": [{"name": "w1", "title": "", "steps": [fence, moving]}],
    }))
    .unwrap()
}

/// Runs the engine; how it ended, and the names of the broken invariants.
fn run(namespace: &str, late: bool, twice: bool) -> (End, BTreeSet<&'static str>) {
    let plane = ControlPlane::shared().unwrap();
    plane.namespace(namespace).unwrap();
    let (old, new) = (format!("{namespace}-old"), format!("{namespace}-new"));
    plane.create_nodes([FakeNode::new(&old).label("test", namespace)]).unwrap();
    plane.apply(&web(namespace, 2, Some(1))).unwrap();
    let user = format!("mover-{namespace}");
    let identity = plane.identity(&user, &everything()).unwrap();
    let connection = connect(identity.kubeconfig(), None);
    let mut inner = start(&connection);
    ready(&mut inner, namespace, 2);
    plane.create_nodes([FakeNode::new(&new).label("test", namespace)]).unwrap();

    let plan = plan(namespace, &old, &new);
    let mut world = Through(Saboteur { inner, twice, target: new, last_eviction: String::new() });
    let mut journal = Journal { records: Vec::new(), late, announcement: None };
    let mut machine = Machine::new(Arc::new(plan.clone()), Digest::zero());
    let first = Start {
        run: namespace.to_owned(),
        plan: Digest::zero(),
        approval: None,
        cluster: world.view().cluster.clone(),
        program: "test".to_owned(),
    };
    let now = world.now();
    drive::start(&mut machine, &mut journal, &mut (), first, now).unwrap();
    let end = drive::drive(&mut machine, &mut world, &mut journal, &mut ()).unwrap();

    let events = read::log(&plane.audit_log()).unwrap();
    let violations = check(&Evidence::new(&plan, &journal.records, &user, &events));
    println!("{violations:#?}");
    (end, violations.into_iter().map(|violation| violation.invariant).collect())
}

const DONE: End = End::Finished(Verdict::Done);

#[test]
fn an_honest_engine_breaks_nothing() {
    assert_eq!(run("engine-honest", false, false), (DONE, BTreeSet::new()));
}

#[test]
fn an_engine_that_writes_the_request_before_the_intent_is_told_by_name() {
    assert_eq!(run("engine-late", true, false), (DONE, BTreeSet::from(["written-before-sent"])));
}

#[test]
fn an_engine_that_moves_twice_is_told_by_name() {
    let (_, broken) = run("engine-twice", false, true);
    assert!(broken.contains("lineage-moves-once"), "{broken:?}");
}
