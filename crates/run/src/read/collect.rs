//! Puts the objects of all files together: fills in what lists leave out, takes the newer of two, redacts, and says of
//! which kinds there was nothing.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::path::Path;

use rehome_k8s::{Kind, redact, snapshot as view_of};
use rehome_model::document::Header;
use rehome_model::snapshot::{ClusterIdentity, Gap, GapReason, Snapshot};
use rehome_model::{ObjectRef, Timestamp, Uid};
use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;

use super::error::{Fault, Position, ReadError};
use super::text::{self, Body};
use super::version::{Reading, reading};
use super::{Loaded, document};

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

/// A list or an object, no deeper than is needed to tell which.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Outer {
    api_version: Option<String>,
    kind: Option<String>,
    #[serde(default, deserialize_with = "present")]
    items: Option<Items>,
}

/// The items of a list; none where it says `null`.
type Items = Option<Vec<Box<RawValue>>>;

/// Tells `items: null` (an empty list, as Go writes it) from no `items` at all.
fn present<'de, D: serde::Deserializer<'de>>(deserializer: D) -> Result<Option<Items>, D::Error> {
    Option::deserialize(deserializer).map(Some)
}

struct Entry {
    object: Value,
    resource_version: String,
}

/// The objects of all files so far.
pub(crate) struct Collector {
    name: Option<String>,
    objects: BTreeMap<(Kind, String, String), Entry>,
    provided: BTreeSet<Kind>,
    left_out: BTreeMap<String, usize>,
    notes: Vec<Note>,
    newest: Option<Timestamp>,
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
            newest: None,
        }
    }

    /// Adds a file. Returns the snapshot, if that is what it holds.
    pub(crate) fn add(&mut self, file: &Path, bytes: &[u8]) -> Result<Option<Snapshot>, ReadError> {
        let text = text::decode(bytes).map_err(|(fault, at)| fault.at(file, at))?;
        let parts = text::parts(text).map_err(|(fault, at)| fault.at(file, at))?;
        let single = parts.len() == 1;
        for part in parts {
            let at = Some(Position { line: part.line, column: 0 });
            let raw = match part.body {
                Body::Json(raw) => raw,
                Body::Yaml(value) => raw(&value).map_err(|fault| fault.at(file, at))?,
            };
            if document::kind(raw.get()).as_deref() == Some("Snapshot") {
                if !single {
                    return Err(Fault::SnapshotAmongObjects.at(file, at));
                }
                let loaded = Snapshot::read(raw.get()).map_err(|error| Fault::from(error).at(file, at))?;
                return Ok(Some(loaded.document));
            }
            self.value(&raw, None, 0).map_err(|fault| fault.at(file, at))?;
        }
        Ok(None)
    }

    /// Adds an object, or the items of a list. `default` is what a list says of items that do not say it themselves.
    fn value(&mut self, raw: &RawValue, default: Option<(&str, &str)>, depth: usize) -> Result<(), Fault> {
        let outer: Outer = serde_json::from_str(raw.get()).map_err(|_| not_an_object(raw.get()))?;
        let kind = outer.kind.as_deref().or(default.map(|(kind, _)| kind));
        let api_version = outer.api_version.as_deref().or(default.map(|(_, version)| version));
        let (kind, api_version) = match (kind, api_version) {
            (Some(kind), Some(api_version)) => (kind, api_version),
            // kubectl writes the keys of a List in alphabetical order: `kind` comes after `items`.
            (None, Some(_)) if outer.items.is_some() => {
                return Err(Fault::Cut { detail: "a list without its kind, which comes after the items".to_owned() });
            }
            _ => return Err(not_an_object(raw.get())),
        };
        let Some(items) = outer.items.filter(|_| kind.ends_with("List")) else {
            return self.object(raw, kind, api_version);
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
        for raw in items.unwrap_or_default() {
            self.value(&raw, item.map(|item| (item, api_version)), depth + 1)?;
        }
        Ok(())
    }

    fn object(&mut self, raw: &RawValue, kind: &str, api_version: &str) -> Result<(), Fault> {
        let mut object: Value = serde_json::from_str(raw.get()).map_err(|_| not_an_object(raw.get()))?;
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
        self.newest = self.newest.max(newest(&object));
        redact::redact(&mut object);
        self.provided.insert(known);
        let resource_version = object["metadata"]["resourceVersion"].as_str().unwrap_or_default().to_owned();
        self.insert((known, namespace, name), Entry { object, resource_version });
        Ok(())
    }

    fn insert(&mut self, key: (Kind, String, String), entry: Entry) {
        let Some(other) = self.objects.get(&key) else {
            self.objects.insert(key, entry);
            return;
        };
        if other.object == entry.object {
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

    /// The snapshot of all that was added.
    pub(crate) fn finish(self, origin: &Path) -> Result<Loaded, ReadError> {
        let Self { name, objects, provided, left_out, mut notes, newest } = self;
        let kube_system = objects.get(&(Kind::Namespace, String::new(), "kube-system".to_owned()));
        let cluster_uid = kube_system.and_then(|entry| entry.object["metadata"]["uid"].as_str()).map(Uid::from);
        notes.extend(left_out.into_iter().map(|(kind, count)| Note::LeftOut { kind, count }));
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
        let objects = sorted.iter().map(|(_, entry)| raw(&entry.object)).collect::<Result<_, _>>();
        let snapshot = Snapshot {
            header: Header::of::<Snapshot>(),
            taken: newest.unwrap_or(Timestamp::EPOCH),
            cluster: ClusterIdentity { uid: cluster_uid, name, server_version: None },
            gaps,
            redacted: redact::REDACTED.iter().map(|what| (*what).to_owned()).collect(),
            objects: objects.map_err(|fault| fault.at(origin, None))?,
        };
        loaded(origin, snapshot, notes)
    }
}

/// The view and the digest of a snapshot.
pub(crate) fn loaded(origin: &Path, snapshot: Snapshot, notes: Vec<Note>) -> Result<Loaded, ReadError> {
    let digest = snapshot.digest().map_err(|error| not_json(&error).at(origin, None))?;
    let view = view_of::view(&snapshot).map_err(|error| Fault::from(error).at(origin, None))?;
    Ok(Loaded { snapshot, digest, view, notes })
}

fn not_json(error: &serde_json::Error) -> Fault {
    Fault::Syntax { expected: "JSON", detail: error.to_string() }
}

fn raw(value: &Value) -> Result<Box<RawValue>, Fault> {
    serde_json::value::to_raw_value(value).map_err(|error| not_json(&error))
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

/// The newest time in an object: when its cluster was last seen. Ends of grace periods lie in the future.
fn newest(value: &Value) -> Option<Timestamp> {
    match value {
        Value::Object(map) => {
            map.iter().filter(|(key, _)| *key != "deletionTimestamp").fold(None, |best, (key, value)| {
                let is_time = key.ends_with("Time") || key.ends_with("Timestamp") || key == "time";
                let here = match value {
                    Value::String(text) if is_time || matches!(key.as_str(), "startedAt" | "finishedAt") => {
                        text.parse().ok()
                    }
                    value => newest(value),
                };
                best.max(here)
            })
        }
        Value::Array(items) => items.iter().map(newest).max().flatten(),
        _ => None,
    }
}
