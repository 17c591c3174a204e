//! Objects come from clusters and files that may mean harm: what they hold is printed on terminals, and their names are
//! part of commands that a person is told to run.

use std::borrow::Cow;

use serde_json::Value;

use super::BadField;

/// Whether a character can move the cursor, change colours, or turn the direction of writing.
fn unprintable(c: char) -> bool {
    let turns = matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{200e}' | '\u{200f}');
    turns || c.is_control() && !matches!(c, '\n' | '\t')
}

/// The JSON text with every unprintable character in its strings replaced.
pub(super) fn printable(json: &str) -> Cow<'_, str> {
    // JSON writes control characters as escapes; a quick look spares nearly every object the walk.
    let plain = |byte: u8| (b' '..0x7f).contains(&byte) || byte == b'\n' || byte == b'\t';
    let (ascii, escaped) =
        json.bytes().fold((true, false), |(ascii, escaped), byte| (ascii & plain(byte), escaped | (byte == b'\\')));
    let suspicious = escaped && ["\\u00", "\\u20", "\\b", "\\f", "\\r"].iter().any(|escape| json.contains(escape));
    if !suspicious && (ascii || !json.chars().any(unprintable)) {
        return Cow::Borrowed(json);
    }
    let Ok(mut value) = serde_json::from_str::<Value>(json) else { return Cow::Borrowed(json) };
    clean(&mut value);
    Cow::Owned(value.to_string())
}

fn clean(value: &mut Value) {
    match value {
        Value::String(text) => *text = replaced(text),
        Value::Array(items) => items.iter_mut().for_each(clean),
        Value::Object(map) => {
            map.values_mut().for_each(clean);
            let bad: Vec<String> = map.keys().filter(|key| key.chars().any(unprintable)).cloned().collect();
            for key in bad {
                if let Some(value) = map.remove(&key) {
                    map.insert(replaced(&key), value);
                }
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

fn replaced(text: &str) -> String {
    text.chars().map(|c| if unprintable(c) { char::REPLACEMENT_CHARACTER } else { c }).collect()
}

/// A sentence on one line.
pub(crate) fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Refuses a name that the API server would not have accepted.
///
/// All kinds that are read here are named by DNS subdomains, some with colons (`system:…`) or capitals in old dumps;
/// none has white space, quotes, or anything else that a shell reads.
pub(super) fn name(field: &str, text: &str) -> Result<(), BadField> {
    let good = text.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '-' | '.' | ':' | '_'));
    if good && text.len() <= 253 && !text.starts_with('-') {
        Ok(())
    } else {
        Err(BadField::new(field, "a name of letters, digits, dashes and dots", text))
    }
}

#[cfg(test)]
mod tests {
    use crate::Record;
    use crate::ingest::object;

    fn pod(name: &str, message: &str) -> String {
        serde_json::json!({
            "apiVersion": "v1", "kind": "Pod", "metadata": {"name": name, "namespace": "x"},
            "status": {"conditions": [{"type": "PodScheduled", "status": "False", "message": message}]},
        })
        .to_string()
    }

    #[test]
    fn a_name_that_a_shell_would_read_is_refused_and_shown_escaped() {
        for name in ["a; rm -rf ~", "a\u{1b}[2J", "a\nb", "$(id)", "-o"] {
            let error = object(&pod(name, "")).unwrap_err().to_string();
            assert!(
                error.contains("a name of letters") && !error.contains('\u{1b}') && !error.contains('\n'),
                "{error}"
            );
        }
        assert!(object(&pod("web-7d9f.x", "")).is_ok());
    }

    #[test]
    fn a_message_reaches_a_terminal_without_escapes_and_on_one_line() {
        let Ok(Some(Record::Pod(pod))) = object(&pod("a", "0/1 nodes\u{1b}[2J\nAll good\u{202e}")) else { panic!() };
        assert_eq!(pod.unschedulable.as_deref(), Some("0/1 nodes\u{fffd}[2J All good\u{fffd}"));
    }
}
