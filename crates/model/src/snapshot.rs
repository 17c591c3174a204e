//! A read-only capture of a cluster.
//!
//! A snapshot holds API objects as they were served, less what [`Snapshot::redacted`] names. It is partial by design:
//! a source that could not be read is a [`Gap`], and every fact that rests on it is unknown.
//!
//! Objects stay text until somebody decodes them one by one: a capture of 30,000 pods is 200 MB of JSON, and several
//! times as much once it is a tree of values.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use serde_json::value::RawValue;

use crate::canonical::rewrite::{Everything, rewrite};
use crate::document::{self, Document, Header, ReadError};
use crate::{Digest, Timestamp, Uid, canonical, digest};

/// A capture of a cluster.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Snapshot {
    /// `apiVersion` and `kind`.
    #[serde(flatten)]
    pub header: Header,
    /// When the capture began.
    pub taken: Timestamp,
    /// Which cluster it is of.
    pub cluster: ClusterIdentity,
    /// Sources that could not be read.
    pub gaps: Vec<Gap>,
    /// What was taken out of the objects, in words.
    pub redacted: Vec<String>,
    /// The API objects, each with `apiVersion` and `kind`, sorted by kind, namespace and name.
    #[schemars(with = "Vec<BTreeMap<String, Value>>")]
    pub objects: Vec<Box<RawValue>>,
}

impl Document for Snapshot {
    const KIND: &'static str = "Snapshot";
}

/// What tells one cluster from another.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ClusterIdentity {
    /// The UID of the namespace `kube-system`: it is made with the cluster and is never made again.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub uid: Option<Uid>,
    /// The name that a person calls it by: the cluster's name in the kubeconfig, or the folder of the files.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// `gitVersion` of the API server.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub server_version: Option<String>,
}

/// A source that could not be read.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
pub struct Gap {
    /// The kind whose objects are missing: `PodDisruptionBudget`.
    pub source: String,
    /// Why.
    pub reason: GapReason,
    /// What the server or the reader said.
    pub message: String,
}

/// Why a source could not be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum GapReason {
    /// The credentials may not list it.
    Forbidden,
    /// The server does not serve it.
    NotServed,
    /// The files hold none of it, which does not mean that there is none.
    NotProvided,
    /// The answer or the file could not be understood.
    Unreadable,
}

impl Snapshot {
    /// Reads a snapshot without decoding its objects; the digest covers all of the text, unknown fields included.
    ///
    /// # Errors
    /// See [`ReadError`].
    pub fn read(text: &str) -> Result<document::Loaded<Self>, ReadError> {
        let fields: BTreeMap<String, &RawValue> = serde_json::from_str(text).map_err(ReadError::NotJson)?;
        let word = |name: &str| fields.get(name).and_then(|raw| serde_json::from_str::<String>(raw.get()).ok());
        document::check_header::<Self>(word("apiVersion").as_deref(), word("kind").as_deref())?;
        let invalid = |source| ReadError::Invalid { kind: Self::KIND, source };
        let objects: Vec<Box<RawValue>> = match fields.get("objects") {
            Some(raw) => serde_json::from_str(raw.get()).map_err(invalid)?,
            None => return Err(invalid(serde::de::Error::missing_field("objects"))),
        };
        let mut head = serde_json::Map::new();
        for (name, raw) in &fields {
            if name != "objects" {
                head.insert(name.clone(), serde_json::from_str(raw.get()).map_err(invalid)?);
            }
        }
        let digest = digest_of(&head, &objects, Spelling::Any).map_err(invalid)?;
        head.insert("objects".to_owned(), Value::Array(Vec::new()));
        let mut document: Self = serde_json::from_value(Value::Object(head)).map_err(invalid)?;
        document.objects = objects;
        Ok(document::Loaded { document, digest })
    }

    /// The digest over the canonical JSON of the whole snapshot.
    ///
    /// # Errors
    /// Fails when the head of the snapshot cannot be represented as JSON.
    pub fn digest(&self) -> Result<Digest, serde_json::Error> {
        self.digest_as(Spelling::Any)
    }

    /// The same digest, faster, of a snapshot whose objects are canonical JSON already, as a reader of files writes them.
    ///
    /// # Errors
    /// Fails when the head of the snapshot cannot be represented as JSON.
    pub fn digest_of_canonical(&self) -> Result<Digest, serde_json::Error> {
        self.digest_as(Spelling::Canonical)
    }

    fn digest_as(&self, spelling: Spelling) -> Result<Digest, serde_json::Error> {
        let bare = Self { objects: Vec::new(), ..self.clone_head() };
        match serde_json::to_value(&bare)? {
            Value::Object(mut head) => {
                head.remove("objects");
                digest_of(&head, &self.objects, spelling)
            }
            _ => Err(serde::ser::Error::custom("a snapshot is an object")),
        }
    }

    fn clone_head(&self) -> Self {
        let Self { header, taken, cluster, gaps, redacted, objects: _ } = self;
        Self {
            header: header.clone(),
            taken: *taken,
            cluster: cluster.clone(),
            gaps: gaps.clone(),
            redacted: redacted.clone(),
            objects: Vec::new(),
        }
    }
}

/// How the objects of a snapshot are spelt.
#[derive(Clone, Copy)]
enum Spelling {
    Any,
    Canonical,
}

/// The digest of the canonical JSON of `head` with its field `objects`, built object by object.
fn digest_of(
    head: &serde_json::Map<String, Value>,
    objects: &[Box<RawValue>],
    spelling: Spelling,
) -> Result<Digest, serde_json::Error> {
    let mut keys: Vec<&str> = head.keys().map(String::as_str).chain(["objects"]).collect();
    keys.sort_unstable();
    let mut hasher = digest::Hasher::default();
    let mut text = String::from("{");
    for (index, key) in keys.into_iter().enumerate() {
        if index > 0 {
            text.push(',');
        }
        canonical::write(&Value::String(key.to_owned()), &mut text);
        text.push(':');
        if key == "objects" {
            text.push('[');
            for (index, raw) in objects.iter().enumerate() {
                if index > 0 {
                    text.push(',');
                }
                match spelling {
                    Spelling::Canonical => text.push_str(raw.get()),
                    Spelling::Any => _ = rewrite(raw.get(), &mut Everything, (), &mut text)?,
                }
                hasher.update(text.as_bytes());
                text.clear();
            }
            text.push(']');
        } else {
            canonical::write(&head[key], &mut text);
        }
    }
    text.push('}');
    hasher.update(text.as_bytes());
    Ok(hasher.finish())
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = r#"{"kind":"Snapshot","apiVersion":"rehome.dev/v1alpha1","taken":"2026-12-01T00:00:00Z","future":{"b":1,"a":2},
        "cluster":{},"gaps":[],"redacted":[],"objects":[{"kind":"Node","apiVersion":"v1","metadata":{"name":"a"}}, {"b":1,"a":[2]}]}"#;

    #[test]
    fn the_digest_built_object_by_object_is_the_digest_of_the_generic_value() {
        let whole: Value = serde_json::from_str(TEXT).unwrap();
        assert_eq!(Snapshot::read(TEXT).unwrap().digest, Digest::of(&whole).unwrap());
    }

    #[test]
    fn a_written_snapshot_has_the_digest_it_says() {
        let snapshot = Snapshot::read(TEXT).unwrap().document;
        let text = document::to_pretty(&snapshot).unwrap();
        assert_eq!(Snapshot::read(&text).unwrap().digest, snapshot.digest().unwrap());
    }

    #[test]
    fn a_file_cut_in_half_is_said_to_be_cut() {
        let error = Snapshot::read(&TEXT[..TEXT.len() / 2]).unwrap_err();
        assert!(matches!(error, ReadError::NotJson(_)), "{error}");
    }
}
