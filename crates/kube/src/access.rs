//! What the credentials may do, asked before the first write.

use http::Request;
use http::header::{ACCEPT, CONTENT_TYPE};
use rehome_k8s::Kind;
use rehome_model::request::Request as ChangeRequest;
use serde_json::{Value, json};

use crate::Connection;
use crate::wire;
use crate::world::WATCHED;

/// Something that we want to be allowed to do.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Permission {
    /// `get`, `list`, `watch`, `create`, `patch`, `delete`.
    pub verb: String,
    /// The API group; empty for the core group.
    pub group: String,
    /// The plural.
    pub resource: String,
    /// The subresource, if it is one: `eviction`.
    pub subresource: Option<String>,
    /// The namespace; none for all of them, or for cluster-scoped resources.
    pub namespace: Option<String>,
}

impl Permission {
    /// A verb on a resource of a group.
    #[must_use]
    pub fn new(verb: &str, group: &str, resource: &str) -> Self {
        let (resource, subresource) = match resource.split_once('/') {
            Some((resource, subresource)) => (resource, Some(subresource.to_owned())),
            None => (resource, None),
        };
        let (verb, group, resource) = (verb.to_owned(), group.to_owned(), resource.to_owned());
        Self { verb, group, resource, subresource, namespace: None }
    }

    /// The same in one namespace.
    #[must_use]
    pub fn in_namespace(mut self, namespace: &str) -> Self {
        self.namespace = Some(namespace.to_owned());
        self
    }
}

impl std::fmt::Display for Permission {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} {}", self.verb, self.resource)?;
        if let Some(subresource) = &self.subresource {
            write!(f, "/{subresource}")?;
        }
        if !self.group.is_empty() {
            write!(f, ".{}", self.group)?;
        }
        match &self.namespace {
            Some(namespace) => write!(f, " in namespace {namespace}"),
            None => Ok(()),
        }
    }
}

/// What carrying out this request needs: the write, and the read that goes before the change of a field. Two requests
/// of one sort in one namespace need the same.
#[must_use]
pub fn needed_for(request: &ChangeRequest) -> Vec<Permission> {
    let target = request.target();
    let within = |permission: Permission| match &target.namespace {
        Some(namespace) => permission.in_namespace(namespace),
        None => permission,
    };
    match request {
        ChangeRequest::Evict { .. } => vec![within(Permission::new("create", "", "pods/eviction"))],
        ChangeRequest::Delete { .. } => vec![within(Permission::new("delete", "", "pods"))],
        ChangeRequest::SetField(_) => Kind::by_name(&target.kind).map_or_else(Vec::new, |kind| {
            ["get", "patch"].into_iter().map(|verb| within(of_kind(verb, kind))).collect()
        }),
    }
}

/// What the engine's port needs to see the cluster.
#[must_use]
pub fn needed_to_watch() -> Vec<Permission> {
    WATCHED.iter().flat_map(|&kind| ["list", "watch"].map(|verb| of_kind(verb, kind))).collect()
}

fn of_kind(verb: &str, kind: Kind) -> Permission {
    let group = kind.api_version().split_once('/').map_or("", |(group, _)| group);
    Permission::new(verb, group, kind.plural())
}

/// A permission that is missing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Denied {
    /// The permission.
    pub permission: Permission,
    /// What the server said about it; often nothing.
    pub reason: String,
}

/// The server could not be asked.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("whether we may {permission} could not be asked: {message}")]
pub struct AccessUnknown {
    /// The permission.
    pub permission: Box<Permission>,
    /// What went wrong.
    pub message: String,
}

/// Those of the permissions that the credentials do not have. Changes nothing: the server keeps no reviews.
///
/// # Errors
/// See [`AccessUnknown`].
pub fn denied(connection: &Connection, permissions: &[Permission]) -> Result<Vec<Denied>, AccessUnknown> {
    let mut denied = Vec::new();
    for permission in permissions {
        let unknown = |message: String| AccessUnknown { permission: Box::new(permission.clone()), message };
        let request = review(permission).map_err(|error| unknown(error.to_string()))?;
        let exchange = wire::exchange(connection.client(), request, connection.read_timeout());
        let answer = connection.runtime().block_on(exchange).map_err(|no_answer| unknown(no_answer.message))?;
        if !answer.code.is_success() {
            return Err(unknown(format!("{}: {}", answer.code.as_u16(), answer.message())));
        }
        let review: Value = serde_json::from_slice(&answer.body).map_err(|error| unknown(error.to_string()))?;
        if review["status"]["allowed"] != true {
            let reason = review["status"]["reason"].as_str().unwrap_or_default().to_owned();
            denied.push(Denied { permission: permission.clone(), reason });
        }
    }
    Ok(denied)
}

fn review(permission: &Permission) -> Result<Request<Vec<u8>>, http::Error> {
    let body = json!({
        "apiVersion": "authorization.k8s.io/v1",
        "kind": "SelfSubjectAccessReview",
        "spec": {"resourceAttributes": {
            "verb": permission.verb,
            "group": permission.group,
            "resource": permission.resource,
            "subresource": permission.subresource,
            "namespace": permission.namespace,
        }},
    });
    Request::post("/apis/authorization.k8s.io/v1/selfsubjectaccessreviews")
        .header(CONTENT_TYPE, "application/json")
        .header(ACCEPT, "application/json")
        .body(body.to_string().into_bytes())
}

#[cfg(test)]
mod tests;
