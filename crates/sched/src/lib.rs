//! The model of kube-scheduler: would it put this pod on this node, and which node would it take?
//!
//! This release models the filters that a first move needs (see [`filter`]); it says which it does not.

use std::collections::BTreeMap;

use rehome_k8s::pod::PodSpec;

/// A pod that is to be placed: what the scheduler reads of it.
#[derive(Clone, Debug)]
pub struct Candidate<'a> {
    /// The namespace.
    pub namespace: &'a str,
    /// The name; it names the claims of generic ephemeral volumes.
    pub name: &'a str,
    /// Labels.
    pub labels: &'a BTreeMap<String, String>,
    /// The spec.
    pub spec: &'a PodSpec,
}

/// Why a node does not take a pod.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Rejection {
    /// The plugin that rejects: `NodeResourcesFit`.
    pub plugin: &'static str,
    /// The scheduler's words, as in the message of an event: `Insufficient cpu`.
    pub reasons: Vec<String>,
}
