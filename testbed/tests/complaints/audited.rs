//! What the audit log says of a home.

use rehome_model::{ObjectRef, Seconds, Timestamp};
use rehome_testbed::audit::{AuditEvent, Figures, Timeline, figures, read};

use crate::home::{Home, plane};

/// The successful and refused evictions of a home's pods, in their order.
pub(crate) fn evictions(home: &Home) -> Vec<AuditEvent> {
    let ours = |event: &AuditEvent| {
        let namespace = event.object_ref.as_ref().and_then(|object| object.namespace.as_ref());
        event.is("create", "pods", "eviction") && namespace == Some(&home.name)
    };
    events(ours)
}

/// The changes of a node's `spec`, in their order.
pub(crate) fn node_changes(home: &Home, short: &str) -> Vec<AuditEvent> {
    let node = home.full(short);
    let ours = |event: &AuditEvent| {
        let body = event.request_object.as_ref().map(ToString::to_string).unwrap_or_default();
        event.is("patch", "nodes", "")
            && event.done()
            && event.object_ref.as_ref().is_some_and(|object| object.name.as_ref() == Some(&node))
            && (body.contains("unschedulable") || body.contains("taints"))
    };
    events(ours)
}

fn events(wanted: impl Fn(&AuditEvent) -> bool) -> Vec<AuditEvent> {
    let mut found = Vec::new();
    let each = |event| {
        if wanted(&event) {
            found.push(event);
        }
    };
    read::stream(&plane().audit_log(), each).unwrap();
    found
}

/// What happened to a Deployment between two times.
pub(crate) fn cost(home: &Home, deployment: &str, sources: &[&str], from: Timestamp, to: Timestamp) -> Figures {
    let mut timeline = Timeline::default();
    read::stream(&plane().audit_log(), |event| timeline.observe(&event)).unwrap();
    let workload = ObjectRef::namespaced("Deployment", home.name.clone(), deployment);
    let sources: Vec<String> = sources.iter().map(|short| home.full(short)).collect();
    figures(&timeline, [&workload], &sources, from, to)[&workload]
}

/// No time at all.
pub(crate) const NEVER: Seconds = Seconds::ZERO;
