//! The oracle: what kube-scheduler itself says about a cluster, from programs that are built of its own packages.
//!
//! [`Oracle`] is a process that answers one [`Request`] after the other; [`place`], [`forced`] and [`plugins`] start one
//! for a single answer. What a model of the scheduler says about the same cluster, it does not know.

use std::io::{BufRead as _, BufReader, BufWriter, Write as _};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use serde::Deserialize;
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::go::GoError;

mod program;
mod protocol;

pub use program::{Version, find};
pub use protocol::{
    Candidate, ForcedBest, ForcedBinding, ForcedRequest, ForcedResponse, NodeVerdict, PlaceRequest, PlaceResponse,
    Placement, PluginWeight, Plugins, PodVerdict, Preemption, Request, Response, Verdict,
};

/// How much of an answer that can't be read an error repeats, in characters.
const EXCERPT: usize = 200;

/// Why there is no answer.
#[derive(Debug, thiserror::Error)]
pub enum OracleError {
    /// The program could not be built.
    #[error(transparent)]
    Go(#[from] GoError),
    /// The program could not be started, or talking to it failed.
    #[error(transparent)]
    Io(#[from] std::io::Error),
    /// The oracle can't answer this request, and says why.
    #[error("the oracle refuses the request: {0}")]
    Refused(String),
    /// The program ended instead of answering.
    #[error("expected an answer of the oracle, found that it ended ({0}); its own words are on stderr")]
    Ended(String),
    /// The answer is not what the protocol says.
    #[error("expected an answer of the protocol, found {excerpt}: {source}")]
    Unreadable {
        /// The beginning of the answer.
        excerpt: String,
        /// What is wrong with it.
        source: serde_json::Error,
    },
    /// The request can't be written as JSON.
    #[error(transparent)]
    Request(serde_json::Error),
}

/// A running oracle that judges pairs of pods and nodes. Dropping it ends the process.
#[derive(Debug)]
pub struct Oracle {
    process: Process,
}

impl Oracle {
    /// Starts the oracle of a version, and builds it if it was not yet built.
    ///
    /// # Errors
    /// See [`OracleError`].
    pub fn start(version: Version) -> Result<Self, OracleError> {
        Ok(Self { process: Process::start(version, "verdicts")? })
    }

    /// Asks about one cluster. After [`OracleError::Refused`] the oracle can be asked on.
    ///
    /// # Errors
    /// See [`OracleError`].
    pub fn ask(&mut self, request: &Request) -> Result<Response, OracleError> {
        self.process.ask(request)
    }

    /// Sends a line as it is, to see what the oracle says to one that is no request.
    ///
    /// # Errors
    /// See [`OracleError`].
    pub fn ask_line(&mut self, line: &str) -> Result<Response, OracleError> {
        self.process.ask_line(line)
    }
}

/// Runs the scheduling loop over a list of pods.
///
/// # Errors
/// See [`OracleError`].
pub fn place(version: Version, request: &PlaceRequest) -> Result<PlaceResponse, OracleError> {
    Process::start(version, "place")?.ask(request)
}

/// Says for each of a list of bindings what would have been best.
///
/// # Errors
/// See [`OracleError`].
pub fn forced(version: Version, request: &ForcedRequest) -> Result<ForcedResponse, OracleError> {
    Process::start(version, "forced")?.ask(request)
}

/// The plugins of the default profile of a version.
///
/// # Errors
/// See [`OracleError`].
pub fn plugins(version: Version) -> Result<Plugins, OracleError> {
    Process::start(version, "plugins")?.answer()
}

/// A program that answers each line with a line.
#[derive(Debug)]
struct Process {
    child: Child,
    requests: BufWriter<ChildStdin>,
    answers: BufReader<ChildStdout>,
}

impl Process {
    fn start(version: Version, mode: &str) -> Result<Self, OracleError> {
        let program = find(version, &|_| {})?;
        let mut child = Command::new(&program).arg(mode).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn()?;
        let (Some(stdin), Some(stdout)) = (child.stdin.take(), child.stdout.take()) else {
            return Err(std::io::Error::other("expected pipes to the oracle, found none").into());
        };
        Ok(Self { child, requests: BufWriter::new(stdin), answers: BufReader::new(stdout) })
    }

    fn ask<A: DeserializeOwned>(&mut self, request: &impl Serialize) -> Result<A, OracleError> {
        let line = serde_json::to_string(request).map_err(OracleError::Request)?;
        self.ask_line(&line)
    }

    fn ask_line<A: DeserializeOwned>(&mut self, line: &str) -> Result<A, OracleError> {
        // The oracle reads a whole line before it writes anything, so neither side can wait for the other.
        if let Err(error) = writeln!(self.requests, "{line}").and_then(|()| self.requests.flush()) {
            return match error.kind() {
                std::io::ErrorKind::BrokenPipe => Err(self.ended()?),
                _ => Err(error.into()),
            };
        }
        self.answer()
    }

    fn answer<A: DeserializeOwned>(&mut self) -> Result<A, OracleError> {
        let mut line = String::new();
        if self.answers.read_line(&mut line)? == 0 {
            return Err(self.ended()?);
        }
        let unreadable = |source| OracleError::Unreadable { excerpt: line.chars().take(EXCERPT).collect(), source };
        // Of the answers of all modes: if this is set, there is nothing else.
        #[derive(Deserialize)]
        struct Refusal {
            error: Option<String>,
        }
        let refusal: Refusal = serde_json::from_str(&line).map_err(unreadable)?;
        match refusal.error {
            Some(why) => Err(OracleError::Refused(why)),
            None => serde_json::from_str(&line).map_err(unreadable),
        }
    }

    fn ended(&mut self) -> Result<OracleError, OracleError> {
        Ok(OracleError::Ended(self.child.wait()?.to_string()))
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        // It may be in the middle of an answer that nobody wants any more. That it has ended already is no failure.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
