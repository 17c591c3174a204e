//! One object on its way from a list into a snapshot.

use rehome_k8s::{Kind, redact};
use serde::Deserialize;
use serde_json::Value;
use serde_json::value::{RawValue, to_raw_value};

/// An object as a snapshot keeps it, with what it is sorted by.
#[derive(Debug)]
pub(super) struct Captured {
    pub(super) kind: String,
    pub(super) namespace: String,
    pub(super) name: String,
    /// When an Event was last seen; empty for everything else.
    pub(super) seen: String,
    pub(super) json: Box<RawValue>,
}

/// Decodes an item, takes out what must not be kept, and makes it text again.
pub(super) fn captured(kind: Kind, item: &RawValue) -> Result<Captured, serde_json::Error> {
    let mut object: Value = serde_json::from_str(item.get())?;
    let Some(fields) = object.as_object_mut() else {
        return Err(serde::de::Error::custom("an item of the list is no object"));
    };
    // Items of a list come without them.
    fields.insert("kind".to_owned(), Value::from(kind.name()));
    fields.insert("apiVersion".to_owned(), Value::from(kind.api_version()));
    redact::redact(&mut object);
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let seen = if kind == Kind::Event { last_seen(&object) } else { String::new() };
    Ok(Captured {
        kind: kind.name().to_owned(),
        namespace: text(&object["metadata"]["namespace"]),
        name: text(&object["metadata"]["name"]),
        seen,
        json: to_raw_value(&object)?,
    })
}

/// RFC 3339 in UTC sorts as text. Which field is set depends on who wrote the Event.
/// Source: `k8s.io/api/core/v1/types.go`, `Event`.
fn last_seen(event: &Value) -> String {
    let times = [
        &event["series"]["lastObservedTime"],
        &event["lastTimestamp"],
        &event["eventTime"],
        &event["metadata"]["creationTimestamp"],
    ];
    times.into_iter().find_map(Value::as_str).unwrap_or_default().to_owned()
}

#[derive(Deserialize)]
struct Head {
    kind: Option<String>,
}

/// The item's text with `kind` and `apiVersion`, without decoding the rest.
pub(super) fn with_kind(kind: Kind, item: &RawValue) -> Result<String, serde_json::Error> {
    let text = item.get().trim_start();
    let head: Head = serde_json::from_str(text)?;
    match text.strip_prefix('{') {
        // An empty object would need no comma, but every object has metadata.
        Some(rest) if head.kind.is_none() => {
            Ok(format!(r#"{{"kind":"{}","apiVersion":"{}",{rest}"#, kind.name(), kind.api_version()))
        }
        _ => Ok(text.to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn raw(text: &str) -> Box<RawValue> {
        RawValue::from_string(text.to_owned()).unwrap()
    }

    #[test]
    fn an_item_gets_its_kind_and_loses_what_must_not_be_kept() {
        let item = raw(
            r#"{"metadata":{"name":"web","namespace":"shop"},"spec":{"containers":[{"name":"c","env":[{"name":"A","value":"SECRET"}]}]}}"#,
        );
        let captured = captured(Kind::Pod, &item).unwrap();
        let value: Value = serde_json::from_str(captured.json.get()).unwrap();
        assert_eq!((value["kind"].as_str(), value["apiVersion"].as_str()), (Some("Pod"), Some("v1")));
        assert!(!captured.json.get().contains("SECRET"));
        assert_eq!((captured.namespace.as_str(), captured.name.as_str()), ("shop", "web"));
    }

    #[test]
    fn a_kind_is_put_in_front_where_there_is_none() {
        let with = with_kind(Kind::Deployment, &raw(r#"{"metadata":{"name":"a"}}"#)).unwrap();
        assert_eq!(with, r#"{"kind":"Deployment","apiVersion":"apps/v1","metadata":{"name":"a"}}"#);
        let whole = r#"{"metadata":{},"kind":"Pod","apiVersion":"v1"}"#;
        assert_eq!(with_kind(Kind::Pod, &raw(whole)).unwrap(), whole);
    }
}
