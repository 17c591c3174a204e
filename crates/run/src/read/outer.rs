//! The outside of a JSON value: as much as tells whether it is a list or an object, and of which kind.
//!
//! Everything is borrowed from the text: of a capture of 200 MB nothing is copied here.

use std::borrow::Cow;
use std::fmt;

use serde::Deserialize;
use serde::de::{Deserializer, Error, IgnoredAny, MapAccess, Visitor};
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
        let mut seen = Seen::default();
        // The error says "enough" as often as it says that something is wrong: what was seen decides.
        let _ = serde_json::Deserializer::from_str(json).deserialize_map(Look(&mut seen));
        Some(Self { api_version: seen.api_version?, kind: seen.kind? })
    }
}

#[derive(Default)]
struct Seen<'t> {
    api_version: Option<Cow<'t, str>>,
    kind: Option<Cow<'t, str>>,
}

struct Look<'s, 't>(&'s mut Seen<'t>);

/// A text, borrowed where it can be.
#[derive(Deserialize)]
struct Text<'t>(#[serde(borrow)] Cow<'t, str>);

impl<'de> Visitor<'de> for Look<'_, 'de> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        while let Some(Text(name)) = map.next_key()? {
            match &*name {
                "apiVersion" => self.0.api_version = Some(map.next_value::<Text<'de>>()?.0),
                "kind" => self.0.kind = Some(map.next_value::<Text<'de>>()?.0),
                _ => _ = map.next_value::<IgnoredAny>()?,
            }
            if self.0.api_version.is_some() && self.0.kind.is_some() {
                return Err(A::Error::custom("enough"));
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_head_is_found_wherever_it_stands_and_nothing_behind_it_is_read() {
        let head = |json: &str| Head::of(json).map(|head| format!("{} {}", head.api_version, head.kind));
        assert_eq!(head(r#"{"apiVersion":"v1","kind":"Pod", this is not read"#).unwrap(), "v1 Pod");
        assert_eq!(head(r#"{"spec":{"kind":"No"},"kind":"P\u006fd","apiVersion":"v1"}"#).unwrap(), "v1 Pod");
        for none in ["", "[]", r#"{"kind":"Pod"}"#, r#"{"kind":7,"apiVersion":"v1"}"#, r#"{"kind":"Pod","spec":"#] {
            assert_eq!(head(none), None, "{none}");
        }
    }

    #[test]
    fn no_items_and_null_for_items_are_told_apart() {
        let items = |json| serde_json::from_str::<Outer<'_>>(json).unwrap().items.map(|items| items.map(|i| i.len()));
        assert_eq!(items(r#"{"kind":"List"}"#), None);
        assert_eq!(items(r#"{"items":null}"#), Some(None));
        assert_eq!(items(r#"{"items":[1,{"a":[2]}],"kind":"List"}"#), Some(Some(2)));
    }
}
