//! The JSON schemas of all documents: `schemas/<kind>.json`, made from the types that read and write them.

use std::collections::BTreeMap;

use rehome_model::approval::Approval;
use rehome_model::behaviour::Behaviour;
use rehome_model::check::Check;
use rehome_model::document::{API_VERSION, Document};
use rehome_model::flavor::Catalogue;
use rehome_model::intent::Intent;
use rehome_model::journal::Record;
use rehome_model::plan::Plan;
use rehome_model::rehearsal::Rehearsal;
use rehome_model::sizing::Sizing;
use rehome_model::snapshot::Snapshot;
use rehome_model::verification::Verification;
use schemars::{JsonSchema, generate::SchemaSettings};
use serde_json::{Value, json};

/// All schemas by file name, without folder.
#[must_use]
pub(crate) fn all() -> BTreeMap<String, Value> {
    [
        document::<Approval>(),
        document::<Behaviour>(),
        document::<Check>(),
        document::<Catalogue>(),
        document::<Intent>(),
        document::<Plan>(),
        document::<Rehearsal>(),
        document::<Sizing>(),
        document::<Snapshot>(),
        document::<Verification>(),
        // A journal is JSON lines; the schema is that of one line. Its version stands in its first line.
        ("journal.json".to_owned(), named::<Record>("Journal")),
    ]
    .into()
}

/// The schema as it is written to its file.
#[must_use]
pub(crate) fn pretty(schema: &Value) -> String {
    format!("{schema:#}\n")
}

fn document<D: Document + JsonSchema>() -> (String, Value) {
    let mut schema = named::<D>(D::KIND);
    // The header is the same type for all kinds; the schema of one kind admits this kind only.
    schema["properties"]["apiVersion"]["const"] = json!(API_VERSION);
    schema["properties"]["kind"]["const"] = json!(D::KIND);
    (format!("{}.json", D::KIND.to_lowercase()), schema)
}

fn named<T: JsonSchema>(kind: &str) -> Value {
    let mut schema = SchemaSettings::draft2020_12().into_generator().into_root_schema_for::<T>().to_value();
    let version = API_VERSION.rsplit('/').next().unwrap_or_default();
    schema["$id"] = json!(format!("https://rehome.dev/schemas/{version}/{}.json", kind.to_lowercase()));
    schema
}

/// All words that tell the variants of a tagged type apart: `("verb", "evict")`, from all schemas.
#[must_use]
pub(crate) fn tags(schemas: &BTreeMap<String, Value>) -> std::collections::BTreeSet<(String, String)> {
    let mut found = std::collections::BTreeSet::new();
    for schema in schemas.values() {
        collect(schema, &mut |object| {
            for variant in ["oneOf", "anyOf"].iter().filter_map(|key| object.get(*key)?.as_array()).flatten() {
                let properties = variant["properties"].as_object().into_iter().flatten();
                for (name, property) in properties {
                    if let Some(word) = property["const"].as_str() {
                        found.insert((name.clone(), word.to_owned()));
                    }
                }
            }
        });
    }
    found
}

/// Calls `visit` for each object in the value.
pub(crate) fn collect(value: &Value, visit: &mut impl FnMut(&serde_json::Map<String, Value>)) {
    match value {
        Value::Object(map) => {
            visit(map);
            map.values().for_each(|value| collect(value, visit));
        }
        Value::Array(items) => items.iter().for_each(|value| collect(value, visit)),
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_kind_has_a_schema_that_admits_no_other() {
        let schemas = all();
        assert_eq!(schemas["plan.json"]["properties"]["kind"]["const"], "Plan");
        assert_eq!(schemas["plan.json"]["$id"], "https://rehome.dev/schemas/v1alpha1/plan.json");
        assert_eq!(schemas.len(), 11);
    }

    #[test]
    fn fields_are_spelled_as_kubernetes_spells_its_own() {
        for (file, schema) in all() {
            collect(&schema, &mut |object| {
                for name in object.get("properties").and_then(Value::as_object).into_iter().flat_map(|map| map.keys()) {
                    assert!(!name.contains('_'), "{file}: expected camelCase, found {name}");
                }
            });
        }
    }

    #[test]
    fn tags_are_found_at_any_depth() {
        let tags = tags(&all());
        for (name, word) in [("verb", "evict"), ("event", "runStarted"), ("cause", "budget"), ("if", "rolledOut")] {
            assert!(tags.contains(&(name.to_owned(), word.to_owned())), "{name}={word} in {tags:?}");
        }
    }
}
