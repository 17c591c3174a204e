//! Puts the objects of all files together: fills in what lists leave out, takes the newer of two, redacts, and says of
//! which kinds there was nothing.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::path::Path;

use rehome_k8s::{Kind, redact, snapshot as view_of};
use rehome_model::document::Header;
use rehome_model::snapshot::{ClusterIdentity, Gap, GapReason, Snapshot};
use rehome_model::{Digest, ObjectRef, Timestamp, Uid, canonical};
use serde_json::Value;
use serde_json::value::RawValue;

use super::Loaded;
use super::error::{Fault, Position, ReadError};
use super::kept::{self, Newest, is_time};
use super::outer::{Head, Outer};
use super::text::{self, Body};
use super::version::{Reading, reading};

/// How deep a List may stand in a List. `kubectl` writes one level; concatenated dumps have two.
const LIST_DEPTH: usize = 4;

/// Something that a person should know about how files were read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Note {
    /// Two objects had the same kind, namespace and name.
    Duplicate {
        /// Which.
        object: ObjectRef,
        /// The `resourceVersion` that was taken; empty where it has none.
        kept: String,
        /// The one that was not.
        dropped: String,
    },
    /// Objects of a kind that no rule reads.
    LeftOut {
        /// `apiVersion` and `kind`.
        kind: String,
        /// How many.
        count: usize,
    },
}

impl fmt::Display for Note {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let version = |text: &str| if text.is_empty() { "none".to_owned() } else { text.to_owned() };
        match self {
            Self::Duplicate { object, kept, dropped } => write!(
                f,
                "{object} is there twice: took resourceVersion {}, left out {}",
                version(kept),
                version(dropped)
            ),
            Self::LeftOut { kind, count } => write!(f, "left out {count} of {kind}: no rule reads this kind"),
        }
    }
}

struct Entry {
    /// Canonical JSON: equal objects have equal texts.
    text: Box<RawValue>,
    resource_version: String,
}

/// The objects of all files so far.
pub(crate) struct Collector {
    name: Option<String>,
    objects: BTreeMap<(Kind, String, String), Entry>,
    provided: BTreeSet<Kind>,
    left_out: BTreeMap<String, usize>,
    notes: Vec<Note>,
    newest: Newest,
    /// Where the object begins that was looked at last, as an address.
    place: usize,
    /// For the text of the object that is being read.
    scratch: String,
}

impl Collector {
    /// Nothing yet; the name is what the cluster is called.
    pub(crate) fn new(name: Option<String>) -> Self {
        Self {
            name,
            objects: BTreeMap::new(),
            provided: BTreeSet::new(),
            left_out: BTreeMap::new(),
            notes: Vec::new(),
            newest: Newest::default(),
            place: 0,
            scratch: String::new(),
        }
    }

    /// Adds a file. Returns the snapshot, if that is what it holds.
    pub(crate) fn add(&mut self, file: &Path, bytes: &[u8]) -> Result<Option<Snapshot>, ReadError> {
        let text = text::decode(bytes).map_err(|(fault, at)| fault.at(file, at))?;
        let parts = text::parts(text).map_err(|(fault, at)| fault.at(file, at))?;
        let single = parts.len() == 1;
        for part in parts {
            let at = Some(Position { line: part.line, column: 0 });
            if part.body.document().as_deref() == Some("Snapshot") {
                if !single {
                    return Err(Fault::SnapshotAmongObjects.at(file, at));
                }
                let loaded = Snapshot::read(part.body.json()).map_err(|error| Fault::from(error).at(file, at))?;
                return Ok(Some(loaded.document));
            }
            match part.body {
                Body::Json(json, outer) => self.value(json, outer, None, 0).map_err(|fault| {
                    // Of an item of a list, the line on which it begins.
                    let before = self.place.checked_sub(json.as_ptr().addr()).and_then(|offset| json.get(..offset));
                    let line = part.line + before.map_or(0, text::newlines);
                    fault.at(file, Some(Position { line, column: 0 }))
                })?,
                Body::Yaml(json) => {
                    self.value(&json, outside(&json), None, 0).map_err(|fault| fault.at(file, at))?;
                }
            }
        }
        Ok(None)
    }

    /// Adds an object, or the items of a list. `default` is what a list says of items that do not say it themselves.
    fn value(
        &mut self,
        json: &str,
        outer: Option<Outer<'_>>,
        default: Option<(&str, &str)>,
        depth: usize,
    ) -> Result<(), Fault> {
        self.place = json.as_ptr().addr();
        let outer = outer.ok_or_else(|| not_an_object(json))?;
        let kind = outer.kind.as_deref().or(default.map(|(kind, _)| kind));
        let api_version = outer.api_version.as_deref().or(default.map(|(_, version)| version));
        let (kind, api_version) = match (kind, api_version) {
            (Some(kind), Some(api_version)) => (kind, api_version),
            // kubectl writes the keys of a List in alphabetical order: `kind` comes after `items`.
            (None, Some(_)) if outer.items.is_some() => {
                return Err(Fault::Cut { detail: "a list without its kind, which comes after the items".to_owned() });
            }
            _ => return Err(not_an_object(json)),
        };
        let Some(items) = outer.items.filter(|_| kind.ends_with("List")) else {
            return if self.short_way(json) { Ok(()) } else { self.object(json, kind, api_version) };
        };
        if depth >= LIST_DEPTH {
            return Err(Fault::Limit { detail: format!("lists within lists, deeper than {LIST_DEPTH}") });
        }
        let item = kind.strip_suffix("List").filter(|item| !item.is_empty());
        if let Some(item) = item
            && let Reading::Known(kind) = reading(item, api_version)
        {
            self.provided.insert(kind);
        }
        let default = item.map(|item| (item, api_version));
        for raw in items.unwrap_or_default() {
            if !self.short_way(raw.get()) {
                self.value(raw.get(), outside(raw.get()), default, depth + 1)?;
            }
        }
        Ok(())
    }

    /// Adds an object that says of itself what it is, reading it once. Says whether it was one.
    fn short_way(&mut self, json: &str) -> bool {
        let Some(head) = Head::of(json) else { return false };
        let Reading::Known(kind) = reading(&head.kind, &head.api_version) else { return false };
        let Some(kept) = kept::keep(json, &head, kind, &mut self.newest, &mut self.scratch) else { return false };
        self.provided.insert(kind);
        let entry = Entry { text: kept.text, resource_version: kept.resource_version };
        self.insert((kind, kept.namespace, kept.name), entry);
        true
    }

    /// Adds an object by way of a tree of its values.
    pub(super) fn object(&mut self, json: &str, kind: &str, api_version: &str) -> Result<(), Fault> {
        let mut object: Value = serde_json::from_str(json).map_err(|_| not_an_object(json))?;
        let Some(name) = object["metadata"]["name"].as_str().filter(|name| !name.is_empty()).map(str::to_owned) else {
            return Err(Fault::NotAnObject { found: format!("{api_version} {kind} without metadata.name") });
        };
        let known = match reading(kind, api_version) {
            Reading::Known(known) => known,
            Reading::Foreign => {
                *self.left_out.entry(format!("{api_version} {kind}")).or_default() += 1;
                return Ok(());
            }
            Reading::UnknownVersion(known) => {
                return Err(Fault::UnknownVersion {
                    kind: known.name(),
                    name,
                    expected: known.api_version().to_owned(),
                    found: api_version.to_owned(),
                });
            }
        };
        object["kind"] = kind.into();
        object["apiVersion"] = api_version.into();
        if known.namespaced() && object["metadata"]["namespace"].as_str().unwrap_or_default().is_empty() {
            // A manifest without a namespace goes where kubectl would put it.
            object["metadata"]["namespace"] = "default".into();
        }
        let namespace = object["metadata"]["namespace"].as_str().unwrap_or_default().to_owned();
        note_times(&object, &mut self.newest);
        redact::redact(&mut object);
        self.provided.insert(known);
        let resource_version = object["metadata"]["resourceVersion"].as_str().unwrap_or_default().to_owned();
        let mut text = String::new();
        canonical::write(&object, &mut text);
        let text = RawValue::from_string(text).map_err(|error| not_json(&error))?;
        self.insert((known, namespace, name), Entry { text, resource_version });
        Ok(())
    }

    fn insert(&mut self, key: (Kind, String, String), entry: Entry) {
        let Some(other) = self.objects.get(&key) else {
            self.objects.insert(key, entry);
            return;
        };
        if other.text.get() == entry.text.get() {
            return;
        }
        // The first of two that cannot be told apart is kept: files are read in the order of their names.
        let newer = revision(&entry.resource_version) > revision(&other.resource_version);
        let (kept, dropped) = if newer { (&entry, other) } else { (other, &entry) };
        let (kind, namespace, name) = &key;
        self.notes.push(Note::Duplicate {
            object: ObjectRef {
                kind: kind.name().to_owned(),
                namespace: (!namespace.is_empty()).then(|| namespace.clone()),
                name: name.clone(),
            },
            kept: kept.resource_version.clone(),
            dropped: dropped.resource_version.clone(),
        });
        if newer {
            self.objects.insert(key, entry);
        }
    }

    /// The snapshot of all that was added, with its digest and its view.
    pub(crate) fn finish(mut self, origin: &Path) -> Result<Loaded, ReadError> {
        let mut notes = std::mem::take(&mut self.notes);
        let left_out = std::mem::take(&mut self.left_out);
        notes.extend(left_out.into_iter().map(|(kind, count)| Note::LeftOut { kind, count }));
        let snapshot = self.snapshot();
        let digest = snapshot.digest_of_canonical().map_err(|error| not_json(&error).at(origin, None))?;
        with_view(origin, snapshot, digest, notes)
    }

    /// The snapshot of all that was added.
    pub(super) fn snapshot(self) -> Snapshot {
        let Self { name, objects, provided, newest, .. } = self;
        let kube_system = objects.get(&(Kind::Namespace, String::new(), "kube-system".to_owned()));
        let cluster_uid = kube_system.and_then(|entry| uid(entry.text.get()));
        let gaps = Kind::ALL
            .iter()
            .filter(|kind| !provided.contains(kind))
            .map(|kind| Gap {
                source: kind.name().to_owned(),
                reason: GapReason::NotProvided,
                message: format!("the files hold no {kind}, which does not say that there is none"),
            })
            .collect();
        let mut sorted: Vec<_> = objects.into_iter().collect();
        sorted.sort_by(|((a, ..), _), ((b, ..), _)| a.name().cmp(b.name()));
        let objects = sorted.into_iter().map(|(_, entry)| entry.text).collect();
        Snapshot {
            header: Header::of::<Snapshot>(),
            taken: newest.time().unwrap_or(Timestamp::EPOCH),
            cluster: ClusterIdentity { uid: cluster_uid, name, server_version: None },
            gaps,
            redacted: redact::REDACTED.iter().map(|what| (*what).to_owned()).collect(),
            objects,
        }
    }
}

/// The view and the digest of a snapshot.
pub(crate) fn loaded(origin: &Path, snapshot: Snapshot, notes: Vec<Note>) -> Result<Loaded, ReadError> {
    let digest = snapshot.digest().map_err(|error| not_json(&error).at(origin, None))?;
    with_view(origin, snapshot, digest, notes)
}

fn with_view(origin: &Path, snapshot: Snapshot, digest: Digest, notes: Vec<Note>) -> Result<Loaded, ReadError> {
    let view = view_of::view(&snapshot).map_err(|error| Fault::from(error).at(origin, None))?;
    Ok(Loaded { snapshot, digest, view, notes })
}

fn not_json(error: &serde_json::Error) -> Fault {
    Fault::Syntax { expected: "JSON", detail: error.to_string() }
}

/// The outside of a JSON value; none if the fields that tell have other types.
fn outside(json: &str) -> Option<Outer<'_>> {
    serde_json::from_str(json).ok()
}

/// The UID of an object.
fn uid(json: &str) -> Option<Uid> {
    let object: Value = serde_json::from_str(json).ok()?;
    object["metadata"]["uid"].as_str().map(Uid::from)
}

/// etcd's revisions are numbers; a text that is none is older than any. Source: KEP-5504, comparable resource versions.
fn revision(resource_version: &str) -> u128 {
    resource_version.parse().unwrap_or(0)
}

/// Describes a value that is no Kubernetes object.
fn not_an_object(json: &str) -> Fault {
    let found = match serde_json::from_str::<Value>(json) {
        Ok(Value::Object(map)) if map.is_empty() => "an empty object".to_owned(),
        Ok(Value::Object(map)) => {
            let mut keys: Vec<&str> = map.keys().map(String::as_str).collect();
            keys.sort_unstable();
            let more = if keys.len() > 4 { ", …" } else { "" };
            keys.truncate(4);
            format!("an object with {}{more}", keys.join(", "))
        }
        Ok(Value::Array(_)) => "an array".to_owned(),
        Ok(Value::String(text)) => format!("text: {:?}", text.chars().take(40).collect::<String>()),
        Ok(other) => other.to_string(),
        Err(error) => error.to_string(),
    };
    Fault::NotAnObject { found }
}

/// Notes the times in an object: when its cluster was last seen.
fn note_times(value: &Value, newest: &mut Newest) {
    match value {
        Value::Object(map) => {
            for (key, value) in map.iter().filter(|(key, _)| *key != "deletionTimestamp") {
                match value {
                    Value::String(text) if is_time(key) => newest.note(text),
                    value => note_times(value, newest),
                }
            }
        }
        Value::Array(items) => items.iter().for_each(|item| note_times(item, newest)),
        _ => {}
    }
}
