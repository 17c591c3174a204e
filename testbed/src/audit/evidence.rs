//! All that a check may look at: plan, journal and audit log, and how their lines belong together.

use std::collections::{BTreeMap, BTreeSet};

use rehome_model::journal::{Event, Record};
use rehome_model::plan::{Plan, Step};
use rehome_model::request::{Outcome, Request};
use rehome_model::verb::Verb;
use rehome_model::{ObjectRef, Timestamp};

use super::event::AuditEvent;
use super::pod_history::{Deletion, PodHistory};
use super::timeline::Timeline;

/// The namespace of the journal's copy in the cluster, as operators are told it.
const NAMESPACE: &str = "rehome-system";

/// See the module.
#[derive(Debug)]
pub struct Evidence<'a> {
    /// What was to be done.
    pub plan: &'a Plan,
    /// What the run says that it did.
    pub journal: &'a [Record],
    /// The user as which it ran.
    pub user: &'a str,
    /// What the API server says, in the order of its answers.
    pub events: &'a [AuditEvent],
    /// The same, folded.
    pub timeline: Timeline,
    run: String,
    intents: BTreeMap<u64, Intent<'a>>,
    answers: BTreeMap<u64, (Timestamp, &'a Outcome)>,
    steps: BTreeMap<&'a str, StepTimes>,
}

/// A request that the journal announces.
#[derive(Clone, Debug)]
pub struct Intent<'a> {
    /// The number of its record.
    pub seq: u64,
    /// When it was written.
    pub at: Timestamp,
    /// The step.
    pub step: &'a str,
    /// The how-manieth try.
    pub attempt: u32,
    /// The request.
    pub request: &'a Request,
}

/// When a step began and ended, by the journal.
#[derive(Clone, Copy, Debug)]
struct StepTimes {
    started: Timestamp,
    done: Option<Timestamp>,
}

/// A part of the journal's copy is created, or its head written; both by name, in their namespace. Nothing is deleted.
fn of_the_journal(event: &AuditEvent) -> bool {
    let Some(object) = &event.object_ref else { return false };
    match object.resource.as_str() {
        "configmaps" => {
            object.namespace.as_deref() == Some(NAMESPACE) && matches!(event.verb.as_str(), "create" | "update")
        }
        "namespaces" => object.name.as_deref() == Some(NAMESPACE) && event.verb == "create",
        _ => false,
    }
}

impl<'a> Evidence<'a> {
    /// Evidence from a log that reaches back to the creation of everything that moves.
    #[must_use]
    pub fn new(plan: &'a Plan, journal: &'a [Record], user: &'a str, events: &'a [AuditEvent]) -> Self {
        Self::from(Timeline::default(), plan, journal, user, events)
    }

    /// Evidence from a log that begins with what `before` holds (see [`Timeline::of_view`]).
    #[must_use]
    pub fn from(
        before: Timeline,
        plan: &'a Plan,
        journal: &'a [Record],
        user: &'a str,
        events: &'a [AuditEvent],
    ) -> Self {
        let mut timeline = before;
        events.iter().for_each(|event| timeline.observe(event));
        let mut evidence = Self {
            plan,
            journal,
            user,
            events,
            timeline,
            run: String::new(),
            intents: BTreeMap::new(),
            answers: BTreeMap::new(),
            steps: BTreeMap::new(),
        };
        journal.iter().for_each(|record| evidence.take(record));
        evidence
    }

    fn take(&mut self, record: &'a Record) {
        let (seq, at) = (record.seq, record.at);
        match &record.event {
            Event::RunStarted { run, .. } => self.run.clone_from(run),
            Event::Intent { step, attempt, request } => {
                self.intents.insert(seq, Intent { seq, at, step, attempt: *attempt, request });
            }
            Event::Answer { intent, outcome } => {
                self.answers.insert(*intent, (at, outcome));
            }
            Event::StepStarted { step, .. } => {
                self.steps.insert(step, StepTimes { started: at, done: None });
            }
            Event::StepDone { step } => {
                if let Some(times) = self.steps.get_mut(step.as_str()) {
                    times.done = Some(at);
                }
            }
            _ => {}
        }
    }

    /// The requests that the journal announces, in their order.
    pub fn intents(&self) -> impl Iterator<Item = &Intent<'a>> {
        self.intents.values()
    }

    /// The answer to an intent and when it was written down.
    #[must_use]
    pub fn answer(&self, seq: u64) -> Option<(Timestamp, &'a Outcome)> {
        self.answers.get(&seq).copied()
    }

    /// The intent with this `Audit-ID`: `<run>/<seq>/<attempt>`, all three of which have to agree.
    #[must_use]
    pub fn intent(&self, audit_id: &str) -> Option<&Intent<'a>> {
        let mut parts = audit_id.rsplitn(3, '/');
        let (attempt, seq) = (parts.next()?.parse::<u32>().ok()?, parts.next()?.parse().ok()?);
        let intent = self.intents.get(&seq)?;
        (parts.next()? == self.run && intent.attempt == attempt).then_some(intent)
    }

    /// The `Audit-ID` that the request of this intent carries.
    #[must_use]
    pub fn audit_id(&self, intent: &Intent<'_>) -> String {
        format!("{}/{}/{}", self.run, intent.seq, intent.attempt)
    }

    /// The changes that the run's user asked for, but for those of the journal's own copy: they announce, and are not
    /// announced.
    pub fn requests(&self) -> impl Iterator<Item = &'a AuditEvent> + use<'a> {
        let user = self.user;
        let asked = move |event: &&AuditEvent| event.user.username == user && event.mutates();
        self.events.iter().filter(asked).filter(|event| !of_the_journal(event))
    }

    /// When the run began and when its last record was written.
    #[must_use]
    pub fn window(&self) -> Option<(Timestamp, Timestamp)> {
        Some((self.journal.first()?.at, self.journal.iter().map(|record| record.at).max()?))
    }

    /// Whether the journal says that the step was under way at this time.
    #[must_use]
    pub fn under_way(&self, step: &str, at: Timestamp) -> bool {
        self.steps.get(step).is_some_and(|times| times.started <= at && times.done.is_none_or(|done| at <= done))
    }

    /// The pods that were put on their way out and that this run has to answer for: those that it deleted itself, and,
    /// while it ran, those on source nodes and those of workloads that it moves. Not pods that had ended before, nor
    /// those that were never bound.
    pub fn disruptions(&self) -> impl Iterator<Item = Disruption<'_>> {
        let moved: BTreeSet<&ObjectRef> =
            self.plan.steps().flat_map(|step| lineages(&step.verb)).map(|l| l.0).collect();
        let window = self.window();
        self.timeline.pods().filter_map(move |pod| {
            let (deletion, node) = (pod.deletion()?, pod.node.as_deref()?);
            let workload = self.timeline.workload(pod);
            let from_source = self.plan.sources.iter().any(|source| source == node);
            let by_us = deletion.by == self.user;
            let during = window.is_some_and(|(began, ended)| began <= deletion.received && deletion.received <= ended);
            let ours = by_us || during && (from_source || moved.contains(&workload));
            (ours && !pod.finished_before(deletion.received)).then_some(Disruption {
                pod,
                deletion,
                node,
                workload,
                from_source,
                by_us,
            })
        })
    }
}

/// A pod that was put on its way out.
#[derive(Clone, Debug)]
pub struct Disruption<'e> {
    /// The pod.
    pub pod: &'e PodHistory,
    /// By whom and how.
    pub deletion: &'e Deletion,
    /// Where it stood.
    pub node: &'e str,
    /// Whose pod it was.
    pub workload: ObjectRef,
    /// Whether that is a source node of the plan.
    pub from_source: bool,
    /// Whether the run's user did it.
    pub by_us: bool,
}

/// The workloads that a verb moves, each with how many of its pods leave source nodes and how many restart elsewhere.
pub(super) fn lineages(verb: &Verb) -> Vec<(&ObjectRef, usize, usize)> {
    match verb {
        Verb::Restart(restart) => {
            vec![(&restart.lineage.workload, restart.lineage.pods, restart.restarted_elsewhere)]
        }
        Verb::Evict(evict) => evict.lineages.iter().map(|lineage| (&lineage.workload, lineage.pods, 0)).collect(),
        Verb::Delete(delete) => vec![(&delete.lineage.workload, delete.lineage.pods, 0)],
        _ => Vec::new(),
    }
}

/// Whether this step of the plan deletes pods of the workload from the node, itself.
pub(super) fn takes_off(step: &Step, workload: &ObjectRef, node: &str) -> bool {
    let off = match &step.verb {
        Verb::Evict(evict) => &evict.off,
        Verb::Delete(delete) => &delete.off,
        _ => return false,
    };
    off.iter().any(|name| name == node) && lineages(&step.verb).iter().any(|lineage| lineage.0 == workload)
}
