//! The state of a run: a pure fold over its records.

use std::collections::{BTreeMap, BTreeSet};

use rehome_model::journal::{Event, LeavingPod, Receipt, Record, Verdict};
use rehome_model::request::{Outcome, Request};
use rehome_model::{Digest, Timestamp, Uid};

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
    /// Requests in the order of their intents.
    pub(crate) sent: Vec<Sent>,
    /// Whether what was changed is being put back.
    pub(crate) undoing: bool,
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
            sent: Vec::new(),
            undoing: false,
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

    /// The last time that this request was announced for this step.
    pub(crate) fn last(&self, step: &str, request: &Request) -> Option<&Sent> {
        self.sent.iter().rev().find(|sent| sent.step == step && sent.request == *request)
    }

    /// The request that it is not known of what became of it; there is at most one.
    pub(crate) fn unsettled(&self) -> Option<&Sent> {
        self.sent.iter().rev().find(|sent| !sent.settled())
    }

    /// Takes a record in.
    pub(crate) fn apply(&mut self, record: &Record) -> Result<(), ReplayError> {
        let error =
            |expected: &str, found: String| ReplayError { seq: record.seq, expected: expected.to_owned(), found };
        if record.seq != self.next_seq {
            return Err(error(&format!("record number {}", self.next_seq), record.seq.to_string()));
        }
        let starts = matches!(record.event, Event::RunStarted { .. });
        if starts != (record.seq == 0) {
            return Err(error("runStarted as the first record and nowhere else", format!("{:?}", record.event)));
        }
        if self.finished.is_some() {
            return Err(error("the end of the journal", "a record after the run had finished".to_owned()));
        }
        self.event(record).map_err(|(expected, found)| error(expected, found))?;
        self.next_seq += 1;
        self.prev = Digest::of(record).map_err(|source| error("a record that is JSON", source.to_string()))?;
        Ok(())
    }

    fn event(&mut self, record: &Record) -> Result<(), (&'static str, String)> {
        match &record.event {
            Event::RunStarted { run, .. } => self.run.clone_from(run),
            Event::Resumed { .. } => {
                self.stuck = None;
                for step in self.steps.values_mut().filter(|step| !step.done) {
                    step.since = Some(record.at);
                }
            }
            Event::StepStarted { step, leaving, known } => {
                let known = known.iter().cloned().collect();
                let state =
                    StepState { since: Some(record.at), leaving: leaving.clone(), known, ..StepState::default() };
                if self.steps.insert(step.clone(), state).is_some() {
                    return Err(("a step that has not begun", step.clone()));
                }
            }
            Event::StepAlreadyDone { step } => {
                self.steps.insert(step.clone(), StepState { done: true, found_done: true, ..StepState::default() });
            }
            Event::Intent { step, attempt, request } => {
                if let Some(open) = self.unsettled() {
                    return Err((
                        "the outcome of the request before",
                        format!("another intent; {} is open", open.intent),
                    ));
                }
                self.sent.push(Sent {
                    intent: record.seq,
                    step: step.clone(),
                    attempt: *attempt,
                    request: request.clone(),
                    at: record.at,
                    answer: None,
                    landed: None,
                });
            }
            Event::Answer { intent, outcome } => match self.sent.last_mut().filter(|sent| sent.intent == *intent) {
                Some(sent) if sent.answer.is_none() => sent.answer = Some((record.at, outcome.clone())),
                _ => return Err(("an answer to the last intent", format!("an answer to {intent}"))),
            },
            Event::Reread { intent, landed } => match self.sent.last_mut().filter(|sent| sent.intent == *intent) {
                Some(sent) if sent.landed.is_none() => sent.landed = Some((record.at, *landed)),
                _ => return Err(("a read for the last intent", format!("a read for {intent}"))),
            },
            Event::Moved { step, receipt } => self.begun(step)?.receipts.push(receipt.clone()),
            Event::StepDone { step } => self.begun(step)?.done = true,
            Event::NodeEmpty { node, .. } => {
                let step =
                    self.steps.iter_mut().find(|(name, state)| !state.done && name.ends_with(&format!("/{node}")));
                match step {
                    Some((_, state)) => state.proved = true,
                    None => return Err(("a step that proves the node", node.clone())),
                }
            }
            Event::Stuck { step, cause, instructions } => {
                self.stuck = Some((step.clone(), cause.clone(), instructions.clone()));
            }
            Event::Interrupted {} => {}
            Event::UndoStarted {} => {
                self.undoing = true;
                self.stuck = None;
            }
            Event::Undone { step } => self.begun(step)?.unwound = true,
            Event::Left { step, .. } => self.begun(step)?.unwound = true,
            Event::Finished { verdict } => self.finished = Some(*verdict),
        }
        Ok(())
    }

    fn begun(&mut self, step: &str) -> Result<&mut StepState, (&'static str, String)> {
        self.steps.get_mut(step).ok_or_else(|| ("a step that has begun", step.to_owned()))
    }
}
