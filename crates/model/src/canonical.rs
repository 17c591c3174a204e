//! Canonical JSON: one spelling for each value, so that a digest names a value and not a spelling.
//!
//! Keys are sorted by their UTF-8 bytes, there is no white space, strings escape only what JSON requires, and numbers
//! are written as `serde_json` writes them. The rules are those of RFC 8785 except for numbers: our documents hold
//! integers and short decimals only, which both spell alike.

use serde::Serialize;
use serde_json::Value;

pub mod rewrite;

/// The canonical JSON text of a value.
///
/// # Errors
/// Fails when the value cannot be represented as JSON (a map with keys that are not text).
pub fn to_string<T: Serialize>(value: &T) -> Result<String, serde_json::Error> {
    let value = serde_json::to_value(value)?;
    let mut text = String::new();
    write(&value, &mut text);
    Ok(text)
}

/// Appends the canonical JSON text of `value` to `out`.
pub fn write(value: &Value, out: &mut String) {
    match value {
        Value::Object(map) => {
            // Sorted here and not left to serde_json, whose map keeps insertion order under the feature
            // `preserve_order`, which any crate of a build may switch on.
            let mut keys: Vec<&String> = map.keys().collect();
            keys.sort_unstable();
            out.push('{');
            for (index, key) in keys.into_iter().enumerate() {
                if index > 0 {
                    out.push(',');
                }
                out.push_str(&Value::String(key.clone()).to_string());
                out.push(':');
                write(&map[key], out);
            }
            out.push('}');
        }
        Value::Array(items) => {
            out.push('[');
            for (index, item) in items.iter().enumerate() {
                if index > 0 {
                    out.push(',');
                }
                write(item, out);
            }
            out.push(']');
        }
        scalar => out.push_str(&scalar.to_string()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn keys_are_sorted_at_every_depth_and_nothing_is_padded() {
        let text = to_string(&json!({"b": [1, {"z": null, "a": "ü\n"}], "a": true})).unwrap();
        assert_eq!(text, r#"{"a":true,"b":[1,{"a":"ü\n","z":null}]}"#);
    }
}
