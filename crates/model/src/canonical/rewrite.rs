//! From JSON text to canonical JSON text in one pass, without a tree of values in between.
//!
//! A capture of 30,000 pods is 200 MB of text and gigabytes as values. On the way a [`Choose`] may leave values out:
//! what is worth keeping, this module does not know.

use std::borrow::Cow;
use std::fmt::{self, Write as _};

use serde::Deserializer;
use serde::de::{DeserializeSeed, Error, IgnoredAny, MapAccess, SeqAccess, Visitor};

/// What a value looks like from outside.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shape<'a> {
    /// A text.
    Text(&'a str),
    /// `{…}`
    Object,
    /// `[…]`
    Array,
    /// A number, a truth value, or null.
    Scalar,
}

/// Decides what is kept, value by value, from the outside to the inside.
pub trait Choose {
    /// Where a value stands, as far as that matters.
    type Place: Copy;
    /// The place of a member of an object; `None` leaves it out, whatever it is.
    fn member(&mut self, of: Self::Place, name: &str) -> Option<Self::Place>;
    /// The place of an item of an array.
    fn element(&mut self, of: Self::Place) -> Self::Place;
    /// Whether a value is kept. Asked before anything inside of it.
    fn keeps(&mut self, at: Self::Place, shape: Shape<'_>) -> bool;
    /// An object had two members with one name: of what was seen of it, only the last counts.
    fn twice(&mut self) {}
}

/// Keeps everything.
#[derive(Clone, Copy, Debug, Default)]
pub struct Everything;

impl Choose for Everything {
    type Place = ();

    fn member(&mut self, (): (), _: &str) -> Option<()> {
        Some(())
    }

    fn element(&mut self, (): ()) {}

    fn keeps(&mut self, (): (), _: Shape<'_>) -> bool {
        true
    }
}

/// Appends to `out` the canonical JSON of a JSON text, less what is not chosen. Of members with one name the last
/// counts, as in a tree of values. Gives back whether the outermost value is kept.
///
/// # Errors
/// The text is not JSON, or nested deeper than `serde_json` allows.
pub fn rewrite<C: Choose>(
    json: &str,
    choose: &mut C,
    at: C::Place,
    out: &mut String,
) -> Result<bool, serde_json::Error> {
    let mut deserializer = serde_json::Deserializer::from_str(json);
    let rewrite = Rewrite { choose, at, out, members: &mut Vec::new(), verbatim: true };
    let kept = rewrite.deserialize(&mut deserializer)?;
    deserializer.end()?;
    Ok(kept)
}

/// The same for a value of any format.
///
/// # Errors
/// Those of the format.
pub fn from<'de, D: Deserializer<'de>, C: Choose>(
    deserializer: D,
    choose: &mut C,
    at: C::Place,
    out: &mut String,
) -> Result<bool, D::Error> {
    Rewrite { choose, at, out, members: &mut Vec::new(), verbatim: false }.deserialize(deserializer)
}

/// A member of an object that is being written.
struct Member<'de> {
    name: Cow<'de, str>,
    /// Where its text is in the output, without the comma; empty for one that was left out because of its value.
    from: usize,
    to: usize,
}

struct Rewrite<'a, 'de, C: Choose> {
    choose: &'a mut C,
    at: C::Place,
    out: &'a mut String,
    /// The members of all objects around, the innermost at the end: one allocation serves all.
    members: &'a mut Vec<Member<'de>>,
    /// A text that is borrowed from the input has no escapes in it, and needs none. So it is in JSON, not in YAML.
    verbatim: bool,
}

impl<'de, C: Choose> DeserializeSeed<'de> for Rewrite<'_, 'de, C> {
    type Value = bool;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<bool, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<C: Choose> Rewrite<'_, '_, C> {
    fn scalar(self, text: impl fmt::Display) -> bool {
        let kept = self.choose.keeps(self.at, Shape::Scalar);
        if kept {
            // Writing to a String cannot fail.
            let _ = write!(self.out, "{text}");
        }
        kept
    }
}

impl<'de, C: Choose> Visitor<'de> for Rewrite<'_, 'de, C> {
    type Value = bool;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("any JSON value")
    }

    fn visit_bool<E: Error>(self, value: bool) -> Result<bool, E> {
        Ok(self.scalar(value))
    }

    fn visit_i64<E: Error>(self, value: i64) -> Result<bool, E> {
        Ok(self.scalar(value))
    }

    fn visit_u64<E: Error>(self, value: u64) -> Result<bool, E> {
        Ok(self.scalar(value))
    }

    fn visit_f64<E: Error>(self, value: f64) -> Result<bool, E> {
        Ok(match serde_json::Number::from_f64(value) {
            Some(number) => self.scalar(number),
            // YAML knows infinities; as a value of JSON they are null.
            None => self.scalar("null"),
        })
    }

    fn visit_unit<E: Error>(self) -> Result<bool, E> {
        Ok(self.scalar("null"))
    }

    fn visit_none<E: Error>(self) -> Result<bool, E> {
        Ok(self.scalar("null"))
    }

    fn visit_some<D: Deserializer<'de>>(self, deserializer: D) -> Result<bool, D::Error> {
        self.deserialize(deserializer)
    }

    fn visit_str<E: Error>(self, value: &str) -> Result<bool, E> {
        let kept = self.choose.keeps(self.at, Shape::Text(value));
        if kept {
            text(value, self.out).map_err(E::custom)?;
        }
        Ok(kept)
    }

    fn visit_borrowed_str<E: Error>(self, value: &'de str) -> Result<bool, E> {
        if !self.verbatim {
            return self.visit_str(value);
        }
        let kept = self.choose.keeps(self.at, Shape::Text(value));
        if kept {
            quoted(value, self.out);
        }
        Ok(kept)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<bool, A::Error> {
        let Self { choose, at, out, members, verbatim } = self;
        if !choose.keeps(at, Shape::Array) {
            while items.next_element::<IgnoredAny>()?.is_some() {}
            return Ok(false);
        }
        out.push('[');
        let begin = out.len();
        loop {
            let before = out.len();
            if before > begin {
                out.push(',');
            }
            let at = choose.element(at);
            match items.next_element_seed(Rewrite { choose, at, out, members, verbatim })? {
                Some(true) => {}
                Some(false) => out.truncate(before),
                None => {
                    out.truncate(before);
                    break;
                }
            }
        }
        out.push(']');
        Ok(true)
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<bool, A::Error> {
        let Self { choose, at, out, members, verbatim } = self;
        if !choose.keeps(at, Shape::Object) {
            while map.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {}
            return Ok(false);
        }
        out.push('{');
        let (begin, first) = (out.len(), members.len());
        let mut ordered = true;
        while let Some(name) = map.next_key_seed(Name)? {
            let Some(at) = choose.member(at, &name) else {
                map.next_value::<IgnoredAny>()?;
                continue;
            };
            let before = out.len();
            if before > begin {
                out.push(',');
            }
            let from = out.len();
            match &name {
                Cow::Borrowed(name) if verbatim => quoted(name, out),
                name => text(name, out).map_err(A::Error::custom)?,
            }
            out.push(':');
            if !map.next_value_seed(Rewrite { choose, at, out, members, verbatim })? {
                out.truncate(before);
            }
            ordered &= members[first..].last().is_none_or(|last| last.name < name);
            members.push(Member { name, from: from.min(out.len()), to: out.len() });
        }
        if !ordered {
            let members = &mut members[first..];
            put_in_order(members, begin, out);
            if members.windows(2).any(|pair| pair[0].name == pair[1].name) {
                choose.twice();
            }
        }
        members.truncate(first);
        out.push('}');
        Ok(true)
    }
}

/// Sorts the members of an object that are written from `begin` on, and leaves out all but the last of each name.
fn put_in_order(members: &mut [Member<'_>], begin: usize, out: &mut String) {
    members.sort_by(|a, b| a.name.cmp(&b.name));
    let mut text = String::with_capacity(out.len() - begin);
    for (index, member) in members.iter().enumerate() {
        let last = members.get(index + 1).is_none_or(|next| next.name != member.name);
        if last && member.from < member.to {
            if !text.is_empty() {
                text.push(',');
            }
            text.push_str(&out[member.from..member.to]);
        }
    }
    out.truncate(begin);
    out.push_str(&text);
}

/// Appends a text with its quotes.
fn text(text: &str, out: &mut String) -> Result<(), serde_json::Error> {
    if text.bytes().any(|byte| byte < b' ' || byte == b'"' || byte == b'\\') {
        out.push_str(&serde_json::to_string(text)?);
    } else {
        quoted(text, out);
    }
    Ok(())
}

fn quoted(text: &str, out: &mut String) {
    out.push('"');
    out.push_str(text);
    out.push('"');
}

/// The name of a member: borrowed unless it has escapes.
struct Name;

impl<'de> DeserializeSeed<'de> for Name {
    type Value = Cow<'de, str>;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Self::Value, D::Error> {
        deserializer.deserialize_str(self)
    }
}

impl<'de> Visitor<'de> for Name {
    type Value = Cow<'de, str>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the name of a member")
    }

    fn visit_borrowed_str<E: Error>(self, name: &'de str) -> Result<Self::Value, E> {
        Ok(Cow::Borrowed(name))
    }

    fn visit_str<E: Error>(self, name: &str) -> Result<Self::Value, E> {
        Ok(Cow::Owned(name.to_owned()))
    }
}

#[cfg(test)]
mod tests;
