//! The simulated cluster on its clock, and the engine's port to it.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use rehome_engine::world::{ReadFailed, Stop, World};
use rehome_k8s::pod::Pod;
use rehome_k8s::workload::Workload;
use rehome_k8s::{Key, Kind, Record, View};
use rehome_model::behaviour::Behaviour;
use rehome_model::plan::PendingPod;
use rehome_model::rehearsal::Placement;
use rehome_model::request::{LANDING_MARGIN, Outcome, REQUEST_TIMEOUT, Request};
use rehome_model::time::Seconds;
use rehome_model::{ObjectRef, Timestamp};
use rehome_sched::{Chance, Model, Profile};

use crate::audit::Audit;
use crate::controllers::{self, Change, Controller, deployment};
use crate::event::{Event, KubeletStep, Queue};
use crate::fault::{Fault, Faults};
use crate::kubelet::{Act, Kubelets};
use crate::outage::Outages;
pub use crate::placement::reasons as unschedulable_reasons;
use crate::random::Random;
use crate::scheduler::Waiting;
use crate::store::Store;
use crate::{placement, render};

/// The user that the engine's requests are logged under.
pub const ENGINE_USER: &str = "rehome";
/// How long a request takes on an idle API server with etcd on a local disk (measured: 3 to 8 ms).
const REQUEST_LATENCY: Seconds = Seconds::from_millis(5);
/// The way back of an answer, on top of that: what a caller does afterwards is later than the answer.
const ANSWER_LATENCY: Seconds = Seconds::from_millis(1);
/// From a change to the sync of a controller that watches it: the watch and the work queue, at random up to this on top.
const SYNC_LATENCY: Seconds = Seconds::from_millis(10);
const SYNC_JITTER_MS: i64 = 30;
/// The scheduler places one pod after the other, about a hundred in a second on a small control plane.
const SCHEDULING_LATENCY: Seconds = Seconds::from_millis(10);

/// A simulated cluster. A clone is a fork.
pub struct SimWorld {
    pub(crate) store: Store,
    /// What the scheduler knows of the cluster.
    pub(crate) model: Model,
    pub(crate) clock: Timestamp,
    pub(crate) audit: Audit,
    queue: Queue,
    controllers: Vec<Box<dyn Controller>>,
    kubelets: Kubelets,
    waiting: Waiting,
    outages: Outages,
    faults: Faults,
    /// What the watches showed when they were cut.
    frozen: Option<Arc<View>>,
    /// Counts what the watches bring.
    version: u64,
    random: Random,
    began: Timestamp,
    stop: Stop,
    journal: Option<Arc<AtomicU64>>,
}

impl Clone for SimWorld {
    fn clone(&self) -> Self {
        Self {
            store: self.store.clone(),
            model: self.model.clone(),
            clock: self.clock,
            audit: self.audit.clone(),
            queue: self.queue.clone(),
            controllers: self.controllers.iter().map(|controller| controller.fork()).collect(),
            kubelets: self.kubelets.clone(),
            waiting: self.waiting.clone(),
            outages: self.outages.clone(),
            faults: self.faults.clone(),
            frozen: self.frozen.clone(),
            version: self.version,
            random: self.random.clone(),
            began: self.began,
            stop: self.stop,
            journal: self.journal.clone(),
        }
    }
}

impl SimWorld {
    /// A twin of what a view shows, with the controllers that every cluster has.
    #[must_use]
    pub fn new(view: View, behaviour: Behaviour, seed: u64, now: Timestamp) -> Self {
        Self::with_controllers(view, behaviour, seed, now, controllers::standard())
    }

    /// A twin with other controllers: stand-ins for operators among them.
    #[must_use]
    pub fn with_controllers(
        view: View,
        behaviour: Behaviour,
        seed: u64,
        now: Timestamp,
        controllers: Vec<Box<dyn Controller>>,
    ) -> Self {
        let outages = Outages::new(&view);
        let mut world = Self {
            store: Store::new(view, seed),
            model: Model::default(),
            clock: now,
            audit: Audit::default(),
            queue: Queue::default(),
            controllers,
            kubelets: Kubelets::new(behaviour, seed),
            waiting: Waiting::default(),
            outages,
            faults: Faults::default(),
            frozen: None,
            version: 0,
            random: Random::new(seed),
            began: now,
            stop: Stop::No,
            journal: None,
        };
        world.begin();
        world
    }

    /// What every component does with its first list.
    fn begin(&mut self) {
        self.adopt_current_templates();
        let view = Arc::clone(self.store.view());
        self.model = Model::new(&view, Profile::of_cluster(&view));
        for record in view.records() {
            let change = Change { before: None, after: Some(record.clone()) };
            self.notify(&view, &change);
            if let Record::Pod(pod) = record
                && !Kubelets::stuck(pod)
            {
                self.kubelet_step(pod);
            }
        }
    }

    /// A Deployment that had observed its newest generation had a ReplicaSet for it. Where the two templates are not
    /// alike in the capture (defaults that a file leaves out), the twin takes the ReplicaSet's to be the Deployment's, so
    /// that no rollout starts that nobody asked for.
    fn adopt_current_templates(&mut self) {
        let view = Arc::clone(self.store.view());
        for record in view.of_kind(Kind::Deployment) {
            let Record::Deployment(deployment) = record else { continue };
            let sets: Vec<&Arc<Workload>> = view
                .controlled_by(&deployment.meta.uid)
                .filter_map(|record| if let Record::ReplicaSet(set) = record { Some(set) } else { None })
                .collect();
            if deployment.status.observed_generation < deployment.meta.generation
                || deployment::newest(deployment, &sets).is_some()
            {
                continue;
            }
            let Some(set) = sets.into_iter().max_by_key(|set| (deployment::revision(set), set.meta.created)) else {
                continue;
            };
            let mut adopted = Workload::clone(set);
            let hash = set.template.labels.get(deployment::HASH_LABEL).cloned();
            adopted.template = deployment.template.clone();
            adopted.template.labels.extend(hash.map(|hash| (deployment::HASH_LABEL.to_owned(), hash)));
            self.store.put(Record::ReplicaSet(Arc::new(adopted)));
        }
    }

    /// Sets what will go wrong.
    pub fn set_faults(&mut self, faults: Faults) {
        self.faults = faults;
    }

    /// What will go wrong, and how many requests there were.
    pub fn faults(&mut self) -> &mut Faults {
        &mut self.faults
    }

    /// What the engine's next look at [`World::stop`] says.
    pub fn ask_to_stop(&mut self, stop: Stop) {
        self.stop = stop;
    }

    /// From now on the audit log says of each request how many records this counter had counted when it arrived: the
    /// simulated clock does not move between a record and its request, so that times cannot tell which came first. The
    /// journal's store counts. A fork has the same counter until it is given another.
    pub fn follow_journal(&mut self, records: Arc<AtomicU64>) {
        self.journal = Some(records);
    }

    /// How many records the journal holds, if somebody counts.
    pub(crate) fn journal_length(&self) -> Option<u64> {
        self.journal.as_ref().map(|records| records.load(Ordering::SeqCst))
    }

    /// What really is, whatever the watches show.
    #[must_use]
    pub fn truth(&self) -> &View {
        self.store.view()
    }

    /// The watches bring nothing for this long.
    pub fn cut_watches(&mut self, lasts: Seconds) {
        if self.frozen.is_none() {
            self.frozen = Some(Arc::clone(self.store.view()));
        }
        self.queue.add(self.clock + lasts, Event::Thaw);
    }

    /// All events of the audit log so far, as `audit.k8s.io/v1` JSON.
    pub fn audit_events(&self) -> impl Iterator<Item = serde_json::Value> + '_ {
        self.audit.events()
    }

    /// The audit log as the API server writes it: one event on a line.
    #[must_use]
    pub fn audit_log(&self) -> String {
        self.audit.events().map(|event| format!("{event}\n")).collect()
    }

    /// The JSON of an object, as far as records keep it.
    #[must_use]
    pub fn object(&self, target: &ObjectRef) -> Option<serde_json::Value> {
        let kind = Kind::by_name(&target.kind)?;
        self.store.view().get(kind, &Key::of(target)).map(render::object)
    }

    /// How long it has run.
    #[must_use]
    pub fn took(&self) -> Seconds {
        self.clock - self.began
    }

    /// For how long each workload that served at some time had no serving pod; those that always had one are left out.
    #[must_use]
    pub fn without_ready(&self) -> BTreeMap<ObjectRef, Seconds> {
        self.outages.until(self.clock)
    }

    /// Where the pods of these workloads are.
    #[must_use]
    pub fn placements(&self, workloads: &[ObjectRef]) -> Vec<Placement> {
        let view = self.store.view();
        let mut found = Vec::new();
        for workload in workloads {
            for pod in rehome_k8s::owner::pods_of(view, workload) {
                if let Some(node) = &pod.node {
                    let pod = pod.meta.key().reference(Kind::Pod);
                    found.push(Placement { workload: workload.clone(), pod, node: node.clone() });
                }
            }
        }
        found.sort();
        found
    }

    /// Pods that found no node, with the scheduler's reasons counted over all nodes.
    #[must_use]
    pub fn pending(&self) -> Vec<PendingPod> {
        let pods = self.store.view().pods().filter(|pod| pod.node.is_none() && !pod.finished());
        pods.map(|pod| PendingPod {
            pod: pod.meta.key().reference(Kind::Pod),
            reasons: placement::reasons(pod.unschedulable.as_deref().unwrap_or_default()),
        })
        .collect()
    }

    /// Lets time pass until nothing is due any more or the time has come; the time of the last thing that happened.
    pub fn settle(&mut self, until: Timestamp) -> Timestamp {
        while self.queue.next_at().is_some_and(|at| at <= until) {
            self.step();
        }
        self.clock
    }

    /// Lets this much time pass.
    pub fn advance(&mut self, by: Seconds) {
        let until = self.clock + by;
        self.settle(until);
        self.clock = until;
    }

    /// Lets time pass until a condition holds; whether it did before the time had come.
    pub fn run_until(&mut self, until: Timestamp, mut holds: impl FnMut(&View) -> bool) -> bool {
        loop {
            if holds(self.store.view()) {
                return true;
            }
            match self.queue.next_at() {
                Some(at) if at <= until => self.step(),
                _ => {
                    self.clock = self.clock.max(until);
                    return false;
                }
            }
        }
    }

    /// Follows a change of an object: everybody who watches learns of it.
    pub(crate) fn commit(&mut self, change: &Change) {
        let view = Arc::clone(self.store.view());
        if self.frozen.is_none() {
            self.version += 1;
        }
        match (&change.before, &change.after) {
            (_, Some(record)) => self.model.insert(record),
            (Some(record), None) => self.model.remove(record.kind(), &record.key()),
            (None, None) => {}
        }
        self.outages.follow(&view, change, self.clock);
        self.notify(&view, change);
        self.notify_kubelets(change);
    }

    fn notify(&mut self, view: &View, change: &Change) {
        for (controller, concerned) in self.controllers.iter().enumerate() {
            for (kind, key) in concerned.concerned(view, change) {
                let at = self.clock + SYNC_LATENCY + Seconds::from_millis(self.random.up_to(SYNC_JITTER_MS));
                self.queue.add(at, Event::Sync { controller, kind, key });
            }
        }
        if self.waiting.follow(change) {
            self.schedule_soon();
        }
    }

    fn schedule_soon(&mut self) {
        if let Some(at) = self.waiting.next_at(self.clock) {
            self.queue.add(at.max(self.clock + SCHEDULING_LATENCY), Event::Schedule);
        }
    }

    fn notify_kubelets(&mut self, change: &Change) {
        let before = if let Some(Record::Pod(pod)) = &change.before { Some(pod) } else { None };
        match &change.after {
            Some(Record::Pod(pod)) => {
                let bound = before.is_none_or(|before| before.node.is_none());
                let started = before.is_some_and(|before| before.phase != pod.phase);
                let ends = before.is_some_and(|before| before.meta.deleting.is_none()) && pod.meta.deleting.is_some();
                if bound || started || ends {
                    self.kubelet_step(pod);
                }
            }
            Some(Record::Node(_) | Record::VolumeAttachment(_)) => self.unblock(),
            None if before.is_some() => self.unblock(),
            _ => {}
        }
    }

    fn unblock(&mut self) {
        for (uid, pod) in self.kubelets.unblock() {
            let Some(found) = self.store.view().pod(&pod).filter(|found| found.meta.uid == uid) else { continue };
            let step = match (found.meta.deleting, found.phase) {
                (Some(_), _) => KubeletStep::Gone,
                (None, rehome_k8s::pod::Phase::Pending) => KubeletStep::Start,
                (None, _) => KubeletStep::Ready,
            };
            self.queue.add(self.clock + SYNC_LATENCY, Event::Kubelet { pod, uid, step });
        }
    }

    fn kubelet_step(&mut self, pod: &Pod) {
        if let Some((at, step)) = self.kubelets.next(pod, self.clock) {
            self.queue.add(at, Event::Kubelet { pod: pod.meta.key(), uid: pod.meta.uid.clone(), step });
        }
    }

    /// Carries out the next event.
    fn step(&mut self) {
        let Some((at, event)) = self.queue.pop() else { return };
        self.clock = self.clock.max(at);
        match event {
            Event::Sync { controller, kind, key } => self.sync(controller, kind, &key),
            Event::Schedule => self.schedule(),
            Event::Kubelet { pod, uid, step } => {
                let found = self.store.view().pod(&pod).filter(|found| found.meta.uid == uid).cloned();
                if let Some(found) = found {
                    self.kubelet(&found, step);
                }
            }
            Event::Land { request, audit_id } => {
                let _ = self.answer(ENGINE_USER, &request, Some(&audit_id));
            }
            Event::Thaw => {
                self.frozen = None;
                self.version += 1;
            }
        }
    }

    fn sync(&mut self, number: usize, kind: Kind, key: &Key) {
        let view = Arc::clone(self.store.view());
        let Some(controller) = self.controllers.get_mut(number) else { return };
        let reconciled = controller.reconcile(&view, kind, key, self.clock);
        let user = controller.user();
        drop(view);
        for mutation in reconciled.mutations {
            // A name that is taken: the controller looks again when that object changes.
            let _ = self.mutate(user, mutation);
        }
        if let Some(at) = reconciled.requeue {
            self.queue.add_later(at, number, kind, key.clone());
        }
    }

    fn schedule(&mut self) {
        if let Some(key) = self.waiting.next(self.clock) {
            match self.store.view().pod(&key).cloned() {
                Some(pod) => match self.model.choose(&pod, &mut Chance::new(self.random.bits())) {
                    Ok(node) => self.bind(&pod, node),
                    Err(refused) => {
                        self.waiting.failed(&key, self.clock);
                        self.unschedulable(&pod, refused.message);
                        self.make_room(&key);
                    }
                },
                None => self.waiting.forget(&key),
            }
        }
        self.schedule_soon();
    }

    fn kubelet(&mut self, pod: &Arc<Pod>, step: KubeletStep) {
        let view = Arc::clone(self.store.view());
        let act = self.kubelets.act(&view, pod, step, self.clock);
        drop(view);
        match act {
            Act::Status(changed) => self.pod_status(*changed),
            Act::Confirm => self.pod_gone(pod),
            Act::Wait | Act::Drop => {}
        }
    }

    fn unknown(sent: Timestamp, message: &str) -> Outcome {
        Outcome::Unknown { not_before: sent + REQUEST_TIMEOUT + LANDING_MARGIN, message: message.to_owned() }
    }
}

impl World for SimWorld {
    fn now(&self) -> Timestamp {
        self.clock
    }

    fn view(&self) -> &View {
        self.frozen.as_deref().unwrap_or(self.store.view())
    }

    fn list_pods_on(&mut self, node: &str) -> Result<Vec<Arc<Pod>>, ReadFailed> {
        self.advance(REQUEST_LATENCY);
        Ok(self.store.view().pods_on(node).cloned().collect())
    }

    fn read(&mut self, target: &ObjectRef) -> Result<Option<Record>, ReadFailed> {
        self.advance(REQUEST_LATENCY);
        let Some(kind) = Kind::by_name(&target.kind) else {
            return Err(ReadFailed {
                what: target.to_string(),
                message: format!("the simulated cluster has no kind {}", target.kind),
                permanent: true,
            });
        };
        Ok(self.store.view().get(kind, &Key::of(target)).cloned())
    }

    fn send(&mut self, request: &Request, audit_id: &str) -> Outcome {
        let sent = self.clock;
        let fault = self.faults.hit(request);
        self.advance(REQUEST_LATENCY);
        match fault {
            Some(Fault::Refused(cause)) => {
                self.refused(ENGINE_USER, request, Some(audit_id), &cause);
                return Outcome::Rejected { cause };
            }
            Some(Fault::LostAnswer { applied }) => {
                if applied {
                    let _ = self.answer(ENGINE_USER, request, Some(audit_id));
                }
                return Self::unknown(sent, "the connection was closed before an answer came");
            }
            Some(Fault::LandsLate { delay }) => {
                let at = sent + Seconds::from_millis(delay.as_millis().min(REQUEST_TIMEOUT.as_millis()));
                let request = Box::new(request.clone());
                self.queue.add(at.max(self.clock), Event::Land { request, audit_id: audit_id.to_owned() });
                return Self::unknown(sent, "the connection was closed before an answer came");
            }
            Some(Fault::WatchCut { lasts }) => self.cut_watches(lasts),
            None => {}
        }
        let answer = self.answer(ENGINE_USER, request, Some(audit_id));
        self.advance(ANSWER_LATENCY);
        match answer {
            Ok(()) => Outcome::Applied,
            Err(cause) => Outcome::Rejected { cause },
        }
    }

    fn wait(&mut self, until: Timestamp) {
        let seen = self.version;
        while self.version == seen {
            match self.queue.next_at() {
                Some(at) if at <= until => {
                    // What happens at one moment is seen at once.
                    while self.queue.next_at() == Some(at) {
                        self.step();
                    }
                }
                _ => {
                    self.clock = self.clock.max(until);
                    return;
                }
            }
        }
    }

    fn stop(&self) -> Stop {
        self.stop
    }
}
