//! What a rule found.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::ObjectRef;

/// The permanent code of a rule: `RH` and four digits. A code is never used for another rule.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(try_from = "String", into = "String")]
#[schemars(with = "String")]
pub struct Code(pub u16);

impl fmt::Display for Code {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "RH{:04}", self.0)
    }
}

impl From<Code> for String {
    fn from(code: Code) -> Self {
        code.to_string()
    }
}

impl TryFrom<String> for Code {
    type Error = String;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        text.strip_prefix("RH")
            .filter(|digits| digits.len() == 4)
            .and_then(|digits| digits.parse().ok())
            .map(Code)
            .ok_or_else(|| format!("expected RH and four digits, found {text:?}"))
    }
}

/// How much a finding matters. Ordered from the least to the worst.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum Severity {
    /// Worth knowing; the move goes on.
    Note,
    /// Somebody will notice: a restart, a time without a replica, a pod that stays as it was.
    Warning,
    /// The rule could not be evaluated because a source is missing.
    Unknown,
    /// The move cannot be carried out, or would break something, until this is mended or agreed to.
    Blocking,
}

impl Severity {
    /// The word shown to a person.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Note => "note",
            Self::Warning => "warning",
            Self::Unknown => "unknown",
            Self::Blocking => "blocking",
        }
    }
}

/// One thing that a rule found about one object.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
pub struct Finding {
    /// The rule's code.
    pub code: Code,
    /// The rule's short name, as in its file name: `structural-budget`.
    pub rule: String,
    /// How much it matters here.
    pub severity: Severity,
    /// What it is about.
    pub subject: ObjectRef,
    /// What was found, in one sentence with the figures in it.
    pub message: String,
    /// What to do about it: commands or edits, in the order of preference.
    pub remedies: Vec<String>,
}
