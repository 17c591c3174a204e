//! The state of a run: a pure fold over its records.

use std::collections::{BTreeMap, BTreeSet};

use rehome_model::journal::{Event, LeavingPod, Receipt, Record, Verdict};
use rehome_model::request::{Outcome, Request};
use rehome_model::{Digest, ObjectRef, Timestamp, Uid};

/// What is known of a run from its journal alone.
#[derive(Clone, Debug)]
pub(crate) struct State {
    /// The run's name.
    pub(crate) run: String,
    /// The next record's number.
    pub(crate) next_seq: u64,
    /// The last record's digest.
    pub(crate) prev: Digest,
    /// Steps that were begun, by name.
    pub(crate) steps: BTreeMap<String, StepState>,
    /// Steps that have begun and are not done.
    open: BTreeSet<String>,
    /// Requests in the order of their intents.
    pub(crate) sent: Vec<Sent>,
    /// Where in `sent` the requests of a step stand.
    of_step: BTreeMap<String, Vec<usize>>,
    /// The number of the record by which a person last let the run go on: what was refused before may be asked again.
    pub(crate) resumed: u64,
    /// Whether what was changed is being put back.
    pub(crate) undoing: bool,
    /// What has drifted, and since when that is waited for.
    pub(crate) drift: Option<(ObjectRef, String, String, Timestamp)>,
    /// Why the run stands still; cleared when it is resumed.
    pub(crate) stuck: Option<(String, String, Vec<String>)>,
    /// How it ended.
    pub(crate) finished: Option<Verdict>,
}

/// What is known of one step.
#[derive(Clone, Debug, Default)]
pub(crate) struct StepState {
    /// When its deadline began to run: its start, or the last resumption.
    pub(crate) since: Option<Timestamp>,
    /// Pods that leave.
    pub(crate) leaving: Vec<LeavingPod>,
    /// Pods that the lineages had besides.
    pub(crate) known: BTreeSet<Uid>,
    /// Receipts.
    pub(crate) receipts: Vec<Receipt>,
    /// Whether the evidence of an empty node was written.
    pub(crate) proved: bool,
    /// Whether it is done.
    pub(crate) done: bool,
    /// Whether it was done before we came: then nothing of it is ours.
    pub(crate) found_done: bool,
    /// Whether it was put back, or left for good.
    pub(crate) unwound: bool,
}

/// A request that was announced.
#[derive(Clone, Debug)]
pub(crate) struct Sent {
    pub(crate) intent: u64,
    pub(crate) step: String,
    pub(crate) attempt: u32,
    pub(crate) request: Request,
    pub(crate) at: Timestamp,
    /// The answer, and when it was written down.
    pub(crate) answer: Option<(Timestamp, Outcome)>,
    /// What a fresh read said after an unknown outcome, and when.
    pub(crate) landed: Option<(Timestamp, bool)>,
    /// How often in a row the same request was refused for the same kind of cause since the run was let go on.
    pub(crate) in_a_row: u32,
}

impl Sent {
    /// Whether it is known what became of it.
    pub(crate) fn settled(&self) -> bool {
        match &self.answer {
            None => false,
            Some((_, Outcome::Unknown { .. })) => self.landed.is_some(),
            Some(_) => true,
        }
    }

    /// Whether it changed the cluster.
    pub(crate) fn took_effect(&self) -> bool {
        matches!(self.answer, Some((_, Outcome::Applied))) || matches!(self.landed, Some((_, true)))
    }
}

/// A record that does not follow from the ones before.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("record {seq}: expected {expected}, found {found}")]
pub struct ReplayError {
    /// The record's number.
    pub seq: u64,
    /// What could follow.
    pub expected: String,
    /// What is there.
    pub found: String,
}

impl Default for State {
    fn default() -> Self {
        Self {
            run: String::new(),
            next_seq: 0,
            prev: Digest::zero(),
            steps: BTreeMap::new(),
            open: BTreeSet::new(),
            sent: Vec::new(),
            of_step: BTreeMap::new(),
            resumed: 0,
            undoing: false,
            drift: None,
            stuck: None,
            finished: None,
        }
    }
}

impl State {
    pub(crate) fn step(&self, name: &str) -> Option<&StepState> {
        self.steps.get(name)
    }

    pub(crate) fn done(&self, name: &str) -> bool {
        self.steps.get(name).is_some_and(|step| step.done)
    }

    /// The requests of a step, the last one first.
    pub(crate) fn sent_by(&self, step: &str) -> impl Iterator<Item = &Sent> {
        self.of_step.get(step).into_iter().flatten().rev().filter_map(|index| self.sent.get(*index))
    }

    /// The last time that this request was announced for this step.
    pub(crate) fn last(&self, step: &str, request: &Request) -> Option<&Sent> {
        self.sent_by(step).find(|sent| sent.request == *request)
    }

    /// Whether a request of this step changed the cluster.
    pub(crate) fn touched(&self, step: &str) -> bool {
        self.sent_by(step).any(Sent::took_effect)
    }

    /// The request that it is not known of what became of it. No other is announced before that is known, so it can
    /// only be the last.
    pub(crate) fn unsettled(&self) -> Option<&Sent> {
        self.sent.last().filter(|sent| !sent.settled())
    }

    /// Whether a record follows from the ones before. Asked before it is written: a journal never holds one that does not.
    pub(crate) fn check(&self, record: &Record) -> Result<(), ReplayError> {
        let error =
            |expected: &str, found: String| ReplayError { seq: record.seq, expected: expected.to_owned(), found };
        if record.seq != self.next_seq {
            return Err(error(&format!("record number {}", self.next_seq), record.seq.to_string()));
        }
        if record.prev != self.prev {
            return Err(error(&format!("a record that follows {}", self.prev), record.prev.to_string()));
        }
        let starts = matches!(record.event, Event::RunStarted { .. });
        if starts != (record.seq == 0) {
            return Err(error("runStarted as the first record and nowhere else", format!("{:?}", record.event)));
        }
        match (self.finished, &record.event) {
            (None, _) | (Some(Verdict::Done), Event::Resumed { .. } | Event::UndoStarted {}) => {}
            (Some(verdict), _) => return Err(error("nothing more", format!("a record of a run that is {verdict}"))),
        }
        self.follows(&record.event).map_err(|(expected, found)| error(expected, found))
    }

    fn follows(&self, event: &Event) -> Result<(), (&'static str, String)> {
        match event {
            Event::StepStarted { step, .. } | Event::StepAlreadyDone { step } => {
                if self.steps.contains_key(step) {
                    return Err(("a step that has not begun", step.clone()));
                }
                self.forward(step)
            }
            Event::Intent { step, .. } => {
                self.begun(step)?;
                match self.unsettled() {
                    None => Ok(()),
                    Some(open) => Err((
                        "the outcome of the request before",
                        format!("another intent, while {} is open", open.intent),
                    )),
                }
            }
            Event::Answer { intent, .. } => match self.sent.last() {
                Some(sent) if sent.intent == *intent && sent.answer.is_none() => Ok(()),
                _ => Err(("an answer to the last intent", format!("an answer to {intent}"))),
            },
            Event::Reread { intent, .. } => match self.sent.last() {
                Some(sent) if sent.intent == *intent && sent.answer.is_some() && !sent.settled() => Ok(()),
                _ => Err(("a read for an intent without a known outcome", format!("a read for {intent}"))),
            },
            Event::Moved { step, .. } | Event::StepDone { step } => self.open(step).and(self.forward(step)),
            Event::NodeEmpty { step: Some(step), .. } => self.open(step).and(self.forward(step)),
            Event::NodeEmpty { step: None, node, .. } => match self.open_step() {
                Some(_) => Ok(()),
                None => Err(("a step that proves the node", node.clone())),
            },
            Event::DriftEnded { subject } if self.drift.as_ref().is_none_or(|(drifted, ..)| drifted != subject) => {
                Err(("the end of what has drifted", subject.to_string()))
            }
            Event::Drifted { subject, .. } => self.forward(&subject.to_string()),
            Event::UndoStarted {} if self.undoing => Err(("the run's first undo", "another undo".to_owned())),
            Event::Undone { step } | Event::Left { step, .. } => {
                if self.undoing {
                    self.begun(step)
                } else {
                    Err(("undoStarted before", step.clone()))
                }
            }
            Event::Finished { verdict } if (*verdict == Verdict::RolledBack) != self.undoing => {
                Err(("the verdict of what the run does", verdict.to_string()))
            }
            Event::RunStarted { .. }
            | Event::Resumed { .. }
            | Event::DriftEnded { .. }
            | Event::Stuck { .. }
            | Event::Interrupted {}
            | Event::UndoStarted {}
            | Event::Finished { .. } => Ok(()),
        }
    }

    fn begun(&self, step: &str) -> Result<(), (&'static str, String)> {
        if self.steps.contains_key(step) { Ok(()) } else { Err(("a step that has begun", step.to_owned())) }
    }

    fn open(&self, step: &str) -> Result<(), (&'static str, String)> {
        self.begun(step)?;
        if self.done(step) { Err(("a step that is not done", step.to_owned())) } else { Ok(()) }
    }

    fn forward(&self, step: &str) -> Result<(), (&'static str, String)> {
        if self.undoing { Err(("nothing but undoing", step.to_owned())) } else { Ok(()) }
    }

    /// How many steps are done.
    pub(crate) fn done_steps(&self) -> usize {
        self.steps.len() - self.open.len()
    }

    /// A step that is under way: the one, in journals of before steps ran beside each other.
    pub(crate) fn open_step(&self) -> Option<&str> {
        self.open.first().map(String::as_str)
    }

    /// Takes a record in.
    pub(crate) fn apply(&mut self, record: &Record) -> Result<(), ReplayError> {
        self.check(record)?;
        self.fold(record);
        self.next_seq += 1;
        self.prev = Digest::of(record).map_err(|source| ReplayError {
            seq: record.seq,
            expected: "a record that is JSON".to_owned(),
            found: source.to_string(),
        })?;
        Ok(())
    }

    fn fold(&mut self, record: &Record) {
        match &record.event {
            Event::RunStarted { run, .. } => self.run.clone_from(run),
            Event::Resumed { .. } => self.go_on(record),
            Event::UndoStarted {} => {
                self.go_on(record);
                self.undoing = true;
                self.finished = None;
            }
            Event::StepStarted { step, leaving, known } => {
                let known = known.iter().cloned().collect();
                let state =
                    StepState { since: Some(record.at), leaving: leaving.clone(), known, ..StepState::default() };
                self.steps.insert(step.clone(), state);
                self.open.insert(step.clone());
            }
            Event::StepAlreadyDone { step } => {
                self.steps.insert(step.clone(), StepState { done: true, found_done: true, ..StepState::default() });
            }
            Event::Intent { step, attempt, request } => {
                self.of_step.entry(step.clone()).or_default().push(self.sent.len());
                self.sent.push(Sent {
                    intent: record.seq,
                    step: step.clone(),
                    attempt: *attempt,
                    request: request.clone(),
                    at: record.at,
                    answer: None,
                    landed: None,
                    in_a_row: 0,
                });
            }
            Event::Answer { outcome, .. } => {
                let in_a_row = self.refused_before(outcome) + 1;
                if let Some(sent) = self.sent.last_mut() {
                    sent.answer = Some((record.at, outcome.clone()));
                    sent.in_a_row = in_a_row;
                }
            }
            Event::Reread { landed, .. } => {
                if let Some(sent) = self.sent.last_mut() {
                    sent.landed = Some((record.at, *landed));
                }
            }
            Event::Moved { step, receipt } => self.change(step, |state| state.receipts.push(receipt.clone())),
            Event::StepDone { step } => {
                self.change(step, |state| state.done = true);
                self.open.remove(step);
            }
            Event::NodeEmpty { step, .. } => {
                let step = step.clone().or_else(|| self.open.first().cloned());
                self.change(&step.unwrap_or_default(), |state| state.proved = true);
            }
            Event::Stuck { step, cause, instructions } => {
                self.stuck = Some((step.clone(), cause.clone(), instructions.clone()));
            }
            Event::Drifted { subject, expected, found } => {
                self.drift = Some((subject.clone(), expected.clone(), found.clone(), record.at));
            }
            Event::DriftEnded { .. } => self.drift = None,
            Event::Interrupted {} => {}
            Event::Undone { step } | Event::Left { step, .. } => self.change(step, |state| state.unwound = true),
            Event::Finished { verdict } => self.finished = Some(*verdict),
        }
    }

    /// A person lets the run go on: patience begins anew.
    fn go_on(&mut self, record: &Record) {
        self.stuck = None;
        self.resumed = record.seq;
        if let Some((.., since)) = &mut self.drift {
            *since = record.at;
        }
        for name in &self.open {
            if let Some(step) = self.steps.get_mut(name) {
                step.since = Some(record.at);
            }
        }
    }

    /// How often in a row the last request was refused for this kind of cause, before this answer.
    fn refused_before(&self, outcome: &Outcome) -> u32 {
        let (Some(last), Outcome::Rejected { cause }) = (self.sent.last(), outcome) else { return 0 };
        let mut earlier = self.sent_by(&last.step).skip(1).filter(|sent| sent.request == last.request);
        match earlier.next() {
            Some(Sent { intent, in_a_row, answer: Some((_, Outcome::Rejected { cause: before })), .. })
                if *intent > self.resumed && std::mem::discriminant(before) == std::mem::discriminant(cause) =>
            {
                *in_a_row
            }
            _ => 0,
        }
    }

    fn change(&mut self, step: &str, change: impl FnOnce(&mut StepState)) {
        if let Some(state) = self.steps.get_mut(step) {
            change(state);
        }
    }
}
