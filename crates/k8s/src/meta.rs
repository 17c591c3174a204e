//! What all objects have: names, labels, owners, times.

use std::collections::BTreeMap;
use std::fmt;

use rehome_model::{ObjectRef, Timestamp, Uid};

use crate::record::Kind;

/// The metadata of an object, less what no rule reads.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Meta {
    /// Empty for cluster-scoped kinds.
    pub namespace: String,
    /// The name.
    pub name: String,
    /// The incarnation.
    pub uid: Uid,
    /// `metadata.resourceVersion`; empty where a file has none.
    pub resource_version: String,
    /// `metadata.generation`, 0 where absent.
    pub generation: i64,
    /// Labels.
    pub labels: BTreeMap<String, String>,
    /// Annotations, less `kubectl.kubernetes.io/last-applied-configuration`.
    pub annotations: BTreeMap<String, String>,
    /// The owner with `controller: true`, if any. Other owners play no part in a move.
    pub controller: Option<OwnerRef>,
    /// Creation time.
    pub created: Option<Timestamp>,
    /// `deletionTimestamp`: the end of the grace period of an object that is being deleted.
    pub deleting: Option<Timestamp>,
    /// Managers named in `managedFields`, sorted: tells which tools would put a field back.
    pub managers: Vec<String>,
}

/// An owner reference.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct OwnerRef {
    /// Group and version: `apps/v1`.
    pub api_version: String,
    /// The kind.
    pub kind: String,
    /// The name.
    pub name: String,
    /// The incarnation.
    pub uid: Uid,
}

/// Namespace and name: how an object of one kind is found.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Key {
    /// Empty for cluster-scoped kinds.
    pub namespace: String,
    /// The name.
    pub name: String,
}

impl Key {
    /// A key in a namespace.
    pub fn new(namespace: impl Into<String>, name: impl Into<String>) -> Self {
        Self { namespace: namespace.into(), name: name.into() }
    }

    /// The key of a cluster-scoped object.
    pub fn cluster(name: impl Into<String>) -> Self {
        Self { namespace: String::new(), name: name.into() }
    }

    /// The key that a reference points at.
    #[must_use]
    pub fn of(reference: &ObjectRef) -> Self {
        Self { namespace: reference.namespace.clone().unwrap_or_default(), name: reference.name.clone() }
    }

    /// The reference to the object of this kind.
    #[must_use]
    pub fn reference(&self, kind: Kind) -> ObjectRef {
        self.reference_as(kind.name())
    }

    /// The reference to the object of a kind given by name.
    #[must_use]
    pub fn reference_as(&self, kind: &str) -> ObjectRef {
        ObjectRef {
            kind: kind.to_owned(),
            namespace: (!self.namespace.is_empty()).then(|| self.namespace.clone()),
            name: self.name.clone(),
        }
    }
}

impl fmt::Display for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.namespace.is_empty() { f.write_str(&self.name) } else { write!(f, "{}/{}", self.namespace, self.name) }
    }
}

impl Meta {
    /// The key of the object.
    #[must_use]
    pub fn key(&self) -> Key {
        Key { namespace: self.namespace.clone(), name: self.name.clone() }
    }
}
