//! The objects of the simulated cluster: what etcd and the storage layer of the API server do.
//!
//! Knows resource versions, generations, UIDs and generated names; does not know what any object means.

use std::sync::Arc;

use rehome_k8s::policy::PodDisruptionBudget;
use rehome_k8s::workload::Workload;
use rehome_k8s::{Key, Kind, Record, View};
use rehome_model::{Timestamp, Uid};

use crate::controllers::Change;
use crate::random::{Random, mix};

/// All objects. A clone shares them until one of the two is written to.
#[derive(Clone, Debug)]
pub(crate) struct Store {
    view: Arc<View>,
    revision: u64,
    /// UIDs and generated names: a stream of its own, so that they do not depend on what else is drawn.
    names: Random,
}

/// Letters of the suffix that stands for a `generateName`.
/// Source: `k8s.io/apiserver/pkg/storage/names`, `randomLength`.
const SUFFIX: usize = 5;

/// An object with this name is there already.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct AlreadyExists;

impl Store {
    pub(crate) fn new(view: View, seed: u64) -> Self {
        // Resource versions go on after the newest that was captured.
        let revision =
            view.records().filter_map(|record| record.meta().resource_version.parse().ok()).max().unwrap_or(0);
        // A UID is never used twice, not even by a twin of a cluster that was simulated from this seed itself.
        let there = view.records().flat_map(|record| record.meta().uid.0.bytes());
        let names = there.fold(seed ^ 0x6e61_6d65, |mixed, byte| mix(mixed ^ u64::from(byte)));
        Self { view: Arc::new(view), revision, names: Random::new(names) }
    }

    pub(crate) fn view(&self) -> &Arc<View> {
        &self.view
    }

    fn stamp(&mut self, record: &mut Record) {
        self.revision += 1;
        record.meta_mut().resource_version = self.revision.to_string();
    }

    /// Creates an object; the name may end in `-`.
    pub(crate) fn create(&mut self, mut record: Record, now: Timestamp) -> Result<Change, AlreadyExists> {
        let kind = record.kind();
        if record.meta().name.ends_with('-') {
            let prefix = record.meta().name.clone();
            // A suffix that is taken is drawn again; 27^5 of them do not run out.
            loop {
                let name = format!("{prefix}{}", self.names.suffix(SUFFIX));
                if self.view.get(kind, &Key::new(record.meta().namespace.clone(), name.clone())).is_none() {
                    record.meta_mut().name = name;
                    break;
                }
            }
        } else if self.view.get(kind, &record.key()).is_some() {
            return Err(AlreadyExists);
        }
        let uid = Uid(self.names.uid());
        self.stamp(&mut record);
        let meta = record.meta_mut();
        meta.uid = uid;
        meta.created = Some(now);
        if counts_generations(kind) {
            meta.generation = 1;
        }
        Arc::make_mut(&mut self.view).insert(record.clone());
        Ok(Change { before: None, after: Some(record) })
    }

    /// Replaces an object; a changed spec is a new generation. `None` when it does not exist.
    pub(crate) fn update(&mut self, mut record: Record) -> Option<Change> {
        let before = self.view.get(record.kind(), &record.key())?.clone();
        keep_status(&before, &mut record);
        if spec_differs(&before, &record) {
            record.meta_mut().generation += 1;
        }
        self.replace(before, record)
    }

    /// Replaces the status of an object. `None` when it does not exist.
    pub(crate) fn update_status(&mut self, record: Record) -> Option<Change> {
        let before = self.view.get(record.kind(), &record.key())?.clone();
        let record = only_status(&before, record);
        self.replace(before, record)
    }

    fn replace(&mut self, before: Record, mut record: Record) -> Option<Change> {
        self.stamp(&mut record);
        Arc::make_mut(&mut self.view).insert(record.clone());
        Some(Change { before: Some(before), after: Some(record) })
    }

    /// Takes an object out. `None` when it does not exist.
    pub(crate) fn remove(&mut self, kind: Kind, key: &Key) -> Option<Change> {
        self.view.get(kind, key)?;
        self.revision += 1;
        let before = Arc::make_mut(&mut self.view).remove(kind, key);
        Some(Change { before, after: None })
    }

    /// Puts an object as it is, without a watch event: for the state at the beginning.
    pub(crate) fn put(&mut self, record: Record) {
        Arc::make_mut(&mut self.view).insert(record);
    }
}

fn counts_generations(kind: Kind) -> bool {
    kind.is_workload() || kind == Kind::PodDisruptionBudget
}

fn spec_differs(before: &Record, after: &Record) -> bool {
    match (before, after) {
        (Record::PodDisruptionBudget(before), Record::PodDisruptionBudget(after)) => {
            let bare = |budget: &PodDisruptionBudget| PodDisruptionBudget {
                meta: rehome_k8s::Meta::default(),
                status: None,
                ..budget.clone()
            };
            bare(before) != bare(after)
        }
        _ => match (before.as_workload(), after.as_workload()) {
            (Some(before), Some(after)) => {
                let bare = |workload: &Workload| Workload {
                    meta: rehome_k8s::Meta::default(),
                    status: rehome_k8s::workload::WorkloadStatus::default(),
                    ..workload.clone()
                };
                bare(before) != bare(after)
            }
            _ => false,
        },
    }
}

/// A write of the spec does not touch the status: the writer may have read an older one.
fn keep_status(before: &Record, after: &mut Record) {
    match (before, after) {
        (Record::PodDisruptionBudget(before), Record::PodDisruptionBudget(after)) => {
            Arc::make_mut(after).status.clone_from(&before.status);
        }
        (before, after) => {
            if let (Some(old), Some(new)) = (before.as_workload(), after.as_workload())
                && old.status != new.status
                && let Some(merged) =
                    Record::workload(before.kind(), Workload { status: old.status, ..Workload::clone(new) })
            {
                *after = merged;
            }
        }
    }
}

/// A write of the status does not touch the rest. A pod's record has no line between the two.
fn only_status(before: &Record, after: Record) -> Record {
    match (before, &after) {
        (Record::PodDisruptionBudget(old), Record::PodDisruptionBudget(new)) => {
            let merged = PodDisruptionBudget { status: new.status.clone(), ..PodDisruptionBudget::clone(old) };
            Record::PodDisruptionBudget(Arc::new(merged))
        }
        _ => match (before.as_workload(), after.as_workload()) {
            (Some(old), Some(new)) => {
                // What a DaemonSet asks for is in its status (`desiredNumberScheduled`).
                let replicas = if before.kind() == Kind::DaemonSet { new.replicas } else { old.replicas };
                let merged = Workload { status: new.status, replicas, ..Workload::clone(old) };
                Record::workload(before.kind(), merged).unwrap_or(after)
            }
            _ => after,
        },
    }
}
