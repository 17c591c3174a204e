//! The engine's port to a real cluster.
//!
//! The view is filled by watches and can be behind; [`World::read`] and [`World::list_pods_on`] ask the server, without
//! a `resourceVersion`, so that the answer comes from a quorum of etcd and not from a cache.

use std::cell::Cell;
use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use rehome_engine::world::{ReadFailed, Stop, World};
use rehome_k8s::pod::Pod;
use rehome_k8s::{Key, Kind, Record, View, ingest};
use rehome_model::request::{Outcome, Request};
use rehome_model::{ObjectRef, Timestamp};
use serde_json::value::RawValue;
use tokio::sync::mpsc::{self, UnboundedReceiver};
use tokio::task::JoinHandle;

use crate::list::{self, Batch, ListError};
use crate::watch::{self, Delta};
use crate::{Connection, capture, clock, path, send};

/// The kinds that are followed while a plan is carried out: those that change when pods move.
pub const WATCHED: &[Kind] = &[
    Kind::Namespace,
    Kind::Node,
    Kind::Pod,
    Kind::Deployment,
    Kind::ReplicaSet,
    Kind::StatefulSet,
    Kind::DaemonSet,
    Kind::Job,
    Kind::PodDisruptionBudget,
    Kind::PersistentVolumeClaim,
    Kind::VolumeAttachment,
    Kind::EndpointSlice,
];

/// How often a wait looks whether somebody asked to stop: a signal handler can only set a flag.
const STOP_POLL: Duration = Duration::from_millis(100);

/// A real cluster as the engine sees it.
#[derive(Debug)]
pub struct KubeWorld {
    connection: Connection,
    view: View,
    deltas: UnboundedReceiver<Delta>,
    followers: Vec<JoinHandle<()>>,
    stop: Arc<AtomicBool>,
    wind_down: Arc<AtomicBool>,
    /// What [`World::stop`] said last: a wait ends when it would say something else.
    told: Cell<Stop>,
    warnings: BTreeSet<String>,
}

/// Why a world could not be made.
#[derive(Debug, thiserror::Error)]
#[error("{kind} could not be listed: {message}")]
pub struct StartFailed {
    /// The kind.
    pub kind: Kind,
    /// What went wrong.
    pub message: String,
}

impl KubeWorld {
    /// Lists all kinds (but Events) and follows those in [`WATCHED`]. A kind that may not be listed is a gap of the
    /// view. `stop` is set by whoever wants the engine to end between two requests.
    ///
    /// # Errors
    /// The server does not answer.
    pub fn start(connection: &Connection, stop: Arc<AtomicBool>) -> Result<Self, StartFailed> {
        let mut view = View::new(connection.describe().identity());
        let (sender, deltas) = mpsc::unbounded_channel();
        let mut followers = Vec::new();
        let (client, timeout) = (connection.client(), connection.read_timeout());
        for &kind in Kind::ALL.iter().filter(|&&kind| kind != Kind::Event) {
            let version = match connection.runtime().block_on(watch::first(client, kind, timeout)) {
                Ok((records, version)) => {
                    apply(&mut view, Delta::Replace(kind, records));
                    Some(version)
                }
                Err(ListError::NoAnswer(message)) => return Err(StartFailed { kind, message }),
                // A kind that cannot be read now is listed again by its follower.
                Err(error) => {
                    view.set_gap(kind, capture::gap_of(kind, error));
                    None
                }
            };
            if WATCHED.contains(&kind) {
                let follow = watch::follow(client.clone(), kind, version, timeout, sender.clone());
                followers.push(connection.runtime().spawn(follow));
            }
        }
        let connection = connection.clone();
        let (wind_down, told, warnings) = (Arc::default(), Cell::default(), BTreeSet::new());
        Ok(Self { connection, view, deltas, followers, stop, wind_down, told, warnings })
    }

    /// From now on, who sets `asked` wants the steps under way to be seen through, and none to be begun.
    pub fn wind_down_when(&mut self, asked: Arc<AtomicBool>) {
        self.wind_down = asked;
    }

    /// What the server warned of in its answers, each sentence once.
    #[must_use]
    pub fn warnings(&self) -> &BTreeSet<String> {
        &self.warnings
    }

    /// What somebody asks for now.
    fn asked(&self) -> Stop {
        if self.stop.load(Ordering::Relaxed) {
            Stop::Now
        } else if self.wind_down.load(Ordering::Relaxed) {
            Stop::AfterSteps
        } else {
            Stop::No
        }
    }

    /// Takes over what the watches have brought; says whether it was anything.
    fn catch_up(&mut self) -> bool {
        let mut changed = false;
        while let Ok(delta) = self.deltas.try_recv() {
            apply(&mut self.view, delta);
            changed = true;
        }
        changed
    }
}

fn apply(view: &mut View, delta: Delta) {
    match delta {
        Delta::Replace(kind, records) => {
            let kept: BTreeSet<Key> = records.iter().map(Record::key).collect();
            let gone: Vec<Key> = view.of_kind(kind).map(Record::key).filter(|key| !kept.contains(key)).collect();
            for key in gone {
                view.remove(kind, &key);
            }
            for record in records {
                view.insert(record);
            }
            view.clear_gap(kind);
        }
        Delta::Upsert(record) => drop(view.insert(record)),
        Delta::Remove(kind, key) => drop(view.remove(kind, &key)),
        Delta::Gap(kind, gap) => view.set_gap(kind, gap),
    }
}

impl World for KubeWorld {
    fn now(&self) -> Timestamp {
        clock::now()
    }

    fn view(&self) -> &View {
        &self.view
    }

    fn list_pods_on(&mut self, node: &str) -> Result<Vec<Arc<Pod>>, ReadFailed> {
        let what = format!("the pods on node {node}");
        let mut items: Vec<Box<RawValue>> = Vec::new();
        let take = |batch: Batch| match batch {
            Batch::Restart => items.clear(),
            Batch::Items(page) => items.extend(page),
        };
        let selector = format!("spec.nodeName={node}");
        let selectors = [("fieldSelector", selector.as_str())];
        let (client, timeout) = (self.connection.client(), self.connection.read_timeout());
        let path = path::all(Kind::Pod);
        let list = list::list(client, &path, &selectors, timeout, take);
        self.connection.runtime().block_on(list).map_err(|error| failed(&what, &error))?;
        let mut pods = Vec::with_capacity(items.len());
        for item in items {
            let json = capture::with_kind(Kind::Pod, &item).map_err(|error| unreadable(&what, &error))?;
            if let Some(Record::Pod(pod)) = ingest::object(&json).map_err(|error| unreadable(&what, &error))? {
                pods.push(pod);
            }
        }
        self.catch_up();
        Ok(pods)
    }

    fn read(&mut self, target: &ObjectRef) -> Result<Option<Record>, ReadFailed> {
        let what = target.to_string();
        let Some(kind) = Kind::by_name(&target.kind) else {
            return Err(ReadFailed { what, message: "no kind that rehome reads".to_owned(), permanent: true });
        };
        let path = path::one(kind, target);
        let read = list::read(self.connection.client(), &path, self.connection.read_timeout());
        let answer = self.connection.runtime().block_on(read).map_err(|error| failed(&what, &error))?;
        self.catch_up();
        match answer.code.as_u16() {
            200 => {
                let json = std::str::from_utf8(&answer.body).map_err(|error| unreadable(&what, &error))?;
                ingest::object(json).map_err(|error| unreadable(&what, &error))
            }
            // Only when the object is missing: a path that is not served is no proof of absence.
            404 if crate::status::Status::parse(&answer.body)
                .is_some_and(|status| status.details.name == target.name) =>
            {
                Ok(None)
            }
            code => Err(failed(&what, &ListError::Refused { code, message: answer.message() })),
        }
    }

    fn send(&mut self, request: &Request, audit_id: &str) -> Outcome {
        let send = send::send(self.connection.client(), request, audit_id, self.connection.read_timeout());
        let sent = self.connection.runtime().block_on(send);
        self.warnings.extend(sent.warnings);
        self.catch_up();
        sent.outcome
    }

    fn wait(&mut self, until: Timestamp) {
        while !self.catch_up() && self.asked() == self.told.get() && self.told.get() != Stop::Now {
            let left = until.as_millis() - clock::now().as_millis();
            let Some(left) = u64::try_from(left).ok().filter(|&left| left > 0) else { return };
            let turn = Duration::from_millis(left).min(STOP_POLL);
            let next = async { tokio::time::timeout(turn, self.deltas.recv()).await };
            if let Ok(Some(delta)) = self.connection.runtime().block_on(next) {
                apply(&mut self.view, delta);
                self.catch_up();
                return;
            }
        }
    }

    fn stop(&self) -> Stop {
        self.told.set(self.asked());
        self.told.get()
    }
}

impl Drop for KubeWorld {
    fn drop(&mut self) {
        for follower in &self.followers {
            follower.abort();
        }
    }
}

/// Whether asking again can help: with a refusal it cannot, unless the server was busy or in trouble.
fn failed(what: &str, error: &ListError) -> ReadFailed {
    let permanent = match error {
        ListError::Refused { code, .. } => (400..500).contains(code) && !matches!(code, 408 | 410 | 429),
        ListError::NoAnswer(_) => false,
        ListError::Malformed(_) => true,
    };
    ReadFailed { what: what.to_owned(), message: error.to_string(), permanent }
}

fn unreadable(what: &str, error: &dyn std::error::Error) -> ReadFailed {
    ReadFailed { what: what.to_owned(), message: error.to_string(), permanent: true }
}

#[cfg(test)]
mod tests;
