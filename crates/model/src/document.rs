//! What all documents have in common: a version, a kind, a digest, and strict reading.

use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::Digest;

/// The version that this build reads and writes.
pub const API_VERSION: &str = "rehome.dev/v1alpha1";

/// A document of rehome.
pub trait Document: Serialize + DeserializeOwned {
    /// The `kind` of the document.
    const KIND: &'static str;
}

/// `apiVersion` and `kind`, the first two fields of every document.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Header {
    /// Always [`API_VERSION`] in this release.
    pub api_version: String,
    /// The kind of the document.
    pub kind: String,
}

impl Header {
    /// The header of a new document.
    #[must_use]
    pub fn of<D: Document>() -> Self {
        Self { api_version: API_VERSION.to_owned(), kind: D::KIND.to_owned() }
    }
}

/// A document as it was read, with the digest of all that was in it, fields unknown to this build included.
#[derive(Clone, Debug)]
pub struct Loaded<D> {
    /// The document.
    pub document: D,
    /// The digest over its canonical generic JSON.
    pub digest: Digest,
}

/// Why a text is not the document that was asked for.
#[derive(Debug, thiserror::Error)]
pub enum ReadError {
    /// The text is not JSON, or was cut short.
    #[error("not complete JSON: {0}")]
    NotJson(#[source] serde_json::Error),
    /// No `kind` and `apiVersion`.
    #[error("expected a document with apiVersion and kind, found none of them")]
    NoHeader,
    /// A document of another kind.
    #[error("expected a {expected}, found a {found}")]
    OtherKind {
        /// The kind that was asked for.
        expected: &'static str,
        /// The kind in the text.
        found: String,
    },
    /// A version that this build does not read.
    #[error("expected apiVersion {API_VERSION}, found {found}")]
    OtherVersion {
        /// The version in the text.
        found: String,
    },
    /// A field has another type than it should, or is missing, or a verb is unknown to this build.
    #[error("not a valid {kind}: {source}")]
    Invalid {
        /// The kind that was asked for.
        kind: &'static str,
        /// What is wrong with it, and where.
        #[source]
        source: serde_json::Error,
    },
}

/// Reads a document, and takes its digest over everything that it holds.
///
/// # Errors
/// See [`ReadError`].
pub fn read<D: Document>(text: &str) -> Result<Loaded<D>, ReadError> {
    let value: Value = serde_json::from_str(text).map_err(ReadError::NotJson)?;
    from_value(value)
}

/// The same for a value that is parsed already (from YAML, say).
///
/// # Errors
/// See [`ReadError`].
pub fn from_value<D: Document>(value: Value) -> Result<Loaded<D>, ReadError> {
    check_header::<D>(value["apiVersion"].as_str(), value["kind"].as_str())?;
    let digest = Digest::of(&value).map_err(ReadError::NotJson)?;
    let document = serde_json::from_value(value).map_err(|source| ReadError::Invalid { kind: D::KIND, source })?;
    Ok(Loaded { document, digest })
}

/// Refuses another kind or version by name.
///
/// # Errors
/// [`ReadError::NoHeader`], [`ReadError::OtherKind`] or [`ReadError::OtherVersion`].
pub fn check_header<D: Document>(api_version: Option<&str>, kind: Option<&str>) -> Result<(), ReadError> {
    let (Some(api_version), Some(kind)) = (api_version, kind) else { return Err(ReadError::NoHeader) };
    if kind != D::KIND {
        return Err(ReadError::OtherKind { expected: D::KIND, found: kind.to_owned() });
    }
    if api_version != API_VERSION {
        return Err(ReadError::OtherVersion { found: api_version.to_owned() });
    }
    Ok(())
}

/// The document as a person reads it: JSON with two spaces and a final line break.
///
/// # Errors
/// Fails when the document cannot be represented as JSON.
pub fn to_pretty<D: Document>(document: &D) -> Result<String, serde_json::Error> {
    let mut text = serde_json::to_string_pretty(document)?;
    text.push('\n');
    Ok(text)
}
