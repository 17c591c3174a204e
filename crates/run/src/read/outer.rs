//! The outside of a JSON value: as much as tells whether it is a list or an object, and of which kind.
//!
//! Everything is borrowed from the text: of a capture of 200 MB nothing is copied here.

use std::borrow::Cow;

use rehome_k8s::ingest::head::{self, Until};
use serde::{Deserialize, Deserializer};
use serde_json::value::RawValue;

/// A list or an object, no deeper than is needed to tell which.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Outer<'t> {
    #[serde(borrow, default)]
    pub(crate) api_version: Option<Cow<'t, str>>,
    #[serde(borrow, default)]
    pub(crate) kind: Option<Cow<'t, str>>,
    #[serde(borrow, default, deserialize_with = "present")]
    pub(crate) items: Option<Items<'t>>,
}

/// The items of a list; none where it says `null`.
pub(crate) type Items<'t> = Option<Vec<&'t RawValue>>;

/// Tells `items: null` (an empty list, as Go writes it) from no `items` at all.
fn present<'de: 't, 't, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Items<'t>>, D::Error> {
    Option::deserialize(deserializer).map(Some)
}

/// `apiVersion` and `kind` of a value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Head<'t> {
    pub(crate) api_version: Cow<'t, str>,
    pub(crate) kind: Cow<'t, str>,
}

impl<'t> Head<'t> {
    /// The head of a JSON value, if it has one. Looks no further once it is found: in what kubectl writes, an object's
    /// head comes first.
    pub(crate) fn of(json: &'t str) -> Option<Self> {
        let (head, _) = head::look(json, Until::Kind);
        Some(Self { api_version: head.api_version?, kind: head.kind? })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_head_needs_a_version_and_a_kind() {
        assert_eq!(Head::of(r#"{"apiVersion":"v1","kind":"Pod", this is not read"#).unwrap().kind, "Pod");
        assert_eq!(Head::of(r#"{"kind":"Pod"}"#), None);
    }

    #[test]
    fn no_items_and_null_for_items_are_told_apart() {
        let items = |json| serde_json::from_str::<Outer<'_>>(json).unwrap().items.map(|items| items.map(|i| i.len()));
        assert_eq!(items(r#"{"kind":"List"}"#), None);
        assert_eq!(items(r#"{"items":null}"#), Some(None));
        assert_eq!(items(r#"{"items":[1,{"a":[2]}],"kind":"List"}"#), Some(Some(2)));
    }
}
