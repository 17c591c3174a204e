//! Digests: how a document is named by another.

use std::fmt;
use std::str::FromStr;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

use crate::canonical;

/// The SHA-256 of a value's canonical JSON, written `sha256:` and 64 hex digits.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Digest(String);

impl JsonSchema for Digest {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Digest".into()
    }

    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        schemars::json_schema!({"type": "string", "pattern": "^sha256:[0-9a-f]{64}$"})
    }
}

/// A text that is not a digest.
#[derive(Debug, thiserror::Error)]
#[error("expected sha256: and 64 hex digits, found {found:?}")]
pub struct NotADigest {
    /// The text that was given.
    pub found: String,
}

impl Digest {
    /// The digest of bytes as they are.
    #[must_use]
    pub fn of_bytes(bytes: &[u8]) -> Self {
        let mut hasher = Hasher::default();
        hasher.update(bytes);
        hasher.finish()
    }

    /// The digest of a value's canonical JSON.
    ///
    /// # Errors
    /// Fails when the value cannot be represented as JSON.
    pub fn of<T: Serialize>(value: &T) -> Result<Self, serde_json::Error> {
        Ok(Self::of_bytes(canonical::to_string(value)?.as_bytes()))
    }

    /// The digest that the first record of a chain names as its predecessor.
    #[must_use]
    pub fn zero() -> Self {
        Self(format!("sha256:{}", "0".repeat(64)))
    }

    /// The first twelve hex digits: enough for a person to tell two documents apart.
    #[must_use]
    pub fn short(&self) -> &str {
        &self.0[7..19]
    }

    /// The whole text, `sha256:…`.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// Takes a digest of text that comes in pieces.
#[derive(Default)]
pub struct Hasher(Sha256);

impl Hasher {
    /// Adds bytes.
    pub fn update(&mut self, bytes: &[u8]) {
        self.0.update(bytes);
    }

    /// The digest of all bytes so far.
    #[must_use]
    pub fn finish(self) -> Digest {
        use fmt::Write as _;
        let mut text = String::from("sha256:");
        for byte in self.0.finalize() {
            // Writing to a String cannot fail.
            let _ = write!(text, "{byte:02x}");
        }
        Digest(text)
    }
}

impl FromStr for Digest {
    type Err = NotADigest;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let hex = text.strip_prefix("sha256:").unwrap_or("");
        if hex.len() == 64 && hex.bytes().all(|b| matches!(b, b'0'..=b'9' | b'a'..=b'f')) {
            Ok(Self(text.to_owned()))
        } else {
            Err(NotADigest { found: text.to_owned() })
        }
    }
}

impl TryFrom<String> for Digest {
    type Error = NotADigest;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        text.parse()
    }
}

impl From<Digest> for String {
    fn from(digest: Digest) -> Self {
        digest.0
    }
}

impl fmt::Display for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl fmt::Debug for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}
