//! The port to a cluster: what the engine can ask of a world, simulated or real.
//!
//! The trait is synchronous, so that there is one driver and one order of events for both worlds. The adapter for the
//! real Kubernetes hides its async runtime behind it.

use std::sync::Arc;

use rehome_k8s::pod::Pod;
use rehome_k8s::{Record, View};
use rehome_model::request::{Outcome, Request};
use rehome_model::{ObjectRef, Timestamp};

/// A cluster that can be watched and changed.
pub trait World {
    /// The time.
    fn now(&self) -> Timestamp;

    /// The newest state that the watches have brought. It can be behind: nothing irreversible rests on it alone.
    fn view(&self) -> &View;

    /// The pods bound to a node, from a fresh consistent list (never from a watch cache).
    ///
    /// # Errors
    /// The list could not be had.
    fn list_pods_on(&mut self, node: &str) -> Result<Vec<Arc<Pod>>, ReadFailed>;

    /// One object, from a fresh consistent read; `None` when it does not exist.
    ///
    /// # Errors
    /// The object could not be read.
    fn read(&mut self, target: &ObjectRef) -> Result<Option<Record>, ReadFailed>;

    /// Sends one change with `?timeout=` [`rehome_model::request::REQUEST_TIMEOUT`] and this `Audit-ID`.
    fn send(&mut self, request: &Request, audit_id: &str) -> Outcome;

    /// Returns when the view has changed, when the time has come, or when somebody asked to stop, whichever is first.
    fn wait(&mut self, until: Timestamp);

    /// Whether somebody asked to stop, and how soon.
    fn stop(&self) -> Stop;
}

/// Whether a run is to stop. However it stops, it can be resumed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Stop {
    /// It goes on.
    #[default]
    No,
    /// Steps under way are seen through, and none is begun.
    AfterSteps,
    /// Between two requests.
    Now,
}

/// A read that did not work.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("could not read {what}: {message}")]
pub struct ReadFailed {
    /// What was read.
    pub what: String,
    /// What went wrong.
    pub message: String,
    /// Whether asking again cannot help (forbidden, say).
    pub permanent: bool,
}
