//! What is taken out of an object before it is kept.
//!
//! A snapshot is made to be sent to a colleague, so it must not carry what people put into objects in good faith:
//! literal environment values, command lines, headers, certificates. The rules go by field name wherever the field
//! stands, so that templates inside templates and pods inside custom resources are covered without a list of paths.
//! What it does not know: whether a label, a short annotation with a harmless name, an Event's message or an image name
//! holds a secret.

use rehome_model::canonical::rewrite::{Choose, Shape};
use serde_json::{Map, Value};

pub use rules::{Place, Redaction};

mod rules;

/// What [`redact`] takes out, in words: goes into `Snapshot.redacted`.
pub const REDACTED: &[&str] = &[
    "Secrets and ConfigMaps, whole",
    "literal values of environment variables (names and valueFrom stay)",
    "commands and arguments of containers, probes and hooks",
    "HTTP headers of probes and hooks",
    "termination messages of containers",
    "the annotation kubectl.kubernetes.io/last-applied-configuration",
    "annotations whose names speak of credentials, or of what was last applied",
    "annotations with a value of more than 1024 bytes",
    "the fields in managedFields (manager, operation and subresource stay)",
    "caBundle of webhooks",
    "the list of images of nodes",
];

/// The longest annotation value that is kept, in bytes. Longer ones are configuration (or whole objects) rather than
/// notes; everything that a rule reads is shorter.
pub const ANNOTATION_LIMIT: usize = 1024;

/// The annotation in which `kubectl apply` keeps the whole object, literal values included.
/// Source: `k8s.io/api/core/v1/annotation_key_constants.go`, `LastAppliedConfigAnnotation`.
pub const LAST_APPLIED_ANNOTATION: &str = "kubectl.kubernetes.io/last-applied-configuration";

/// Annotations with one of these in their names, in small letters: tools keep credentials there, or the object as it was
/// before something took its secrets out. A name that only refers to a Secret goes with them: nothing reads it.
pub const CREDENTIAL_WORDS: &[&str] =
    &["token", "password", "passwd", "secret", "credential", "apikey", "api-key", "private-key", "last-applied"];

fn speaks_of_credentials(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    CREDENTIAL_WORDS.iter().any(|word| name.contains(word))
}

/// Whether objects of this kind are never kept, whoever has read them.
#[must_use]
pub fn never_kept(object: &Value) -> bool {
    let kind = object["kind"].as_str().unwrap_or_default();
    let kind = kind.strip_suffix("List").unwrap_or(kind);
    matches!(kind, "Secret" | "ConfigMap")
}

/// Takes out of an object what [`REDACTED`] names. In a `List`, items that are never kept go altogether; an object
/// that is never kept and stands alone is emptied down to its identity, so that a caller that forgets to ask
/// [`never_kept`] gives nothing away.
pub fn redact(object: &mut Value) {
    if never_kept(object) {
        *object = identity(object);
        return;
    }
    let root = Place::root(object["kind"].as_str().unwrap_or_default());
    if object["kind"].as_str().is_some_and(|kind| kind.ends_with("List"))
        && let Some(items) = object.get_mut("items").and_then(Value::as_array_mut)
    {
        items.retain(|item| !never_kept(item));
        items.iter_mut().for_each(redact);
    }
    walk(object, root);
}

/// `apiVersion`, `kind`, and the namespace, name and UID of the metadata.
fn identity(object: &Value) -> Value {
    let mut bare = Map::new();
    for name in ["apiVersion", "kind"] {
        if let Some(value) = object.get(name) {
            bare.insert(name.to_owned(), value.clone());
        }
    }
    let mut metadata = Map::new();
    for name in ["namespace", "name", "uid"] {
        if let Some(value) = object["metadata"].get(name) {
            metadata.insert(name.to_owned(), value.clone());
        }
    }
    bare.insert("metadata".to_owned(), Value::Object(metadata));
    Value::Object(bare)
}

/// The same rules over a tree of values.
fn walk(value: &mut Value, at: Place) {
    let mut rules = Redaction;
    match value {
        Value::Array(items) => {
            let at = rules.element(at);
            items.retain(|item| rules.keeps(at, shape(item)));
            items.iter_mut().for_each(|item| walk(item, at));
        }
        Value::Object(fields) => {
            fields.retain(|name, value| rules.member(at, name).is_some_and(|at| rules.keeps(at, shape(value))));
            for (name, value) in fields.iter_mut() {
                if let Some(at) = rules.member(at, name) {
                    walk(value, at);
                }
            }
        }
        _ => {}
    }
}

fn shape(value: &Value) -> Shape<'_> {
    match value {
        Value::String(text) => Shape::Text(text),
        Value::Object(_) => Shape::Object,
        Value::Array(_) => Shape::Array,
        Value::Null | Value::Bool(_) | Value::Number(_) => Shape::Scalar,
    }
}

#[cfg(test)]
mod tests;
