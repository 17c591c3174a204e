//! From the text of a file to its values, as JSON: JSON (also several values one after the other) and multi-document YAML.
//!
//! Knows nothing of Kubernetes. A JSON text is split into its parts without building a tree of it, because a capture of
//! 30,000 pods is 200 MB.

use std::borrow::Cow;

use rehome_model::canonical::rewrite::{self, Everything};
use serde::{Deserialize, Deserializer};
use serde_json::value::RawValue;

use super::document;
use super::error::{Fault, Position};
use super::outer::Outer;

/// Nesting of a YAML document. Kubernetes objects nest to about 15 levels; the schema of a CustomResourceDefinition
/// reaches 60.
const YAML_DEPTH: usize = 128;
/// Nodes of one YAML document: the pods of the largest supported cluster (150,000, Kubernetes documentation,
/// "Considerations for large clusters") in one List, at about 300 nodes each.
const YAML_NODES: usize = 45_000_000;
/// Aliases in one YAML document. `kubectl` writes none, people write a few.
const YAML_ALIASES: usize = 1_000;
/// Events that aliases may be expanded to.
const YAML_REPLAYED: usize = 100_000;
/// Text in one YAML document: as much as fits into one file that `kubectl` would write for that List.
const YAML_BYTES: usize = 2 << 30;

/// A value with the place where it begins.
#[derive(Debug)]
pub(crate) struct Part<'t> {
    /// The line on which it begins, from one.
    pub(crate) line: usize,
    /// The value.
    pub(crate) body: Body<'t>,
}

/// A value as JSON that is known to be well-formed.
#[derive(Debug)]
pub(crate) enum Body<'t> {
    /// JSON as it stands in the file, and its outside; that is none if the fields that tell have other types.
    Json(&'t str, Option<Outer<'t>>),
    /// JSON that was YAML in the file.
    Yaml(String),
}

impl Body<'_> {
    /// The JSON.
    pub(crate) fn json(&self) -> &str {
        match self {
            Self::Json(text, _) => text,
            Self::Yaml(text) => text,
        }
    }

    /// Its `kind` if it is a document of rehome.
    pub(crate) fn document(&self) -> Option<Cow<'_, str>> {
        match self {
            Self::Json(_, outer) => {
                let outer = outer.as_ref()?;
                let ours = outer.api_version.as_ref()?.starts_with(document::GROUP);
                outer.kind.as_deref().filter(|_| ours).map(Cow::Borrowed)
            }
            Self::Yaml(text) => document::kind(text).map(Cow::Owned),
        }
    }
}

/// A fault with its place.
pub(crate) type Misread = (Fault, Option<Position>);

/// The bytes as text, without a byte order mark.
pub(crate) fn decode(bytes: &[u8]) -> Result<&str, Misread> {
    let text = std::str::from_utf8(bytes).map_err(|error| {
        let line = bytes[..error.valid_up_to()].iter().filter(|byte| **byte == b'\n').count() + 1;
        (Fault::NotUtf8 { byte: error.valid_up_to() }, Some(Position { line, column: 0 }))
    })?;
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    if text.trim().is_empty() {
        return Err((Fault::EmptyFile, None));
    }
    Ok(text)
}

/// Splits a text into its values.
pub(crate) fn parts(text: &str) -> Result<Vec<Part<'_>>, Misread> {
    if text.trim_start().starts_with(['{', '[']) { json(text) } else { yaml(text) }
}

fn json(text: &str) -> Result<Vec<Part<'_>>, Misread> {
    let mut parts = Vec::new();
    let (mut from, mut line) = (0, 1);
    loop {
        let begin = text.len() - text[from..].trim_ascii_start().len();
        line += newlines(&text[from..begin]);
        if begin == text.len() {
            return Ok(parts);
        }
        let (length, outer) = value(&text[begin..]).map_err(|error| {
            let (fault, at) = json_fault(&error);
            // Its position counts from the beginning of the value.
            let column = text[..begin].rsplit('\n').next().map_or(0, str::len);
            let shift = |at: Position| match at.line {
                1 => Position { line, column: at.column + column },
                below => Position { line: below + line - 1, column: at.column },
            };
            (fault, at.map(shift))
        })?;
        from = begin + length;
        parts.push(Part { line, body: Body::Json(&text[begin..from], outer) });
        line += newlines(&text[begin..from]);
    }
}

/// The length and the outside of the value at the beginning of a text.
fn value(text: &str) -> Result<(usize, Option<Outer<'_>>), serde_json::Error> {
    let mut stream = serde_json::Deserializer::from_str(text).into_iter::<Outer<'_>>();
    match stream.next() {
        Some(Ok(outer)) => return Ok((stream.byte_offset(), Some(outer))),
        Some(Err(error)) if !error.is_data() => return Err(error),
        _ => {}
    }
    let mut stream = serde_json::Deserializer::from_str(text).into_iter::<&RawValue>();
    match stream.next() {
        Some(Err(error)) => Err(error),
        _ => Ok((stream.byte_offset(), None)),
    }
}

/// How many lines end in a text.
pub(crate) fn newlines(text: &str) -> usize {
    text.bytes().filter(|byte| *byte == b'\n').count()
}

/// What a JSON error means.
pub(crate) fn json_fault(error: &serde_json::Error) -> Misread {
    let at = (error.line() > 0).then(|| Position { line: error.line(), column: error.column() });
    let text = error.to_string();
    let detail = text.rsplit_once(" at line ").map_or(text.as_str(), |(head, _)| head).to_owned();
    let fault = if error.is_eof() { Fault::Cut { detail } } else { Fault::Syntax { expected: "JSON", detail } };
    (fault, at)
}

fn yaml(text: &str) -> Result<Vec<Part<'_>>, Misread> {
    let mut parts = Vec::new();
    for (line, document) in documents(text) {
        if document.lines().all(|line| matches!(line.trim(), "" | "---" | "...") || line.trim_start().starts_with('#'))
        {
            continue;
        }
        let value = yaml_as_json(document)
            .map_err(|(fault, at)| (fault, at.map(|at| Position { line: at.line + line - 1, column: at.column })))?;
        if value != "null" {
            parts.push(Part { line, body: Body::Yaml(value) });
        }
    }
    if parts.is_empty() {
        return Err((Fault::EmptyFile, None));
    }
    Ok(parts)
}

/// The documents of a stream, each with its first line. A line that begins with `---` always begins a document, also
/// inside a block scalar. Source: YAML 1.2.2, §9.1.2 and rule `c-forbidden`.
fn documents(text: &str) -> Vec<(usize, &str)> {
    let mut documents = Vec::new();
    let (mut begin, mut begin_line, mut offset) = (0, 1, 0);
    for (index, line) in text.split_inclusive('\n').enumerate() {
        let bare = line.trim_end_matches(['\n', '\r']);
        let marker = bare.strip_prefix("---").is_some_and(|rest| rest.is_empty() || rest.starts_with([' ', '\t']));
        if marker && offset > begin {
            documents.push((begin_line, &text[begin..offset]));
            (begin, begin_line) = (offset, index + 1);
        }
        offset += line.len();
    }
    documents.push((begin_line, &text[begin..]));
    documents
}

/// A value of any format as JSON.
struct Json(String);

impl<'de> Deserialize<'de> for Json {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let mut json = String::new();
        rewrite::from(deserializer, &mut Everything, (), &mut json)?;
        Ok(Self(json))
    }
}

/// The JSON of one YAML document, written as it is read: no tree of the whole document is built.
fn yaml_as_json(document: &str) -> Result<String, Misread> {
    let options = serde_saphyr::options! {
        with_snippet: false,
        budget: serde_saphyr::budget! {
            max_events: YAML_NODES * 2,
            max_nodes: YAML_NODES,
            max_depth: YAML_DEPTH,
            max_aliases: YAML_ALIASES,
            max_total_scalar_bytes: YAML_BYTES,
        },
        alias_limits: serde_saphyr::alias_limits! { max_total_replayed_events: YAML_REPLAYED },
    };
    let json = serde_saphyr::from_str_with_options::<Json>(document, options);
    json.map(|Json(json)| json).map_err(|error| {
        use serde_saphyr::Error;
        let at = error.location().map(|location| Position {
            line: usize::try_from(location.line()).unwrap_or(usize::MAX),
            column: usize::try_from(location.column()).unwrap_or(usize::MAX),
        });
        let inner = match error.without_snippet() {
            Error::AliasError { error, .. } => error.without_snippet(),
            other => other,
        };
        // Its position counts from the beginning of the document, ours from that of the file.
        let detail = inner.to_string();
        let detail = detail.lines().next().unwrap_or_default();
        let detail = detail.split_once(" at line ").map_or(detail, |(head, _)| head).to_owned();
        let fault = match inner {
            Error::Eof { .. } => Fault::Cut { detail },
            Error::Budget { .. }
            | Error::AliasReplayLimitExceeded { .. }
            | Error::AliasExpansionLimitExceeded { .. }
            | Error::AliasReplayStackDepthExceeded { .. } => Fault::Limit { detail },
            _ => Fault::Syntax { expected: "YAML", detail },
        };
        (fault, at)
    })
}
