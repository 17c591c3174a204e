//! A world of one ReplicaSet on two nodes, that answers as a test tells it to.
#![allow(dead_code, unreachable_pub, reason = "each test file uses a part")]

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;

use rehome_engine::drive::{self, DriveError, End};
use rehome_engine::journal::{JournalStore, StoreFailed};
use rehome_engine::machine::Machine;
use rehome_engine::world::{ReadFailed, Stop, World};
use rehome_k8s::meta::OwnerRef;
use rehome_k8s::node::Node;
use rehome_k8s::pod::{Phase, Pod};
use rehome_k8s::toleration::{Effect, Taint};
use rehome_k8s::workload::Workload;
use rehome_k8s::{Key, Kind, Meta, Record as Object, View, field};
use rehome_model::journal::{Event, Record};
use rehome_model::plan::{Plan, Step};
use rehome_model::request::{Cause, LANDING_MARGIN, Outcome, REQUEST_TIMEOUT, Request};
use rehome_model::time::Seconds;
use rehome_model::verb::{FENCE_TAINT, Field};
use rehome_model::{Digest, ObjectRef, Timestamp, Uid};
use serde_json::{Value, json};

pub const START: Timestamp = Timestamp::from_millis(1_800_000_000_000);

/// What happens to the next request.
pub enum Answer {
    Refused(Cause),
    /// The same, and the pod has gone by itself just before: its successor stands on the target.
    Overtaken(Cause),
    /// No answer; whether it took effect.
    Lost(bool),
}

pub struct Scripted {
    pub now: Timestamp,
    pub truth: View,
    shown: View,
    /// How many waits the view is behind.
    pub lag: u32,
    pub script: VecDeque<Answer>,
    pub sent: Vec<(Request, String)>,
    /// Where successors land.
    pub lands_on: String,
    pub journal_when_sent: Vec<usize>,
    pub stop: Stop,
    /// How many of the next reads and lists fail.
    pub failing: u32,
    /// How many of the next lists hold a pod that was bound just before.
    pub stragglers: u32,
    pub lists: u32,
    made: u32,
    /// Of `web`.
    kind: Kind,
}

fn meta(namespace: &str, name: &str) -> Meta {
    Meta { namespace: namespace.into(), name: name.into(), uid: Uid(format!("uid-{name}")), ..Meta::default() }
}

pub fn web() -> ObjectRef {
    ObjectRef::namespaced("ReplicaSet", "x", "web")
}

impl Scripted {
    /// The ReplicaSet `web` with two Ready pods on `old`.
    pub fn new() -> Self {
        Self::of(Kind::ReplicaSet)
    }

    /// `web` of another kind.
    pub fn of(kind: Kind) -> Self {
        let mut truth = View::default();
        for name in ["old", "new", "other"] {
            let node = Node { meta: meta("", name), ready: Some(true), ..Node::default() };
            truth.insert(Object::Node(Arc::new(node)));
        }
        let set = Workload { meta: meta("x", "web"), replicas: Some(2), ..Workload::default() };
        truth.insert(match kind {
            Kind::StatefulSet => Object::StatefulSet(Arc::new(set)),
            _ => Object::ReplicaSet(Arc::new(set)),
        });
        let mut world = Self {
            now: START,
            truth,
            shown: View::default(),
            lag: 0,
            script: VecDeque::new(),
            sent: Vec::new(),
            lands_on: "new".to_owned(),
            journal_when_sent: Vec::new(),
            stop: Stop::No,
            failing: 0,
            stragglers: 0,
            lists: 0,
            made: 0,
            kind,
        };
        world.make("old", true);
        world.make("old", true);
        world.shown = world.truth.clone();
        world
    }

    pub fn make(&mut self, node: &str, ready: bool) {
        self.made += 1;
        let mut meta = meta("x", &format!("web-{}", self.made));
        meta.controller = Some(OwnerRef {
            api_version: "apps/v1".into(),
            kind: self.kind.name().into(),
            name: "web".into(),
            uid: "uid-web".into(),
        });
        let pod = Pod { meta, node: Some(node.to_owned()), phase: Phase::Running, ready, ..Pod::default() };
        self.truth.insert(Object::Pod(Arc::new(pod)));
    }

    pub fn set(&mut self, name: &str, change: impl FnOnce(&mut Node)) {
        let mut node = Node::clone(self.truth.node(name).unwrap());
        change(&mut node);
        self.truth.insert(Object::Node(Arc::new(node)));
    }

    fn carry_out(&mut self, request: &Request) -> Outcome {
        match request {
            Request::SetField(change) => {
                if field::read(&self.truth, &change.target, &change.field) != Some(change.from.clone()) {
                    return Outcome::Rejected { cause: Cause::Conflict { message: "test failed".into() } };
                }
                let to = change.to.clone();
                self.set(&change.target.name, |node| match &change.field {
                    Field::Unschedulable => node.unschedulable = to.is_some(),
                    Field::NoScheduleTaint { key } => {
                        node.taints.retain(|taint| taint.key != *key);
                        let taint = |value| Taint { key: key.clone(), value, effect: Effect::NoSchedule };
                        node.taints.extend(to.map(taint));
                    }
                    Field::TemplateAnnotation { .. } => panic!("no Deployment here"),
                });
            }
            Request::Evict { pod, uid } | Request::Delete { pod, uid } => {
                match self.truth.pod(&Key::of(pod)) {
                    None => return Outcome::Rejected { cause: Cause::NotFound },
                    Some(found) if found.meta.uid != *uid => {
                        return Outcome::Rejected { cause: Cause::OtherIncarnation { message: "uid".into() } };
                    }
                    Some(_) => {}
                }
                self.truth.remove(Kind::Pod, &Key::of(pod));
                let node = self.lands_on.clone();
                self.make(&node, false);
            }
        }
        Outcome::Applied
    }

    pub fn pods_on(&self, node: &str) -> usize {
        self.truth.pods_on(node).count()
    }

    pub fn fence(&self) -> Option<String> {
        let fence = Field::NoScheduleTaint { key: FENCE_TAINT.to_owned() };
        field::read(&self.truth, &ObjectRef::node("old"), &fence).unwrap()
    }

    fn fails(&mut self, what: &str) -> Result<(), ReadFailed> {
        if self.failing == 0 {
            return Ok(());
        }
        self.failing -= 1;
        Err(ReadFailed { what: what.to_owned(), message: "connection refused".to_owned(), permanent: false })
    }

    pub fn evictions(&self) -> usize {
        self.sent.iter().filter(|(request, _)| matches!(request, Request::Evict { .. })).count()
    }
}

impl World for Scripted {
    fn now(&self) -> Timestamp {
        self.now
    }

    fn view(&self) -> &View {
        &self.shown
    }

    fn list_pods_on(&mut self, node: &str) -> Result<Vec<Arc<Pod>>, ReadFailed> {
        self.now = self.now + Seconds::from_millis(5);
        self.lists += 1;
        self.fails(node)?;
        let mut pods: Vec<Arc<Pod>> = self.truth.pods_on(node).cloned().collect();
        if self.stragglers > 0 {
            self.stragglers -= 1;
            pods.push(Arc::new(Pod { meta: meta("x", "straggler"), node: Some(node.to_owned()), ..Pod::default() }));
        }
        Ok(pods)
    }

    fn read(&mut self, target: &ObjectRef) -> Result<Option<Object>, ReadFailed> {
        self.now = self.now + Seconds::from_millis(5);
        self.fails(&target.name)?;
        Ok(self.truth.get(Kind::by_name(&target.kind).unwrap(), &Key::of(target)).cloned())
    }

    fn send(&mut self, request: &Request, audit_id: &str) -> Outcome {
        self.sent.push((request.clone(), audit_id.to_owned()));
        let sent = self.now;
        self.now = self.now + Seconds::from_millis(5);
        match self.script.pop_front() {
            None => self.carry_out(request),
            Some(Answer::Refused(cause)) => Outcome::Rejected { cause },
            Some(Answer::Overtaken(cause)) => {
                self.carry_out(request);
                Outcome::Rejected { cause }
            }
            Some(Answer::Lost(landed)) => {
                if landed {
                    self.carry_out(request);
                }
                let not_before = sent + REQUEST_TIMEOUT + LANDING_MARGIN;
                Outcome::Unknown { not_before, message: "connection reset".into() }
            }
        }
    }

    fn wait(&mut self, until: Timestamp) {
        let ready: Vec<Pod> = self.truth.pods().filter(|pod| !pod.ready).map(|pod| Pod::clone(pod)).collect();
        for mut pod in ready {
            pod.ready = true;
            self.truth.insert(Object::Pod(Arc::new(pod)));
        }
        self.now = until.min(self.now + Seconds::new(1)).max(self.now + Seconds::from_millis(1));
        if self.lag == 0 {
            self.shown = self.truth.clone();
        } else {
            self.lag -= 1;
        }
    }

    fn stop(&self) -> Stop {
        self.stop
    }
}

fn step(name: &str, verb: Value, after: Option<&str>, undo: &str) -> Value {
    let after: BTreeMap<&str, &str> = after.into_iter().map(|name| (name, "order")).collect();
    let mut step = json!({
        "name": name, "after": after, "because": "", "requires": [], "establishes": [],
        "undo": {"undo": undo, "why": "pods stay where they are"}, "deadline": 300,
    });
    step.as_object_mut().unwrap().extend(verb.as_object().unwrap().clone());
    step
}

/// Fence, evict, cordon, prove.
pub fn plan() -> Plan {
    let node = json!({"kind": "Node", "name": "old"});
    let fence = json!({"verb": "change", "target": node, "field": {"field": "noScheduleTaint", "key": FENCE_TAINT},
        "from": null, "to": "run"});
    let evict = json!({"verb": "evict", "lineages": [{"workload": web(), "pods": 2}], "off": ["old"], "onto": ["new"]});
    let cordon =
        json!({"verb": "change", "target": node, "field": {"field": "unschedulable"}, "from": null, "to": "true"});
    let steps = [
        step("w0/fence/old", fence, None, "swap"),
        step("w1/move/web", evict, Some("w0/fence/old"), "leftInPlace"),
        step("w2/cordon/old", cordon, Some("w1/move/web"), "swap"),
        step("w2/prove/old", json!({"verb": "proveEmpty", "node": "old"}), Some("w2/cordon/old"), "nothing"),
    ];
    let api = rehome_model::document::API_VERSION;
    serde_json::from_value(json!({
        "apiVersion": api, "kind": "Plan", "snapshot": Digest::zero(), "cluster": {},
        "intent": {"apiVersion": api, "kind": "Intent", "from": "pool=old", "to": "pool=new"},
        "sources": ["old"], "targets": ["new"], "bystanders": [], "moves": [], "stays": [], "pending": [],
        "findings": [], "waves": [{"name": "w0", "title": "", "steps": steps}],
    }))
    .unwrap()
}

pub fn machine(plan: Plan) -> Machine {
    Machine::new(Arc::new(plan), Digest::zero())
}

pub fn replay(records: &[Record]) -> Machine {
    Machine::replay(Arc::new(plan()), Digest::zero(), records).unwrap()
}

pub fn begin(machine: &mut Machine, store: &mut dyn JournalStore) -> Result<(), DriveError> {
    let start = drive::Start {
        run: "run".into(),
        plan: Digest::zero(),
        approval: None,
        cluster: rehome_model::snapshot::ClusterIdentity::default(),
        program: "test".into(),
    };
    drive::start(machine, store, &mut (), start, START)
}

/// A run of the plan from its beginning.
pub fn run(world: &mut Scripted) -> (End, Vec<Record>) {
    run_plan(world, plan())
}

pub fn run_plan(world: &mut Scripted, plan: Plan) -> (End, Vec<Record>) {
    let mut journal = Vec::new();
    let mut machine = machine(plan);
    begin(&mut machine, &mut journal).unwrap();
    let end = drive::drive(&mut machine, world, &mut journal, &mut ()).unwrap();
    (end, journal)
}

/// Goes on with a run, or puts it back.
pub fn again(world: &mut Scripted, journal: &mut Vec<Record>, undo: bool) -> End {
    let mut machine = replay(journal);
    let now = world.now;
    drive::resume(&mut machine, journal, &mut (), "test", 0, now).unwrap();
    if undo {
        drive::begin_undo(&mut machine, journal, &mut (), now).unwrap();
    }
    drive::drive(&mut machine, world, journal, &mut ()).unwrap()
}

pub fn receipts(journal: &[Record]) -> usize {
    journal.iter().filter(|record| matches!(record.event, Event::Moved { .. })).count()
}

/// A store that fails from the record with this number on.
pub struct Full {
    pub kept: Vec<Record>,
    pub room: usize,
}

impl JournalStore for Full {
    fn append(&mut self, record: &Record) -> Result<(), StoreFailed> {
        if self.kept.len() >= self.room {
            return Err(StoreFailed::Unwritable { message: "no space left on device".into() });
        }
        self.kept.push(record.clone());
        Ok(())
    }
}

pub fn edit(plan: &mut Plan, name: &str, change: impl FnOnce(&mut Step)) {
    let step = plan.waves.iter_mut().flat_map(|wave| &mut wave.steps).find(|step| step.name == name);
    change(step.unwrap());
}
