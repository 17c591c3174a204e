//! How documents point at objects of a cluster.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// An object of the cluster by kind, namespace and name.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
pub struct ObjectRef {
    /// The kind as Kubernetes spells it: `Deployment`, `Node`, `Pod`.
    pub kind: String,
    /// The namespace; absent for cluster-scoped kinds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub namespace: Option<String>,
    /// The name.
    pub name: String,
}

impl ObjectRef {
    /// An object in a namespace.
    pub fn namespaced(kind: impl Into<String>, namespace: impl Into<String>, name: impl Into<String>) -> Self {
        Self { kind: kind.into(), namespace: Some(namespace.into()), name: name.into() }
    }

    /// A cluster-scoped object.
    pub fn cluster(kind: impl Into<String>, name: impl Into<String>) -> Self {
        Self { kind: kind.into(), namespace: None, name: name.into() }
    }

    /// A node.
    pub fn node(name: impl Into<String>) -> Self {
        Self::cluster("Node", name)
    }

    /// A pod.
    pub fn pod(namespace: impl Into<String>, name: impl Into<String>) -> Self {
        Self::namespaced("Pod", namespace, name)
    }

    /// `namespace/name`, or the name alone for cluster-scoped kinds.
    #[must_use]
    pub fn path(&self) -> String {
        match &self.namespace {
            Some(namespace) => format!("{namespace}/{}", self.name),
            None => self.name.clone(),
        }
    }
}

impl fmt::Display for ObjectRef {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.kind, self.path())
    }
}

/// The `metadata.uid` of one incarnation of an object: a pod that comes back under the same name has another.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(transparent)]
pub struct Uid(pub String);

impl fmt::Display for Uid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl From<&str> for Uid {
    fn from(text: &str) -> Self {
        Self(text.to_owned())
    }
}
