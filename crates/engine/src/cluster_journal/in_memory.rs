//! Objects in memory, with the semantics of the API server's ConfigMaps: what two processes share in a simulation.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use rehome_model::{Seconds, Timestamp};

use super::objects::{Objects, ObjectsError, Stored, Version, WriteError};

/// Objects in memory. Clones see the same objects and the same clock.
#[derive(Clone, Debug, Default)]
pub struct InMemory(Arc<Mutex<State>>);

#[derive(Debug, Default)]
struct State {
    objects: BTreeMap<String, Stored>,
    /// One counter for all, as etcd's revision.
    revision: u64,
    now: Option<Timestamp>,
    writes: u64,
}

impl InMemory {
    /// How many writes there were, refused ones included.
    #[must_use]
    pub fn writes(&self) -> u64 {
        self.lock().writes
    }

    /// Sets the clock.
    pub fn at(&self, now: Timestamp) {
        self.lock().now = Some(now);
    }

    /// Deletes an object, as a person would.
    pub fn delete(&self, name: &str) {
        self.lock().objects.remove(name);
    }

    /// The names of all objects.
    #[must_use]
    pub fn names(&self) -> Vec<String> {
        self.lock().objects.keys().cloned().collect()
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    fn put(&mut self, name: &str, uid: Option<String>, data: &BTreeMap<String, String>) -> Version {
        self.revision += 1;
        let resource_version = self.revision.to_string();
        let uid = uid.unwrap_or_else(|| format!("uid-{resource_version}"));
        let version = Version { uid, resource_version };
        self.objects.insert(name.to_owned(), Stored { version: version.clone(), data: data.clone() });
        version
    }
}

impl Objects for InMemory {
    fn now(&self) -> Timestamp {
        self.lock().now.unwrap_or(Timestamp::EPOCH)
    }

    fn pause(&mut self, time: Seconds) {
        let mut state = self.lock();
        state.now = Some(state.now.unwrap_or(Timestamp::EPOCH) + time);
    }

    fn get(&mut self, name: &str) -> Result<Option<Stored>, ObjectsError> {
        Ok(self.lock().objects.get(name).cloned())
    }

    fn create(&mut self, name: &str, _: &str, data: &BTreeMap<String, String>) -> Result<Version, WriteError> {
        let mut state = self.lock();
        state.writes += 1;
        if state.objects.contains_key(name) {
            return Err(WriteError::Conflict);
        }
        Ok(state.put(name, None, data))
    }

    fn swap(&mut self, name: &str, at: &Version, data: &BTreeMap<String, String>) -> Result<Version, WriteError> {
        let mut state = self.lock();
        state.writes += 1;
        match state.objects.get(name) {
            None => Err(WriteError::Gone),
            Some(stored) if stored.version != *at => Err(WriteError::Conflict),
            Some(_) => Ok(state.put(name, Some(at.uid.clone()), data)),
        }
    }
}
