//! What an object says first: its version, its kind, and its names.

use std::borrow::Cow;
use std::fmt;

use serde::Deserialize;
use serde::de::{Deserializer, Error, IgnoredAny, MapAccess, Visitor};

/// What is known of an object before it is decoded, borrowed from its text where it can be.
#[derive(Debug, Default)]
pub struct Head<'t> {
    /// `apiVersion`.
    pub api_version: Option<Cow<'t, str>>,
    /// `kind`.
    pub kind: Option<Cow<'t, str>>,
    /// The names in its metadata, if they were looked for.
    pub names: Option<Names>,
}

/// The names in an object's metadata.
#[derive(Debug, Deserialize)]
pub struct Names {
    /// `name`.
    pub name: Option<String>,
    /// `namespace`.
    pub namespace: Option<String>,
}

/// How far a text is looked at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Until {
    /// To its version and kind.
    Kind,
    /// To its names as well.
    Names,
}

/// The head of an object, and whether all of it was there before anything was found wrong. In what kubectl and the API
/// server write it comes first; nothing behind it is looked at, and decoding the object says what is wrong there.
#[must_use]
pub fn look(json: &str, until: Until) -> (Head<'_>, bool) {
    let mut look = Look { head: Head::default(), until, found: 0 };
    let ended = serde_json::Deserializer::from_str(json).deserialize_map(&mut look).is_ok();
    (look.head, ended || look.found == until.fields())
}

impl Until {
    fn fields(self) -> usize {
        match self {
            Self::Kind => 2,
            Self::Names => 3,
        }
    }
}

struct Look<'t> {
    head: Head<'t>,
    until: Until,
    /// How many of the fields were there.
    found: usize,
}

impl<'de> Visitor<'de> for &mut Look<'de> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        while let Some(Text(name)) = map.next_key()? {
            match &*name {
                "apiVersion" => self.head.api_version = map.next_value::<Option<Text<'de>>>()?.map(|text| text.0),
                "kind" => self.head.kind = map.next_value::<Option<Text<'de>>>()?.map(|text| text.0),
                "metadata" if self.until == Until::Names => self.head.names = map.next_value()?,
                _ => {
                    map.next_value::<IgnoredAny>()?;
                    continue;
                }
            }
            self.found += 1;
            if self.found == self.until.fields() {
                return Err(A::Error::custom("enough"));
            }
        }
        Ok(())
    }
}

/// A text, borrowed where it can be.
#[derive(Deserialize)]
struct Text<'t>(#[serde(borrow)] Cow<'t, str>);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_head_is_found_wherever_it_stands_and_nothing_behind_it_is_read() {
        let kind = |json: &str| {
            let (head, whole) = look(json, Until::Kind);
            whole.then(|| format!("{} {}", head.api_version.unwrap_or_default(), head.kind.unwrap_or_default()))
        };
        assert_eq!(kind(r#"{"apiVersion":"v1","kind":"Pod", this is not read"#).unwrap(), "v1 Pod");
        assert_eq!(kind(r#"{"spec":{"kind":"No"},"kind":"P\u006fd","apiVersion":"v1"}"#).unwrap(), "v1 Pod");
        assert_eq!(kind(r#"{"kind":null,"metadata":7}"#).unwrap(), " ");
        for none in ["", "[]", r#"{"kind":7,"apiVersion":"v1"}"#, r#"{"kind":"Pod","spec":"#] {
            assert_eq!(kind(none), None, "{none}");
        }
        let (head, whole) =
            look(r#"{"kind":"Pod","metadata":{"name":"a","uid":1},"apiVersion":"v1", no"#, Until::Names);
        assert!(whole);
        assert_eq!(head.names.unwrap().name.unwrap(), "a");
        assert!(!look(r#"{"kind":"Pod","apiVersion":"v1","metadata":7}"#, Until::Names).1);
    }
}
