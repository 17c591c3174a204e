//! Reads one of rehome's own documents from a file, in JSON or YAML.

use std::path::Path;

use rehome_model::document::{self, Document, Loaded};
use serde_json::Value;

use super::error::{Fault, Position, ReadError};
use super::outer::Head;
use super::text;

/// The group of rehome's own documents.
pub(crate) const GROUP: &str = "rehome.dev/";

/// Reads a document with the digest over all that it holds.
///
/// # Errors
/// See [`ReadError`].
pub fn read<D: Document>(file: &Path) -> Result<Loaded<D>, ReadError> {
    let value = value(file)?;
    document::from_value(value).map_err(|error| Fault::from(error).at(file, None))
}

/// The generic value of a file that holds one document.
///
/// # Errors
/// See [`ReadError`].
pub fn value(file: &Path) -> Result<Value, ReadError> {
    let bytes = fs_err::read(file).map_err(|error| super::io(file, error))?;
    let text = text::decode(&bytes).map_err(|(fault, at)| fault.at(file, at))?;
    let mut parts = text::parts(text).map_err(|(fault, at)| fault.at(file, at))?.into_iter();
    match (parts.next(), parts.next()) {
        (Some(part), None) => serde_json::from_str(part.body.json()).map_err(|error| {
            let (fault, at) = text::json_fault(&error);
            fault.at(file, at)
        }),
        (Some(_), Some(second)) => Err(Fault::NotAnObject { found: "several documents in one file".to_owned() }
            .at(file, Some(Position { line: second.line, column: 0 }))),
        (None, _) => Err(Fault::EmptyFile.at(file, None)),
    }
}

/// The `kind` of a document of rehome; none for anything else.
#[must_use]
pub fn kind(json: &str) -> Option<String> {
    let head = Head::of(json)?;
    head.api_version.starts_with(GROUP).then(|| head.kind.into_owned())
}
