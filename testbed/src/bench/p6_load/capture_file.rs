//! Writes the whole cluster to a file as kubectl and the API server do: one List, keys sorted, `kind` after `items`.
//!
//! Two spellings: kubectl's own (four spaces to a level, no managedFields), and the API server's (no white space, with
//! managedFields as long as real ones are).

use std::io::{self, Write};

use serde_json::{Map, Value, json};

/// How the file is spelt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Spelling {
    /// `kubectl get … -o json`.
    Kubectl,
    /// `kubectl get … -o json --show-managed-fields | jq -c`, and what the API server itself writes.
    Compact,
    /// `kubectl get … -o yaml`.
    Yaml,
}

/// Writes a List of objects. `lean` pares pods and templates: then 30,000 pods and all else are about the 200 MB
/// of the issue.
///
/// # Errors
/// The file cannot be written.
pub fn write(objects: Vec<Value>, spelling: Spelling, lean: bool, out: &mut impl Write) -> io::Result<()> {
    match spelling {
        Spelling::Kubectl => out.write_all(b"{\n    \"apiVersion\": \"v1\",\n    \"items\": [")?,
        Spelling::Compact => out.write_all(br#"{"apiVersion":"v1","items":["#)?,
        Spelling::Yaml => out.write_all(b"apiVersion: v1\nitems:\n")?,
    }
    let mut text = Vec::new();
    for (index, mut object) in objects.into_iter().enumerate() {
        if lean {
            pare(&mut object);
        }
        text.clear();
        let comma: &[u8] = if index > 0 { b"," } else { b"" };
        match spelling {
            Spelling::Kubectl => {
                let formatter = serde_json::ser::PrettyFormatter::with_indent(b"    ");
                serde::Serialize::serialize(
                    &sorted(object),
                    &mut serde_json::Serializer::with_formatter(&mut text, formatter),
                )?;
                out.write_all(comma)?;
                for line in text.split(|byte| *byte == b'\n') {
                    out.write_all(b"\n        ")?;
                    out.write_all(line)?;
                }
            }
            Spelling::Compact => {
                add_managed_fields(&mut object);
                serde_json::to_writer(&mut text, &sorted(object))?;
                out.write_all(comma)?;
                out.write_all(&text)?;
            }
            Spelling::Yaml => {
                let yaml = serde_saphyr::to_string(&sorted(object)).map_err(io::Error::other)?;
                for (index, line) in yaml.lines().enumerate() {
                    out.write_all(if index == 0 { b"- " } else { b"  " })?;
                    out.write_all(line.as_bytes())?;
                    out.write_all(b"\n")?;
                }
            }
        }
    }
    out.write_all(match spelling {
        Spelling::Kubectl => {
            b"\n    ],\n    \"kind\": \"List\",\n    \"metadata\": {\n        \"resourceVersion\": \"\"\n    }\n}\n"
        }
        Spelling::Compact => b"],\"kind\":\"List\",\"metadata\":{\"resourceVersion\":\"\"}}\n",
        Spelling::Yaml => b"kind: List\nmetadata:\n  resourceVersion: \"\"\n",
    })
}

/// One container with four variables instead of two with eight.
fn pare(value: &mut Value) {
    match value {
        Value::Object(fields) => {
            for (name, value) in fields.iter_mut() {
                if let Value::Array(items) = value {
                    match name.as_str() {
                        "containers" | "containerStatuses" => items.truncate(1),
                        "env" => items.truncate(4),
                        _ => {}
                    }
                }
                pare(value);
            }
        }
        Value::Array(items) => items.iter_mut().for_each(pare),
        _ => {}
    }
}

/// The same value with its keys in alphabetical order, as Go writes maps.
fn sorted(value: Value) -> Value {
    match value {
        Value::Object(fields) => {
            let mut fields: Vec<(String, Value)> = fields.into_iter().collect();
            fields.sort_by(|(a, _), (b, _)| a.cmp(b));
            Value::Object(fields.into_iter().map(|(name, value)| (name, sorted(value))).collect())
        }
        Value::Array(items) => Value::Array(items.into_iter().map(sorted).collect()),
        scalar => scalar,
    }
}

/// Says who wrote which field: the controller the metadata and the spec, the kubelet the status.
fn add_managed_fields(object: &mut Value) {
    let entry = |manager: &str, parts: &[&str], subresource: Option<&str>| {
        let owned = parts.iter().filter_map(|part| Some((format!("f:{part}"), fields(object.get(*part)?))));
        let mut entry = json!({
            "apiVersion": object["apiVersion"], "fieldsType": "FieldsV1", "fieldsV1": owned.collect::<Map<_, _>>(),
            "manager": manager, "operation": "Update", "time": "2026-01-01T00:00:00Z",
        });
        if let Some(subresource) = subresource {
            entry["subresource"] = subresource.into();
        }
        entry
    };
    let entries = json!([
        entry("kube-controller-manager", &["metadata", "spec"], None),
        entry("kubelet", &["status"], Some("status")),
    ]);
    object["metadata"]["managedFields"] = entries;
}

/// The set of fields of a value. Source: Kubernetes documentation, "Server-Side Apply", the format of `fieldsV1`:
/// `f:` a field, `k:` an item of a list by its key, and `.` the field itself.
fn fields(value: &Value) -> Value {
    match value {
        Value::Object(members) => {
            let mut set: Map<_, _> = [(".".to_owned(), json!({}))].into_iter().collect();
            set.extend(members.iter().map(|(name, value)| (format!("f:{name}"), fields(value))));
            Value::Object(set)
        }
        Value::Array(items) => {
            let key = |item: &Value| ["name", "type", "uid"].into_iter().find(|key| item.get(*key).is_some());
            let keyed = items.iter().filter_map(|item| {
                let key = key(item)?;
                Some((format!("k:{}", json!({key: item[key]})), fields(item)))
            });
            Value::Object(keyed.collect())
        }
        _ => json!({}),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bench::whole;

    fn text(size: whole::Size, spelling: Spelling) -> String {
        let mut out = Vec::new();
        write(whole::objects(size), spelling, true, &mut out).unwrap();
        String::from_utf8(out).unwrap()
    }

    const SMALL: whole::Size = whole::Size { nodes: 6, occupied: 6 };

    #[test]
    fn the_same_size_gives_the_same_bytes_and_every_spelling_the_same_cluster() {
        let count = whole::objects(SMALL).len();
        let mut views = Vec::new();
        for spelling in [Spelling::Kubectl, Spelling::Compact, Spelling::Yaml] {
            let text = text(SMALL, spelling);
            assert_eq!(text, self::text(SMALL, spelling), "{spelling:?}");
            let loaded = rehome_run::read::bytes(std::path::Path::new("generated"), text.as_bytes()).unwrap();
            assert_eq!(loaded.snapshot.objects.len(), count, "{spelling:?}");
            views.push(loaded.view.pods().cloned().collect::<Vec<_>>());
        }
        // Only the compact spelling says who manages a pod.
        assert_eq!(views[0], views[2]);
        assert_eq!(views[0].len(), views[1].len());
        assert!(views[1].iter().all(|pod| pod.meta.managers == ["kube-controller-manager", "kubelet"]));
    }

    #[test]
    fn a_pod_is_as_long_as_real_ones_and_kubectl_puts_the_kind_last() {
        let objects = whole::objects(SMALL);
        let pods = objects.iter().filter(|object| object["kind"] == "Pod").count();
        for (spelling, range) in [(Spelling::Kubectl, 6_000..12_000), (Spelling::Compact, 5_500..8_000)] {
            let text = text(SMALL, spelling);
            let mean = text.len() / pods;
            assert!(range.contains(&mean), "{spelling:?}: {mean} bytes to a pod, everything else shared out");
            assert!(text.find("\"items\"") < text.rfind("\"List\""));
        }
    }
}
