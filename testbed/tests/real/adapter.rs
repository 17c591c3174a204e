//! `rehome-kube` against the real control plane: what the engine's port, the capture and the answers are there.

mod answers;
mod capture;
mod lost;
mod proxy;
mod restart;
mod world;

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use rehome_engine::world::World;
use rehome_k8s::pod::Pod;
use rehome_kube::{Connection, ConnectionFlags, KubeWorld};
use rehome_model::Seconds;
use rehome_model::request::{Outcome, Request};
use rehome_testbed::clock;
use rehome_testbed::control_plane::ControlPlane;

use crate::workload::LIMIT;

/// A connection as the command line makes one.
pub(crate) fn connect(kubeconfig: &Path, server: Option<String>) -> Connection {
    let flags = ConnectionFlags { kubeconfig: Some(kubeconfig.to_owned()), server, ..ConnectionFlags::default() };
    Connection::open(&flags, "rehome/test").unwrap()
}

pub(crate) fn start(connection: &Connection) -> KubeWorld {
    KubeWorld::start(connection, Arc::new(AtomicBool::new(false))).unwrap()
}

/// Lets the watches bring what they have until it is what we wait for.
fn wait_for<T>(world: &mut KubeWorld, what: &str, mut look: impl FnMut(&KubeWorld) -> Option<T>) -> T {
    clock::wait_for(what, LIMIT, || {
        let soon = world.now() + Seconds::from_millis(50);
        world.wait(soon);
        look(world).ok_or_else(|| "not yet".to_owned())
    })
    .unwrap()
}

/// The Ready pods of a namespace, once the watches have brought so many.
pub(crate) fn ready(world: &mut KubeWorld, namespace: &str, count: usize) -> Vec<Arc<Pod>> {
    wait_for(world, "Ready pods", |world| {
        let pods = world.view().pods_in(namespace).filter(|pod| pod.ready && pod.meta.deleting.is_none());
        let pods: Vec<_> = pods.cloned().collect();
        (pods.len() == count).then_some(pods)
    })
}

pub(crate) fn evict(pod: &Pod) -> Request {
    Request::Evict { pod: pod.meta.key().reference_as("Pod"), uid: pod.meta.uid.clone() }
}

/// Sends and makes sure that the server had nothing to warn of: a warning means a body that it did not understand.
fn send(world: &mut KubeWorld, request: &Request, audit_id: &str) -> Outcome {
    let outcome = world.send(request, audit_id);
    assert!(world.warnings().is_empty(), "{:?}", world.warnings());
    outcome
}

/// The lines of the audit log with this ID, once there are any.
fn audited(plane: &ControlPlane, audit_id: &str) -> Vec<serde_json::Value> {
    clock::wait_for("a line of the audit log", LIMIT, || {
        let log = fs_err::read_to_string(plane.audit_log()).map_err(|error| error.to_string())?;
        let lines = log.lines().filter_map(|line| serde_json::from_str::<serde_json::Value>(line).ok());
        let lines: Vec<_> = lines.filter(|line| line["auditID"] == audit_id).collect();
        if lines.is_empty() { Err(format!("none with {audit_id}")) } else { Ok(lines) }
    })
    .unwrap()
}
