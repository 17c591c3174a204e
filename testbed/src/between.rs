//! A world with something between the engine and it: a saboteur, a person who meddles, bad weather, a frozen process.
//!
//! Each says only what it does differently; all else goes through as it is.

use std::ops::{Deref, DerefMut};
use std::sync::Arc;

use rehome_engine::world::{ReadFailed, Stop, World};
use rehome_k8s::pod::Pod;
use rehome_k8s::{Record, View};
use rehome_model::request::{Outcome, Request};
use rehome_model::{ObjectRef, Timestamp};

/// What stands between the engine and a world.
pub trait Between {
    /// The world behind it.
    type Behind: World;

    /// The world behind it.
    fn behind(&self) -> &Self::Behind;

    /// The same, to be changed.
    fn behind_mut(&mut self) -> &mut Self::Behind;

    /// See [`World::list_pods_on`].
    ///
    /// # Errors
    /// See there.
    fn list_pods_on(&mut self, node: &str) -> Result<Vec<Arc<Pod>>, ReadFailed> {
        self.behind_mut().list_pods_on(node)
    }

    /// See [`World::read`].
    ///
    /// # Errors
    /// See there.
    fn read(&mut self, target: &ObjectRef) -> Result<Option<Record>, ReadFailed> {
        self.behind_mut().read(target)
    }

    /// See [`World::send`].
    fn send(&mut self, request: &Request, audit_id: &str) -> Outcome {
        self.behind_mut().send(request, audit_id)
    }

    /// See [`World::wait`].
    fn wait(&mut self, until: Timestamp) {
        self.behind_mut().wait(until);
    }
}

/// The world as it is seen through what stands between.
#[derive(Debug)]
pub struct Through<B>(pub B);

impl<B> Deref for Through<B> {
    type Target = B;

    fn deref(&self) -> &B {
        &self.0
    }
}

impl<B> DerefMut for Through<B> {
    fn deref_mut(&mut self) -> &mut B {
        &mut self.0
    }
}

impl<B: Between> World for Through<B> {
    fn now(&self) -> Timestamp {
        self.0.behind().now()
    }

    fn view(&self) -> &View {
        self.0.behind().view()
    }

    fn list_pods_on(&mut self, node: &str) -> Result<Vec<Arc<Pod>>, ReadFailed> {
        self.0.list_pods_on(node)
    }

    fn read(&mut self, target: &ObjectRef) -> Result<Option<Record>, ReadFailed> {
        self.0.read(target)
    }

    fn send(&mut self, request: &Request, audit_id: &str) -> Outcome {
        self.0.send(request, audit_id)
    }

    fn wait(&mut self, until: Timestamp) {
        self.0.wait(until);
    }

    fn stop(&self) -> Stop {
        self.0.behind().stop()
    }
}
