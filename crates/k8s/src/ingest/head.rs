//! What an object says first: its version, its kind, and its names.

use std::borrow::Cow;
use std::fmt;

use serde::Deserialize;
use serde::de::{Deserializer, Error, IgnoredAny, MapAccess, Visitor};

/// What is known of an object before it is decoded.
#[derive(Debug, Default)]
pub(super) struct Head {
    pub(super) api_version: Option<String>,
    pub(super) kind: Option<String>,
    pub(super) metadata: Option<Names>,
}

/// The names in its metadata.
#[derive(Debug, Deserialize)]
pub(super) struct Names {
    pub(super) name: Option<String>,
    pub(super) namespace: Option<String>,
}

/// The head of an object. `None` if the text is no JSON object, or one of its fields has another type. It comes first in
/// what is read here: nothing behind it is looked at, and decoding the object says what is wrong there.
pub(super) fn of(json: &str) -> Option<Head> {
    let mut look = Look { head: Head::default(), found: 0 };
    match serde_json::Deserializer::from_str(json).deserialize_map(&mut look) {
        Err(_) if look.found < 3 => None,
        _ => Some(look.head),
    }
}

struct Look {
    head: Head,
    /// How many of the three fields were there.
    found: usize,
}

impl<'de> Visitor<'de> for &mut Look {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        while let Some(Text(name)) = map.next_key()? {
            match &*name {
                "apiVersion" => self.head.api_version = map.next_value()?,
                "kind" => self.head.kind = map.next_value()?,
                "metadata" => self.head.metadata = map.next_value()?,
                _ => {
                    map.next_value::<IgnoredAny>()?;
                    continue;
                }
            }
            self.found += 1;
            if self.found == 3 {
                return Err(A::Error::custom("enough"));
            }
        }
        Ok(())
    }
}

/// A text, borrowed where it can be.
#[derive(Deserialize)]
struct Text<'t>(#[serde(borrow)] Cow<'t, str>);
