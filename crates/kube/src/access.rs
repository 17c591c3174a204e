//! What the credentials may do, asked before the first write.
//!
//! What this crate asks of a server, and so needs to be allowed, is in [`needs`].

pub mod needs;

use std::collections::BTreeSet;

use http::Request;
use http::header::{ACCEPT, CONTENT_TYPE};
use serde_json::{Value, json};

use crate::Connection;
use crate::wire;

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
    /// The one object that it is about; none for all.
    pub name: Option<String>,
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
        Self { verb, group, resource, subresource, namespace: None, name: None }
    }

    /// The same in one namespace.
    #[must_use]
    pub fn in_namespace(mut self, namespace: &str) -> Self {
        self.namespace = Some(namespace.to_owned());
        self
    }

    /// The same for one object.
    #[must_use]
    pub fn named(mut self, name: &str) -> Self {
        self.name = Some(name.to_owned());
        self
    }

    /// The same in all namespaces.
    fn everywhere(&self) -> Self {
        Self { namespace: None, ..self.clone() }
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
        if let Some(name) = &self.name {
            write!(f, " {name}")?;
        }
        match &self.namespace {
            Some(namespace) => write!(f, " in namespace {namespace}"),
            None => Ok(()),
        }
    }
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
/// What is needed in a namespace is asked for all of them first: who moves a thousand namespaces usually may.
///
/// # Errors
/// See [`AccessUnknown`].
pub fn denied(
    connection: &Connection,
    permissions: impl IntoIterator<Item = Permission>,
) -> Result<Vec<Denied>, AccessUnknown> {
    let (mut everywhere, mut nowhere) = (BTreeSet::new(), BTreeSet::new());
    let mut denied = Vec::new();
    for permission in permissions {
        if permission.namespace.is_some() {
            let wider = permission.everywhere();
            if !everywhere.contains(&wider) && !nowhere.contains(&wider) {
                let found = refused(connection, &wider)?.is_none();
                if found { &mut everywhere } else { &mut nowhere }.insert(wider.clone());
            }
            if everywhere.contains(&wider) {
                continue;
            }
        }
        if let Some(reason) = refused(connection, &permission)? {
            denied.push(Denied { permission, reason });
        }
    }
    Ok(denied)
}

/// What the server says if the credentials do not have the permission.
fn refused(connection: &Connection, permission: &Permission) -> Result<Option<String>, AccessUnknown> {
    let unknown = |message: String| AccessUnknown { permission: Box::new(permission.clone()), message };
    let request = review(permission).map_err(|error| unknown(error.to_string()))?;
    let exchange = wire::exchange(connection.client(), request, connection.read_timeout());
    let answer = connection.runtime().block_on(exchange).map_err(|no_answer| unknown(no_answer.message))?;
    if !answer.code.is_success() {
        return Err(unknown(format!("{}: {}", answer.code.as_u16(), answer.message())));
    }
    let review: Value = serde_json::from_slice(&answer.body).map_err(|error| unknown(error.to_string()))?;
    let reason = || review["status"]["reason"].as_str().unwrap_or_default().to_owned();
    Ok((review["status"]["allowed"] != true).then(reason))
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
            "name": permission.name,
        }},
    });
    Request::post("/apis/authorization.k8s.io/v1/selfsubjectaccessreviews")
        .header(CONTENT_TYPE, "application/json")
        .header(ACCEPT, "application/json")
        .body(body.to_string().into_bytes())
}

#[cfg(test)]
mod tests;
