//! The machine: what comes next, from the plan, the records so far, a view and the time.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::sync::Arc;

use rehome_k8s::{Record as Object, View};
use rehome_model::journal::{Event, Record};
use rehome_model::plan::{Plan, Step};
use rehome_model::request::{LANDING_MARGIN, Outcome, REQUEST_TIMEOUT, Request};
use rehome_model::time::Seconds;
use rehome_model::verb::Verb;
use rehome_model::{Digest, ObjectRef, Timestamp};

use crate::drift::Standing;
use crate::drive::End;
use crate::order::Order;
pub use crate::state::ReplayError;
use crate::state::State;
use crate::verbs::{self, Next};
use crate::world::ReadFailed;
use crate::{condition, drift, limits, undo};

/// How long a step may wait for its requirements before they count as refused: a watch can be this far behind.
const REQUIREMENT_GRACE: Seconds = Seconds::new(10);
/// How often a wait looks again when nothing changes.
pub(crate) const LOOK_AGAIN: Seconds = Seconds::new(5);
/// How often it is looked whether something has drifted.
const LOOK_FOR_DRIFT: Seconds = Seconds::new(1);
/// How long to wait before a read that failed is tried again.
const READ_AGAIN: Seconds = Seconds::new(2);

/// What the driver must do next.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Action {
    /// Append a record, and give it to [`Machine::apply`] once it is on stable storage.
    Record(Event),
    /// Send the request that the last record announced, and record the answer.
    Send {
        /// The number of the intent.
        intent: u64,
        /// The request.
        request: Request,
        /// The `Audit-ID` to send it with.
        audit_id: String,
    },
    /// Read an object afresh.
    Read {
        /// The step that asks.
        step: String,
        /// The object.
        target: ObjectRef,
    },
    /// List the pods of a node afresh.
    ListPods {
        /// The step that asks.
        step: String,
        /// The node.
        node: String,
    },
    /// Wait for the view to change, at most until then.
    Wait {
        /// The latest time to look again.
        until: Timestamp,
        /// The step that waits.
        step: String,
        /// For what.
        reason: String,
    },
    /// Nothing is under way, and nothing more was to be begun: the run stops here.
    Stop,
    /// Nothing more to do.
    End(End),
}

/// Something that the driver saw on behalf of the machine.
pub(crate) struct FreshRead {
    pub(crate) at: Timestamp,
    pub(crate) object: Option<Object>,
}

/// What the machine saw for a step that is under way. It is only worth a moment, and no record holds it.
#[derive(Default)]
pub(crate) struct Moment {
    /// Fresh reads since the step's last request.
    pub(crate) reads: BTreeMap<ObjectRef, FreshRead>,
    /// Fresh lists of the node that is being proved.
    pub(crate) lists: Vec<verbs::prove_empty::List>,
    /// The last read that failed: not before then, and why.
    failed_read: Option<(Timestamp, ReadFailed)>,
    /// Since when the condition that the step waits for holds.
    pub(crate) held_since: Option<Timestamp>,
    /// Since when the step's requirements are not met.
    refused: Option<Timestamp>,
}

/// What comes of a look for drift.
enum Drifting {
    No,
    /// It is on record, and has some time left.
    Waits,
    Act(Box<Action>),
}

/// The machine. Its state is a fold over records; what it holds besides (fresh reads, lists) is only worth a moment.
pub struct Machine {
    pub(crate) plan: Arc<Plan>,
    digest: Digest,
    order: Order,
    pub(crate) state: State,
    /// The intent that was recorded by this process and is to be sent.
    outbox: Option<u64>,
    /// What was seen for steps under way, by name.
    moments: BTreeMap<String, Moment>,
    /// No step is begun any more: somebody wants the run to stop.
    winding_down: bool,
    /// What the run has set, and must stay so.
    standing: Standing,
    /// When it was last looked whether something has drifted.
    looked: Option<Timestamp>,
}

impl Machine {
    /// A machine at the beginning of a plan.
    #[must_use]
    pub fn new(plan: Arc<Plan>, digest: Digest) -> Self {
        Self {
            order: Order::of(&plan),
            plan,
            digest,
            state: State::default(),
            outbox: None,
            moments: BTreeMap::new(),
            winding_down: false,
            standing: Standing::default(),
            looked: None,
        }
    }

    /// A machine where the records left off.
    ///
    /// # Errors
    /// A record that does not follow from the ones before it, or that belongs to another plan.
    pub fn replay(plan: Arc<Plan>, digest: Digest, records: &[Record]) -> Result<Self, ReplayError> {
        let mut machine = Self::new(plan, digest);
        for record in records {
            machine.check_plan(record)?;
            machine.state.apply(record)?;
            machine.follow(&record.event);
        }
        Ok(machine)
    }

    fn check_plan(&self, record: &Record) -> Result<(), ReplayError> {
        let error = |expected: String, found: String| ReplayError { seq: record.seq, expected, found };
        match &record.event {
            Event::RunStarted { plan, .. } if *plan != self.digest => {
                Err(error(format!("a run of plan {}", self.digest), format!("a run of plan {plan}")))
            }
            Event::StepStarted { step, .. } | Event::StepAlreadyDone { step }
                if self.order.find(step, &self.plan).is_none() =>
            {
                Err(error("a step of the plan".to_owned(), step.clone()))
            }
            Event::NodeEmpty { step, node, .. } => {
                let name = step.as_deref().or(self.state.open_step());
                match name.and_then(|name| self.order.find(name, &self.plan)).map(|step| &step.verb) {
                    Some(Verb::ProveEmpty(prove)) if prove.node == *node => Ok(()),
                    _ => Err(error("a step under way that proves the node".to_owned(), node.clone())),
                }
            }
            _ => Ok(()),
        }
    }

    /// The record for an event: numbered, and chained to the one before.
    #[must_use]
    pub fn record(&self, event: Event, at: Timestamp) -> Record {
        Record { seq: self.state.next_seq, at, prev: self.state.prev.clone(), event }
    }

    /// Whether a record follows from the ones before. Asked before it is written.
    ///
    /// # Errors
    /// It does not: a fault of the machine, or a run that has ended.
    pub fn check(&self, record: &Record) -> Result<(), ReplayError> {
        self.check_plan(record)?;
        self.state.check(record)
    }

    /// Takes a record in that is on stable storage.
    ///
    /// # Errors
    /// It does not follow from the ones before: a fault of the machine.
    pub fn apply(&mut self, record: &Record) -> Result<(), ReplayError> {
        self.state.apply(record)?;
        self.follow(&record.event);
        match &record.event {
            Event::Intent { .. } => self.outbox = Some(record.seq),
            Event::Answer { .. } => {
                if let Some(moment) = self.state.sent.last().and_then(|sent| self.moments.get_mut(&sent.step)) {
                    moment.reads.clear();
                }
            }
            Event::UndoStarted {} => self.moments.clear(),
            Event::StepStarted { step, .. } | Event::StepDone { step } => {
                self.moments.remove(step);
            }
            _ => {}
        }
        Ok(())
    }

    /// What begins and ends changes what can begin next.
    fn follow(&mut self, event: &Event) {
        match event {
            Event::StepStarted { step, .. } => {
                self.order.begin(step);
                if let Some(Verb::Change(change)) = self.order.find(step, &self.plan).map(|step| &step.verb) {
                    self.standing.release(change);
                }
            }
            Event::StepDone { step } | Event::StepAlreadyDone { step } => {
                self.order.finish(step);
                if let Some(Verb::Change(change)) = self.order.find(step, &self.plan).map(|step| &step.verb) {
                    self.standing.set(change);
                }
            }
            _ => {}
        }
    }

    /// What was seen for a step.
    pub(crate) fn moment(&self, step: &str) -> &Moment {
        static NOTHING: Moment =
            Moment { reads: BTreeMap::new(), lists: Vec::new(), failed_read: None, held_since: None, refused: None };
        self.moments.get(step).unwrap_or(&NOTHING)
    }

    fn moment_mut(&mut self, step: &str) -> &mut Moment {
        self.moments.entry(step.to_owned()).or_default()
    }

    /// From now on no step is begun: those under way are seen through, then the run stops.
    pub fn wind_down(&mut self) {
        self.winding_down = true;
    }

    /// What the driver read for [`Action::Read`].
    pub fn observe_read(
        &mut self,
        step: &str,
        target: ObjectRef,
        result: Result<Option<Object>, ReadFailed>,
        at: Timestamp,
    ) {
        let moment = self.moment_mut(step);
        match result {
            Ok(object) => {
                moment.reads.insert(target, FreshRead { at, object });
            }
            Err(failed) => moment.failed_read = Some((at + READ_AGAIN, failed)),
        }
    }

    /// What the driver listed for [`Action::ListPods`], and when it asked.
    pub fn observe_list(
        &mut self,
        step: &str,
        result: Result<Vec<Arc<rehome_k8s::pod::Pod>>, ReadFailed>,
        asked: Timestamp,
        at: Timestamp,
    ) {
        let moment = self.moment_mut(step);
        match result {
            Ok(pods) => verbs::prove_empty::observe(&mut moment.lists, &pods, asked),
            Err(failed) => moment.failed_read = Some((at + READ_AGAIN, failed)),
        }
    }

    /// Whether a run has been begun.
    #[must_use]
    pub fn begun(&self) -> bool {
        self.state.next_seq > 0
    }

    /// How the run ended, if it did.
    #[must_use]
    pub fn finished(&self) -> Option<rehome_model::journal::Verdict> {
        self.state.finished
    }

    /// Whether what was changed is being put back.
    #[must_use]
    pub fn undoing(&self) -> bool {
        self.state.undoing
    }

    /// How many steps are done, and how many there are.
    #[must_use]
    pub fn progress(&self) -> (usize, usize) {
        (self.state.done_steps(), self.order.count())
    }

    /// What comes next.
    #[must_use]
    pub fn next(&mut self, view: &View, now: Timestamp) -> Action {
        if let Some(verdict) = self.state.finished {
            return Action::End(End::Finished(verdict));
        }
        if let Some((step, cause, instructions)) = self.state.stuck.clone() {
            return Action::End(End::Stuck { step, cause, instructions });
        }
        if let Some(action) = self.settle(now) {
            return action;
        }
        if self.state.undoing {
            return if self.winding_down { Action::Stop } else { undo::next(self, now) };
        }
        let plan = Arc::clone(&self.plan);
        let quiet = match self.drifted(view, now) {
            Drifting::No => false,
            Drifting::Waits => true,
            Drifting::Act(action) => return *action,
        };
        let mut wait = None;
        let under_way: Vec<usize> = self.order.open().collect();
        for number in &under_way {
            let Some(step) = self.order.get(*number, &plan) else { continue };
            match self.advance(step, view, now) {
                Action::Wait { until, step, reason } => wait = Some(sooner(wait, until, step, reason)),
                Action::Record(Event::Intent { step, .. }) if quiet => {
                    let reason = "nothing is sent while something has drifted".to_owned();
                    wait = Some(sooner(wait, now + LOOK_AGAIN, step, reason));
                }
                action => return action,
            }
        }
        if quiet {
            return self.waits_for_drift(wait, now);
        }
        if self.winding_down {
            return if under_way.is_empty() { Action::Stop } else { waiting(wait, under_way.len()) };
        }
        // One step after the other is begun, so that each is seen by the limits of the next.
        let ready: Vec<usize> = self.order.ready().collect();
        for number in &ready {
            let Some(step) = self.order.get(*number, &plan) else { continue };
            if !limits::admit(step, &plan, under_way.iter().filter_map(|open| self.order.get(*open, &plan))) {
                continue;
            }
            match self.begin(step, view, now) {
                Action::Wait { until, step, reason } => wait = Some(sooner(wait, until, step, reason)),
                action => return action,
            }
        }
        if wait.is_some() {
            return waiting(wait, under_way.len());
        }
        match self.order.first_left(&plan) {
            None => Action::Record(Event::Finished { verdict: rehome_model::journal::Verdict::Done }),
            Some(step) => {
                let before = step.after.keys().find(|before| !self.state.done(before)).cloned().unwrap_or_default();
                let cause = format!("it waits for {before}, which never comes");
                stuck(&step.name, &cause, &["the plan is faulty: make a new one".to_owned()])
            }
        }
    }

    /// Whether something has drifted, and what is to be said of it.
    fn drifted(&mut self, view: &View, now: Timestamp) -> Drifting {
        if self.state.drift.is_none() && self.looked.is_some_and(|looked| now < looked + LOOK_FOR_DRIFT) {
            return Drifting::No;
        }
        self.looked = Some(now);
        let moving = self.plan.steps().any(|step| step.verb.moves_pods() && !self.state.done(&step.name));
        match (drift::seen(&self.plan, &self.standing, view, moving), &self.state.drift) {
            (None, None) => Drifting::No,
            (None, Some((subject, ..))) => {
                Drifting::Act(Box::new(Action::Record(Event::DriftEnded { subject: subject.clone() })))
            }
            (Some(seen), Some((subject, expected, found, since)))
                if seen.subject == *subject && seen.expected == *expected && seen.found == *found =>
            {
                if now < *since + seen.patience {
                    return Drifting::Waits;
                }
                let step = self.order.open().chain(self.order.ready()).next();
                let step = step.and_then(|number| self.order.get(number, &self.plan));
                let cause = format!("{subject} has drifted: expected {expected}; found: {found}");
                let instructions = [
                    format!("find out who changed {subject}, and put it back; then: rehome resume"),
                    "or run: rehome rollback, which puts back what was changed".to_owned(),
                ];
                Drifting::Act(Box::new(stuck(step.map_or("", |step| &step.name), &cause, &instructions)))
            }
            (Some(seen), _) => Drifting::Act(Box::new(Action::Record(Event::Drifted {
                subject: seen.subject,
                expected: seen.expected,
                found: seen.found,
            }))),
        }
    }

    fn waits_for_drift(&self, wait: Option<(Timestamp, String, String)>, now: Timestamp) -> Action {
        let (subject, expected, found) = match &self.state.drift {
            Some((subject, expected, found, _)) => (subject.to_string(), expected.as_str(), found.as_str()),
            None => return Action::Stop,
        };
        let (until, step) = wait.map_or((now + LOOK_AGAIN, String::new()), |(until, step, _)| (until, step));
        let reason = format!("{subject} has drifted: expected {expected}; found: {found}");
        Action::Wait { until: until.min(now + LOOK_AGAIN), step, reason }
    }

    /// Waits a little after a read for a step that failed, while the step has time.
    fn after_failed_read(&mut self, step: &str, now: Timestamp) -> Option<Action> {
        let (not_before, failed) = self.moments.get_mut(step)?.failed_read.take()?;
        let reason = failed.to_string();
        if failed.permanent {
            return Some(stuck(step, &reason, &["grant the permission, then: rehome resume".to_owned()]));
        }
        let plan = Arc::clone(&self.plan);
        let planned = self.order.find(step, &plan);
        if let Some(step) = planned.filter(|step| !self.state.undoing && self.overdue(step, now)) {
            return Some(self.late(step, &reason));
        }
        if now >= not_before {
            return None;
        }
        self.moment_mut(step).failed_read = Some((not_before, failed));
        Some(Action::Wait { until: not_before, step: step.to_owned(), reason })
    }

    fn overdue(&self, step: &Step, now: Timestamp) -> bool {
        self.state.step(&step.name).and_then(|state| state.since).is_some_and(|since| now >= since + step.deadline)
    }

    fn late(&self, step: &Step, reason: &str) -> Action {
        stuck(&step.name, &format!("not done within {}: {reason}", step.deadline), &after_deadline(step))
    }

    /// Sends what was announced, or finds out what became of a request without an answer.
    fn settle(&mut self, now: Timestamp) -> Option<Action> {
        let sent = self.state.unsettled()?.clone();
        let Some((_, answer)) = &sent.answer else {
            if self.outbox.take() == Some(sent.intent) {
                let audit_id = format!("{}/{}/{}", self.state.run, sent.intent, sent.attempt);
                return Some(Action::Send { intent: sent.intent, request: sent.request, audit_id });
            }
            // Announced by a process that is no more: it may have been sent just before its end, and can still land.
            let outcome = Outcome::Unknown {
                not_before: sent.at + REQUEST_TIMEOUT + LANDING_MARGIN,
                message: "the process ended before an answer came".to_owned(),
            };
            return Some(Action::Record(Event::Answer { intent: sent.intent, outcome }));
        };
        let Outcome::Unknown { not_before, message } = answer else { return None };
        if now < *not_before {
            let reason = format!("{} may still land ({message})", sent.request);
            return Some(Action::Wait { until: *not_before, step: sent.step, reason });
        }
        if let Some(action) = self.after_failed_read(&sent.step, now) {
            return Some(action);
        }
        let target = sent.request.target().clone();
        match self.moment(&sent.step).reads.get(&target).filter(|read| read.at >= *not_before) {
            None => Some(Action::Read { step: sent.step, target }),
            Some(read) => {
                let landed = verbs::landed(&sent.request, read.object.as_ref());
                Some(Action::Record(Event::Reread { intent: sent.intent, landed }))
            }
        }
    }

    fn advance(&mut self, step: &Step, view: &View, now: Timestamp) -> Action {
        if let Some(action) = self.after_failed_read(&step.name, now) {
            return action;
        }
        let since = self.state.step(&step.name).and_then(|state| state.since).unwrap_or(now);
        if let Verb::Wait(wait) = &step.verb {
            let holds = condition::check(view, &wait.until).is_ok();
            let moment = self.moment_mut(&step.name);
            moment.held_since = holds.then(|| moment.held_since.unwrap_or(now));
        }
        match verbs::next(self, step, view, now) {
            // A request that is due too late is not sent: the step had its time.
            Next::Act(action) if matches!(*action, Action::Record(Event::Intent { .. })) && self.overdue(step, now) => {
                let Action::Record(Event::Intent { request, .. }) = *action else { return *action };
                self.late(step, &format!("it still had to {request}"))
            }
            Next::Act(action) => *action,
            Next::Done => Action::Record(Event::StepDone { step: step.name.clone() }),
            Next::Stuck { cause, instructions } => stuck(&step.name, &cause, &instructions),
            Next::Wait { reason, until } => {
                if self.overdue(step, now) {
                    return self.late(step, &reason);
                }
                Action::Wait { until: until.min(since + step.deadline), step: step.name.clone(), reason }
            }
        }
    }

    fn begin(&mut self, step: &Step, view: &View, now: Timestamp) -> Action {
        if verbs::already_done(step, view) {
            return Action::Record(Event::StepAlreadyDone { step: step.name.clone() });
        }
        for required in &step.requires {
            let Err(found) = condition::check(view, required) else { continue };
            let since = *self.moment_mut(&step.name).refused.get_or_insert(now);
            if now - since < REQUIREMENT_GRACE {
                let reason = format!("requires that {required}; found: {found}");
                return Action::Wait { until: since + REQUIREMENT_GRACE, step: step.name.clone(), reason };
            }
            let cause = format!("the cluster is not as planned: expected that {required}; found: {found}");
            let again = "put it back and run: rehome resume; or make a new plan from a new capture".to_owned();
            return stuck(&step.name, &cause, &[again]);
        }
        self.moment_mut(&step.name).refused = None;
        let (leaving, known) = verbs::resolve(step, view);
        Action::Record(Event::StepStarted { step: step.name.clone(), leaving, known })
    }

    /// The announcement of a request, numbered as the next attempt of its kind.
    pub(crate) fn announce(&self, step: &str, request: Request) -> Action {
        let attempt = self.state.last(step, &request).map_or(0, |sent| sent.attempt) + 1;
        Action::Record(Event::Intent { step: step.to_owned(), attempt, request })
    }
}

/// The sooner of two times to look again; the step that comes first in the plan gives the reason.
fn sooner(
    wait: Option<(Timestamp, String, String)>,
    until: Timestamp,
    step: String,
    reason: String,
) -> (Timestamp, String, String) {
    match wait {
        Some((earlier, step, reason)) => (earlier.min(until), step, reason),
        None => (until, step, reason),
    }
}

fn waiting(wait: Option<(Timestamp, String, String)>, under_way: usize) -> Action {
    let Some((until, step, mut reason)) = wait else { return Action::Stop };
    if under_way > 1 {
        let _ = write!(reason, " (and {} more steps under way)", under_way - 1);
    }
    Action::Wait { until, step, reason }
}

fn stuck(step: &str, cause: &str, instructions: &[String]) -> Action {
    Action::Record(Event::Stuck { step: step.to_owned(), cause: cause.to_owned(), instructions: instructions.to_vec() })
}

fn after_deadline(step: &Step) -> Vec<String> {
    vec![
        format!("find out why {} does not get done (the reason above names the object)", step.name),
        "then run: rehome resume, which goes on where it stands".to_owned(),
        "or run: rehome rollback, which puts back what was changed".to_owned(),
    ]
}
