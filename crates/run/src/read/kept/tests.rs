//! The short way keeps what the long way would, or leaves the object to it.

use proptest::prelude::*;
use serde_json::{Value, json};

use super::*;
use crate::read::collect::Collector;

/// The text and the newest time by way of a tree of values.
fn the_long_way(json: &str, head: &Head<'_>) -> Option<(String, Timestamp)> {
    let mut collector = Collector::new(None);
    collector.object(json, &head.kind, &head.api_version).ok()?;
    let snapshot = collector.snapshot();
    Some((snapshot.objects.first()?.get().to_owned(), snapshot.taken))
}

fn the_short_way(json: &str, head: &Head<'_>, kind: Kind) -> Option<(String, Timestamp)> {
    let mut newest = Newest::default();
    let kept = keep(json, head, kind, &mut newest, &mut String::new())?;
    Some((kept.text.get().to_owned(), newest.time().unwrap_or(Timestamp::EPOCH)))
}

fn time() -> impl Strategy<Value = Value> {
    prop_oneof![
        (0u32..60).prop_map(|second| json!(format!("2026-12-01T10:00:{second:02}Z"))),
        Just(json!("2026-12-01T10:00:30.500000Z")),
        Just(json!("2026-12-01T10:00:59+02:00")),
        Just(json!("zzzz-zz-zzTzz:zz:zzZ")),
        Just(Value::Null),
    ]
}

/// Members of an object, some with names that mean something.
fn members() -> impl Strategy<Value = Vec<(String, Value)>> {
    let name = prop::sample::select(vec!["status", "env", "annotations", "kind", "name", "metadata", "caBundle", "x"]);
    let leaf = prop_oneof![Just(json!("text")), Just(json!(-1.5)), Just(json!([])), Just(json!({"name": "y"}))];
    let timed = prop::sample::select(vec!["creationTimestamp", "lastTransitionTime", "deletionTimestamp", "time"]);
    let value = leaf.prop_recursive(3, 24, 4, move |inner| {
        let member = (name.clone().prop_map(str::to_owned), inner.clone());
        let timed = (timed.clone().prop_map(str::to_owned), time());
        let object = prop::collection::vec(prop_oneof![member, timed], 0..5);
        prop_oneof![
            object.prop_map(|members| members.into_iter().collect()),
            prop::collection::vec(inner, 0..3).prop_map(Value::Array)
        ]
    });
    let name =
        prop::sample::select(vec!["spec", "status", "data", "kind", "apiVersion", "metadata"]).prop_map(str::to_owned);
    prop::collection::vec((name, value), 0..4)
}

/// The text of an object whose fields may be in any order, missing, or there twice.
fn object() -> impl Strategy<Value = String> {
    let metadata = (prop::option::weighted(0.9, "[a-z]{0,3}"), prop::option::weighted(0.8, "[a-z]{0,3}"), time());
    let metadata = metadata.prop_map(|(name, namespace, created)| {
        let managers = json!([{"manager": "m", "time": created, "fieldsV1": {"f:spec": {}}}]);
        let mut metadata = json!({"creationTimestamp": created, "resourceVersion": "7", "managedFields": managers});
        name.into_iter().for_each(|name| metadata["name"] = name.into());
        namespace.into_iter().for_each(|namespace| metadata["namespace"] = namespace.into());
        metadata
    });
    let kind = prop::sample::select(vec!["Pod", "Node"]);
    (kind, metadata, members()).prop_map(|(kind, metadata, members)| {
        let told = [("apiVersion", json!("v1")), ("kind", json!(kind)), ("metadata", metadata)];
        let all = told.map(|(name, value)| (name.to_owned(), value)).into_iter().chain(members);
        let text: Vec<String> = all.map(|(name, value)| format!("{} : {value}", json!(name))).collect();
        format!("{{ {} }}", text.join(",\n"))
    })
}

proptest! {
    #[test]
    fn both_ways_keep_the_same(json in object()) {
        let head = Head::of(&json).unwrap();
        let kind = Kind::by_name(&head.kind).unwrap();
        if let Some(short) = the_short_way(&json, &head, kind) {
            prop_assert_eq!(Some(short), the_long_way(&json, &head));
        }
    }
}

#[test]
fn an_object_as_kubectl_writes_it_goes_the_short_way() {
    let usual = r#"{"apiVersion":"v1","kind":"Pod","metadata":{"name":"a","namespace":"x","managedFields":[{"manager":"m","time":"2026-12-01T10:00:01Z"}]},"status":{"startTime":"2026-12-01T10:00:00Z"}}"#;
    let head = Head::of(usual).unwrap();
    let (text, taken) = the_short_way(usual, &head, Kind::Pod).unwrap();
    assert!(!text.contains("10:00:01"), "{text}");
    assert_eq!(taken.to_string(), "2026-12-01T10:00:01.000Z", "also a time that is not kept counts");
    for odd in [
        usual.replace(r#""namespace":"x","#, ""),
        usual.replace(r#""name":"a""#, r#""name":"a","name":"b""#),
        usual.replace(r#""name":"a""#, r#""name":7"#),
        usual.replace(r#""status""#, r#""metadata":{},"status""#),
        usual.replace(r#""status""#, r#""kind":"Pod","status""#),
    ] {
        assert!(the_short_way(&odd, &head, Kind::Pod).is_none(), "{odd}");
    }
}
