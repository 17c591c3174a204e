//! From a change of a field to a JSON Patch that cannot overwrite what somebody else wrote. Pure.
//!
//! Each patch begins with a `test` of what was just read, so that the server refuses it (422 with empty details) when
//! the object changed since. A `test` for null passes on an absent key of a present object and fails when its parent is
//! absent (seen on 1.37.2), so each patch tests at the deepest level that exists.

use rehome_model::verb::{Change, Field};
use serde_json::{Map, Value, json};

/// Why there is no patch.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum NoPatch {
    /// Somebody else changed the field.
    #[error("{field}: expected {expected}, found {found}")]
    OtherValue { field: Field, expected: String, found: String },
    /// The field cannot have this value.
    #[error("{field} cannot be set to {value:?}: expected true, or not set")]
    NotAValue { field: Field, value: String },
}

/// The operations that make the change on the object as it was just read.
pub(crate) fn operations(change: &Change, object: &Value) -> Result<Vec<Value>, NoPatch> {
    match &change.field {
        Field::Unschedulable => unschedulable(change, object),
        Field::NoScheduleTaint { key } => taint(change, key, object),
        Field::TemplateAnnotation { key } => annotation(change, key, object),
    }
}

fn unschedulable(change: &Change, object: &Value) -> Result<Vec<Value>, NoPatch> {
    if let Some(value) = change.to.as_ref().filter(|to| *to != "true") {
        return Err(NoPatch::NotAValue { field: change.field.clone(), value: value.clone() });
    }
    let found = &object["spec"]["unschedulable"];
    expect(change, found.as_bool().filter(|set| *set).map(|_| "true".to_owned()))?;
    let path = "/spec/unschedulable";
    let test = json!({"op": "test", "path": path, "value": found});
    Ok(match &change.to {
        Some(_) => vec![test, json!({"op": "add", "path": path, "value": true})],
        None if found.is_null() => vec![test],
        None => vec![test, json!({"op": "remove", "path": path})],
    })
}

/// Tests the whole list: its order is its identity, and an index would point at another taint after a change.
fn taint(change: &Change, key: &str, object: &Value) -> Result<Vec<Value>, NoPatch> {
    let found = &object["spec"]["taints"];
    let mut taints = found.as_array().cloned().unwrap_or_default();
    let ours = taints.iter().position(|taint| taint["key"] == key && taint["effect"] == "NoSchedule");
    // A taint without a value is served without the field.
    expect(change, ours.map(|index| taints[index]["value"].as_str().unwrap_or_default().to_owned()))?;
    match (&change.to, ours) {
        (Some(value), Some(index)) => taints[index]["value"] = json!(value),
        (Some(value), None) => taints.push(json!({"key": key, "value": value, "effect": "NoSchedule"})),
        (None, Some(index)) => drop(taints.remove(index)),
        (None, None) => {}
    }
    let path = "/spec/taints";
    let test = json!({"op": "test", "path": path, "value": found});
    Ok(match (taints.is_empty(), found.is_null()) {
        (true, true) => vec![test],
        (true, false) => vec![test, json!({"op": "remove", "path": path})],
        (false, _) => vec![test, json!({"op": "add", "path": path, "value": taints})],
    })
}

fn annotation(change: &Change, key: &str, object: &Value) -> Result<Vec<Value>, NoPatch> {
    let metadata = &object["spec"]["template"]["metadata"];
    let annotations = &metadata["annotations"];
    let found = &annotations[key];
    expect(change, found.as_str().map(str::to_owned))?;
    let wanted = || {
        let value = change.to.iter().map(|to| (key.to_owned(), json!(to)));
        Value::Object(value.collect::<Map<_, _>>())
    };
    let (path, current, value) = if metadata.is_null() {
        ("/spec/template/metadata".to_owned(), metadata, json!({"annotations": wanted()}))
    } else if annotations.is_null() {
        ("/spec/template/metadata/annotations".to_owned(), annotations, wanted())
    } else {
        (format!("/spec/template/metadata/annotations/{}", pointer(key)), found, json!(change.to))
    };
    let test = json!({"op": "test", "path": path, "value": current});
    Ok(match &change.to {
        Some(_) => vec![test, json!({"op": "add", "path": path, "value": value})],
        None if found.is_null() => vec![test],
        None => vec![test, json!({"op": "remove", "path": path})],
    })
}

fn expect(change: &Change, found: Option<String>) -> Result<(), NoPatch> {
    if found == change.from {
        return Ok(());
    }
    let say = |value: &Option<String>| value.as_ref().map_or_else(|| "not set".to_owned(), |text| format!("{text:?}"));
    Err(NoPatch::OtherValue { field: change.field.clone(), expected: say(&change.from), found: say(&found) })
}

/// RFC 6901, section 3.
fn pointer(key: &str) -> String {
    key.replace('~', "~0").replace('/', "~1")
}

#[cfg(test)]
mod tests {
    use rehome_model::ObjectRef;

    use super::*;

    fn change(field: Field, from: Option<&str>, to: Option<&str>) -> Change {
        Change { target: ObjectRef::node("a"), field, from: from.map(str::to_owned), to: to.map(str::to_owned) }
    }

    fn patch(change: &Change, object: Value) -> Value {
        json!(operations(change, &object).unwrap())
    }

    #[test]
    fn a_cordon_tests_that_the_field_is_absent() {
        let cordon = change(Field::Unschedulable, None, Some("true"));
        let path = "/spec/unschedulable";
        let expected = json!([{"op": "test", "path": path, "value": null}, {"op": "add", "path": path, "value": true}]);
        assert_eq!(patch(&cordon, json!({"spec": {}})), expected);
        let error = operations(&cordon, &json!({"spec": {"unschedulable": true}})).unwrap_err();
        assert_eq!(error.to_string(), "spec.unschedulable: expected not set, found \"true\"");
        let uncordon = change(Field::Unschedulable, Some("true"), None);
        let expected = json!([{"op": "test", "path": path, "value": true}, {"op": "remove", "path": path}]);
        assert_eq!(patch(&uncordon, json!({"spec": {"unschedulable": true}})), expected);
        let wrong = change(Field::Unschedulable, None, Some("yes"));
        assert!(matches!(operations(&wrong, &json!({})), Err(NoPatch::NotAValue { .. })));
    }

    #[test]
    fn a_taint_goes_into_the_list_as_it_was_read_and_out_of_it_again() {
        let field = Field::NoScheduleTaint { key: "rehome.dev/moving".to_owned() };
        let path = "/spec/taints";
        let foreign = json!({"key": "rehome.dev/moving", "effect": "NoExecute", "value": "other"});
        let ours = json!({"key": "rehome.dev/moving", "value": "run-1", "effect": "NoSchedule"});
        let set = change(field.clone(), None, Some("run-1"));
        let expected = json!([
            {"op": "test", "path": path, "value": [foreign]}, {"op": "add", "path": path, "value": [foreign, ours]},
        ]);
        assert_eq!(patch(&set, json!({"spec": {"taints": [foreign]}})), expected);
        let expected =
            json!([{"op": "test", "path": path, "value": null}, {"op": "add", "path": path, "value": [ours]}]);
        assert_eq!(patch(&set, json!({"spec": {}})), expected);
        let unset = change(field.clone(), Some("run-1"), None);
        let expected = json!([{"op": "test", "path": path, "value": [ours]}, {"op": "remove", "path": path}]);
        assert_eq!(patch(&unset, json!({"spec": {"taints": [ours]}})), expected);
        let other_run = change(field, Some("run-2"), None);
        assert!(operations(&other_run, &json!({"spec": {"taints": [ours]}})).is_err());
    }

    #[test]
    fn an_annotation_makes_the_parents_that_are_missing() {
        let field = Field::TemplateAnnotation { key: "a.b/c".to_owned() };
        let set = change(field.clone(), None, Some("now"));
        let metadata = "/spec/template/metadata";
        let expected = |path: &str, value: Value| json!([{"op": "test", "path": path, "value": null}, {"op": "add", "path": path, "value": value}]);
        let bare = json!({"spec": {"template": {}}});
        assert_eq!(patch(&set, bare), expected(metadata, json!({"annotations": {"a.b/c": "now"}})));
        let with = |metadata: Value| json!({"spec": {"template": {"metadata": metadata}}});
        let path = format!("{metadata}/annotations");
        assert_eq!(patch(&set, with(json!({"labels": {}}))), expected(&path, json!({"a.b/c": "now"})));
        let path = format!("{metadata}/annotations/a.b~1c");
        assert_eq!(patch(&set, with(json!({"annotations": {}}))), expected(&path, json!("now")));
        let again = change(field.clone(), Some("now"), Some("later"));
        let found = patch(&again, with(json!({"annotations": {"a.b/c": "now"}})));
        assert_eq!(found[0], json!({"op": "test", "path": path, "value": "now"}));
        let unset = change(field, None, None);
        assert_eq!(patch(&unset, with(json!({}))).as_array().unwrap().len(), 1);
    }
}
