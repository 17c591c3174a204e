//! What this crate asks of a server, and so needs to be allowed: the one list from which `rehome rbac`, the files in
//! `deploy/` and the review before a run are made.
//!
//! It stands beside the code that sends the requests. Which of them a plan needs is not known here.

use std::collections::BTreeSet;

use rehome_k8s::Kind;

use super::Permission;
use crate::config_maps::NAMESPACE;
use crate::world::WATCHED;

/// The namespace by whose UID a cluster is known.
pub(crate) const IDENTITY: &str = "kube-system";

/// To tell clusters apart. The version is served to everybody.
/// Source: kube-apiserver's bootstrap policy, ClusterRole `system:public-info-viewer`.
fn identity() -> Permission {
    Permission::new("get", "", "namespaces").named(IDENTITY)
}

/// A capture lists every kind once.
#[must_use]
pub fn to_capture() -> BTreeSet<Permission> {
    Kind::ALL.iter().map(|&kind| of_kind("list", kind)).chain([identity()]).collect()
}

/// The engine's port lists what it needs to see, and follows what changes when pods move.
#[must_use]
pub fn to_follow() -> BTreeSet<Permission> {
    let listed = Kind::ALL.iter().filter(|&&kind| kind != Kind::Event).map(|&kind| of_kind("list", kind));
    let watched = WATCHED.iter().map(|&kind| of_kind("watch", kind));
    listed.chain(watched).chain([identity()]).collect()
}

/// The journal's copy in the cluster is created, read, and swapped. That its namespace exists is the matter of whoever
/// grants this: where it does not, and the credentials may create it, the run does.
#[must_use]
pub fn to_keep_journal() -> BTreeSet<Permission> {
    ["create", "get", "update"].map(|verb| Permission::new(verb, "", "configmaps").in_namespace(NAMESPACE)).into()
}

/// A field of an object is read before it is changed, and again when an answer was lost.
#[must_use]
pub fn to_change(kind: Kind) -> BTreeSet<Permission> {
    ["get", "patch"].map(|verb| of_kind(verb, kind)).into()
}

/// A pod is read again when an answer was lost.
#[must_use]
pub fn to_evict() -> BTreeSet<Permission> {
    [of_kind("get", Kind::Pod), Permission::new("create", "", "pods/eviction")].into()
}

/// As for an eviction.
#[must_use]
pub fn to_delete() -> BTreeSet<Permission> {
    ["get", "delete"].map(|verb| of_kind(verb, Kind::Pod)).into()
}

fn of_kind(verb: &str, kind: Kind) -> Permission {
    let group = kind.api_version().split_once('/').map_or("", |(group, _)| group);
    Permission::new(verb, group, kind.plural())
}
