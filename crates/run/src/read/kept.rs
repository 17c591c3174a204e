//! What is kept of one object that says itself what it is: its redacted text, written while its JSON is read.
//!
//! It is the short way of nearly all objects of a capture. An object that leaves something out (its kind in a list of
//! one kind, its namespace in a manifest), or has a field twice, is not for here: `collect` takes the long way.

use rehome_k8s::Kind;
use rehome_k8s::redact::{self, Redaction};
use rehome_model::Timestamp;
use rehome_model::canonical::rewrite::{Choose, Shape, rewrite};
use serde_json::value::RawValue;

use super::outer::Head;

/// An object as a snapshot keeps it.
pub(crate) struct Kept {
    pub(crate) namespace: String,
    pub(crate) name: String,
    pub(crate) resource_version: String,
    /// Canonical JSON.
    pub(crate) text: Box<RawValue>,
}

/// The newest time that was seen.
#[derive(Clone, Debug, Default)]
pub(crate) struct Newest {
    time: Option<Timestamp>,
    /// The same as it was written, in the spelling of the API: `2026-12-01T10:00:00Z`.
    spelt: String,
}

impl Newest {
    /// The time.
    pub(crate) fn time(&self) -> Option<Timestamp> {
        self.time
    }

    /// Takes a text into account, if it is a time.
    pub(crate) fn note(&mut self, text: &str) {
        // In this one spelling times are ordered as texts are: most need not be understood.
        let usual = text.len() == "2026-12-01T10:00:00Z".len() && text.ends_with('Z');
        if usual && text <= self.spelt.as_str() {
            return;
        }
        let Ok(time) = text.parse::<Timestamp>() else { return };
        self.time = self.time.max(Some(time));
        if usual {
            text.clone_into(&mut self.spelt);
        }
    }
}

/// Whether a field of this name holds the time of something that happened. Ends of grace periods lie in the future.
pub(crate) fn is_time(name: &str) -> bool {
    let ends = name.ends_with("Time") || name.ends_with("Timestamp");
    name != "deletionTimestamp" && (ends || matches!(name, "time" | "startedAt" | "finishedAt"))
}

/// Redacts an object of a known kind. `None` if it is one for the long way. `scratch` is for the text on the way.
pub(crate) fn keep(json: &str, head: &Head<'_>, kind: Kind, newest: &mut Newest, scratch: &mut String) -> Option<Kept> {
    let before = newest.clone();
    let kept = kept(json, head, kind, newest, scratch);
    if kept.is_none() {
        // Times that were seen may not count.
        *newest = before;
    }
    kept
}

fn kept(json: &str, head: &Head<'_>, kind: Kind, newest: &mut Newest, scratch: &mut String) -> Option<Kept> {
    let mut watch = Watch { newest, head, seen: [const { None }; 3], told: 0, odd: false };
    let root = Place { rule: redact::Place::root(kind.name()), what: What::Object, time: false, goes: false };
    scratch.clear();
    if !rewrite(json, &mut watch, root, scratch).ok()? || watch.odd || watch.told != 3 {
        return None;
    }
    let [name, namespace, resource_version] = watch.seen;
    let (name, namespace) = (name?, namespace.unwrap_or_default());
    if name.is_empty() || kind.namespaced() && namespace.is_empty() {
        return None;
    }
    let text = RawValue::from_string(scratch.clone()).ok()?;
    Some(Kept { namespace, name, resource_version: resource_version.unwrap_or_default(), text })
}

/// Fields that say which object this is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum What {
    Object,
    ApiVersion,
    Kind,
    Metadata,
    /// A field of the metadata, by its place in [`Watch::seen`].
    Seen(usize),
    Other,
}

#[derive(Clone, Copy)]
struct Place {
    rule: redact::Place,
    what: What,
    /// It is a time of something that happened, if it is text.
    time: bool,
    /// It is only looked at, and left out.
    goes: bool,
}

/// Redacts, and looks at what passes.
struct Watch<'a> {
    newest: &'a mut Newest,
    head: &'a Head<'a>,
    /// `name`, `namespace` and `resourceVersion`.
    seen: [Option<String>; 3],
    /// How many of `apiVersion`, `kind` and `metadata` there were.
    told: usize,
    /// Something is there twice, or is not text.
    odd: bool,
}

impl Choose for Watch<'_> {
    type Place = Place;

    fn member(&mut self, of: Place, name: &str) -> Option<Place> {
        let what = match (of.what, name) {
            (What::Object, "apiVersion") => What::ApiVersion,
            (What::Object, "kind") => What::Kind,
            (What::Object, "metadata") => What::Metadata,
            (What::Metadata, "name") => What::Seen(0),
            (What::Metadata, "namespace") => What::Seen(1),
            (What::Metadata, "resourceVersion") => What::Seen(2),
            _ => What::Other,
        };
        let time = is_time(name);
        match Redaction.member(of.rule, name) {
            Some(rule) => Some(Place { rule, what, time, goes: false }),
            // `time` in managedFields is not kept, but counts.
            None => time.then_some(Place { rule: of.rule, what: What::Other, time, goes: true }),
        }
    }

    fn element(&mut self, of: Place) -> Place {
        Place { rule: Redaction.element(of.rule), what: What::Other, time: false, goes: false }
    }

    fn keeps(&mut self, at: Place, shape: Shape<'_>) -> bool {
        if let (true, Shape::Text(text)) = (at.time, shape) {
            self.newest.note(text);
        }
        self.told += usize::from(matches!(at.what, What::ApiVersion | What::Kind | What::Metadata));
        match (at.what, shape) {
            (What::Other | What::Object, _) => {}
            (What::ApiVersion, Shape::Text(text)) => self.odd |= text != self.head.api_version,
            (What::Kind, Shape::Text(text)) => self.odd |= text != self.head.kind,
            (What::Seen(place), Shape::Text(text)) => match self.seen.get_mut(place) {
                Some(seen @ None) => *seen = Some(text.to_owned()),
                _ => self.odd = true,
            },
            (What::Metadata, Shape::Object) => {}
            _ => self.odd = true,
        }
        !at.goes && Redaction.keeps(at.rule, shape)
    }

    fn twice(&mut self) {
        self.odd = true;
    }
}

#[cfg(test)]
mod tests;
