//! Whether a value conforms to one of our schemas. Knows the words of JSON Schema that our schemas use, and no others:
//! a new word is an error, so that no part of a schema goes unread.

use serde_json::{Map, Value};

/// Words that say something about a value to a person only.
const REMARKS: &[&str] = &["$schema", "$id", "$defs", "title", "description", "default", "format"];

/// Why the value at `place` does not conform; `None` when it does.
#[must_use]
pub(crate) fn reason_against(root: &Value, schema: &Value, value: &Value, place: &str) -> Option<String> {
    match schema {
        Value::Bool(true) => None,
        Value::Object(words) => {
            words.iter().find_map(|(word, wanted)| against(root, word, wanted, words, value, place))
        }
        _ => Some(format!("{place}: the schema is no schema: {schema}")),
    }
}

fn against(
    root: &Value,
    word: &str,
    wanted: &Value,
    words: &Map<String, Value>,
    value: &Value,
    place: &str,
) -> Option<String> {
    let into = |schema: &Value, value: &Value, place: &str| reason_against(root, schema, value, place);
    let fails = |holds: bool| (!holds).then(|| format!("{place}: expected {word} {wanted}, found {value}"));
    match word {
        _ if REMARKS.contains(&word) => None,
        "type" => fails(match wanted {
            Value::Array(types) => types.iter().any(|name| has_type(value, name)),
            name => has_type(value, name),
        }),
        "const" => fails(value == wanted),
        "enum" => fails(wanted.as_array().is_some_and(|all| all.contains(value))),
        // The one pattern that we use is that of a digest.
        "pattern" => fails(value.as_str().is_none_or(|text| text.parse::<rehome_model::Digest>().is_ok())),
        "minimum" => fails(value.as_f64() >= wanted.as_f64()),
        "maximum" => fails(value.as_f64() <= wanted.as_f64()),
        "minItems" => fails(value.as_array().map(|items| items.len() as u64) >= wanted.as_u64()),
        "maxItems" => fails(value.as_array().map(|items| items.len() as u64) <= wanted.as_u64()),
        "uniqueItems" => {
            let items = value.as_array()?;
            fails(items.iter().enumerate().all(|(index, item)| !items[..index].contains(item)))
        }
        "$ref" => {
            let target = wanted.as_str().and_then(|name| root.pointer(name.strip_prefix('#')?));
            match target {
                Some(schema) => into(schema, value, place),
                None => Some(format!("{place}: the schema names {wanted}, which it lacks")),
            }
        }
        "required" => {
            let missing =
                wanted.as_array()?.iter().find(|name| value.get(name.as_str().unwrap_or_default()).is_none())?;
            value.is_object().then(|| format!("{place}: expected the field {missing}"))
        }
        "properties" => wanted
            .as_object()?
            .iter()
            .find_map(|(name, schema)| into(schema, value.get(name)?, &format!("{place}.{name}"))),
        "additionalProperties" => {
            let known = words.get("properties").and_then(Value::as_object);
            let others =
                value.as_object()?.iter().filter(|(name, _)| known.is_none_or(|known| !known.contains_key(*name)));
            others.into_iter().find_map(|(name, value)| into(wanted, value, &format!("{place}.{name}")))
        }
        "items" => {
            let mut items = value.as_array()?.iter().enumerate();
            items.find_map(|(index, item)| into(wanted, item, &format!("{place}[{index}]")))
        }
        "oneOf" | "anyOf" => {
            let parts: Vec<Option<String>> = wanted.as_array()?.iter().map(|part| into(part, value, place)).collect();
            let fitting = parts.iter().filter(|part| part.is_none()).count();
            let holds = if word == "oneOf" { fitting == 1 } else { fitting > 0 };
            (!holds).then(|| {
                format!(
                    "{place}: {fitting} parts of {word} fit: {}",
                    parts.into_iter().flatten().collect::<Vec<_>>().join("; ")
                )
            })
        }
        other => Some(format!("{place}: the schema uses {other}, which xtask/src/conforms.rs does not know")),
    }
}

fn has_type(value: &Value, name: &Value) -> bool {
    match name.as_str() {
        Some("null") => value.is_null(),
        Some("boolean") => value.is_boolean(),
        Some("integer") => value.is_i64() || value.is_u64(),
        Some("number") => value.is_number(),
        Some("string") => value.is_string(),
        Some("array") => value.is_array(),
        Some("object") => value.is_object(),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn each_word_lets_its_near_miss_through() {
        for (schema, good, bad) in [
            (json!({"type": ["integer", "null"]}), json!(1), json!("1")),
            (json!({"const": "Plan"}), json!("Plan"), json!("plan")),
            (json!({"enum": ["a", "b"]}), json!("b"), json!("c")),
            (json!({"minimum": 0, "maximum": 2}), json!(2), json!(3)),
            (json!({"minItems": 1, "maxItems": 1}), json!([1]), json!([1, 2])),
            (json!({"uniqueItems": true}), json!([1, 2]), json!([1, 1])),
            (json!({"required": ["a"]}), json!({"a": null}), json!({"b": 1})),
            (json!({"properties": {"a": {"type": "string"}}}), json!({"b": 1}), json!({"a": 1})),
            (
                json!({"properties": {"a": {}}, "additionalProperties": {"type": "null"}}),
                json!({"a": 1}),
                json!({"b": 1}),
            ),
            (json!({"items": {"type": "number"}}), json!([1.5]), json!(["1"])),
            (json!({"oneOf": [{"type": "number"}, {"type": "integer"}]}), json!(1.5), json!(1)),
            (json!({"anyOf": [{"type": "number"}, {"type": "integer"}]}), json!(1), json!("1")),
            (json!({"$ref": "#/$defs/A", "$defs": {"A": {"type": "null"}}}), json!(null), json!(0)),
            (json!({"pattern": "^sha256:[0-9a-f]{64}$"}), json!(rehome_model::Digest::zero()), json!("sha256:0")),
        ] {
            assert_eq!(reason_against(&schema, &schema, &good, "$"), None, "{schema}");
            assert!(reason_against(&schema, &schema, &bad, "$").is_some(), "{schema}");
        }
    }

    #[test]
    fn a_word_that_nobody_reads_is_refused() {
        let schema = json!({"multipleOf": 2});
        assert!(reason_against(&schema, &schema, &json!(2), "$").is_some_and(|why| why.contains("multipleOf")));
    }
}
