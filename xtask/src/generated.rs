//! `cargo xtask gen`: writes what is made from the code, and with `--check` says what differs from it.
//!
//! Made from the code are the schemas, and the digests of the corpus. A digest that is already written is never
//! changed: the corpus is there to show that documents of earlier releases keep theirs.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use rehome_model::Digest;
use serde_json::Value;

use crate::complaint::Complaint;
use crate::conforms;
use crate::schemas;
use crate::workspace::WorkspaceError;

/// The folder of the schemas.
const SCHEMAS: &str = "schemas";
/// The folder of the corpus.
const CORPUS: &str = "corpus/v1alpha1";
/// The file of its digests.
const DIGESTS: &str = "corpus/v1alpha1/digests.txt";

/// What all generated files should hold, by path from the root.
///
/// # Errors
/// Fails when the corpus cannot be read.
pub(crate) fn expected(root: &Path) -> Result<BTreeMap<String, String>, WorkspaceError> {
    let mut files: BTreeMap<String, String> =
        schemas::all().iter().map(|(name, schema)| (format!("{SCHEMAS}/{name}"), schemas::pretty(schema))).collect();
    let written = fs_err::read_to_string(root.join(DIGESTS)).unwrap_or_default();
    let mut lines: Vec<String> = written.lines().map(str::to_owned).collect();
    for (name, text) in corpus(root)? {
        if !lines.iter().any(|line| line.split_whitespace().nth(1) == Some(name.as_str())) {
            lines.push(format!("{}  {name}", digest(&name, &text)?));
        }
    }
    lines.sort_by(|a, b| a.split_whitespace().nth(1).cmp(&b.split_whitespace().nth(1)));
    files.insert(DIGESTS.to_owned(), lines.iter().map(|line| format!("{line}\n")).collect());
    Ok(files)
}

/// Writes all files that differ, removes schemas of kinds that no longer are, and says which.
///
/// # Errors
/// Fails when a file cannot be read or written.
pub(crate) fn write(root: &Path) -> Result<Vec<String>, WorkspaceError> {
    let mut changed = Vec::new();
    for (path, text) in expected(root)? {
        let file = root.join(&path);
        if fs_err::read_to_string(&file).ok().as_ref() != Some(&text) {
            if let Some(folder) = file.parent() {
                fs_err::create_dir_all(folder)?;
            }
            fs_err::write(&file, text)?;
            changed.push(format!("wrote {path}"));
        }
    }
    for path in stray(root)? {
        fs_err::remove_file(root.join(&path))?;
        changed.push(format!("removed {path}"));
    }
    Ok(changed)
}

/// Says what differs, and what the corpus lacks.
///
/// # Errors
/// Fails when a file cannot be read.
pub(crate) fn check(root: &Path) -> Result<Vec<Complaint>, WorkspaceError> {
    let mut found = Vec::new();
    for (path, text) in expected(root)? {
        match fs_err::read_to_string(root.join(&path)) {
            Ok(written) if written == text => {}
            Ok(_) => found.push(Complaint::about(path, "differs from the code: run `cargo xtask gen`")),
            Err(_) => found.push(Complaint::about(path, "is missing: run `cargo xtask gen`")),
        }
    }
    for path in stray(root)? {
        found.push(Complaint::about(path, "belongs to no document kind: run `cargo xtask gen`"));
    }
    let made = schemas::all();
    for (name, text) in corpus(root)? {
        let kind = name.split(['.', '-']).next().unwrap_or_default();
        let Some(schema) = made.get(&format!("{kind}.json")) else {
            found.push(Complaint::about(format!("{CORPUS}/{name}"), "expected the name of a kind at its beginning"));
            continue;
        };
        for (index, value) in values(&name, &text)?.iter().enumerate() {
            if let Some(reason) = conforms::reason_against(schema, schema, value, "$") {
                let message = format!("does not conform to {SCHEMAS}/{kind}.json: {reason}");
                found.push(Complaint::at(format!("{CORPUS}/{name}"), index + 1, message));
            }
        }
    }
    for (name, word) in lacking(root)? {
        let message = format!("expected an example of {name}: {word}; add one to a new file, never to an old one");
        found.push(Complaint::about(CORPUS, message));
    }
    Ok(found)
}

/// The tagged variants that no document of the corpus has.
///
/// # Errors
/// Fails when the corpus cannot be read.
pub(crate) fn lacking(root: &Path) -> Result<BTreeSet<(String, String)>, WorkspaceError> {
    let mut tags = schemas::tags(&schemas::all());
    for (name, text) in corpus(root)? {
        for value in values(&name, &text)? {
            schemas::collect(&value, &mut |object| {
                for (key, value) in object {
                    if let Some(word) = value.as_str() {
                        tags.remove(&(key.clone(), word.to_owned()));
                    }
                }
            });
        }
    }
    Ok(tags)
}

/// Schemas that nobody makes any more.
fn stray(root: &Path) -> Result<Vec<String>, WorkspaceError> {
    let made = schemas::all();
    let Ok(entries) = fs_err::read_dir(root.join(SCHEMAS)) else { return Ok(Vec::new()) };
    let mut found = Vec::new();
    for entry in entries {
        let name = entry?.file_name().to_string_lossy().into_owned();
        if !made.contains_key(&name) {
            found.push(format!("{SCHEMAS}/{name}"));
        }
    }
    found.sort();
    Ok(found)
}

/// The documents of the corpus by file name.
fn corpus(root: &Path) -> Result<BTreeMap<String, String>, WorkspaceError> {
    let mut files = BTreeMap::new();
    for entry in fs_err::read_dir(root.join(CORPUS))? {
        let path = entry?.path();
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        if name.ends_with(".json") || name.ends_with(".jsonl") {
            files.insert(name, fs_err::read_to_string(&path)?);
        }
    }
    Ok(files)
}

/// The values of one file: one, or one for each line.
fn values(name: &str, text: &str) -> Result<Vec<Value>, serde_json::Error> {
    if name.ends_with(".jsonl") {
        text.lines().map(serde_json::from_str).collect()
    } else {
        Ok(vec![serde_json::from_str(text)?])
    }
}

/// The digest of a file: that of its document; of its last line where it is a chain.
fn digest(name: &str, text: &str) -> Result<Digest, WorkspaceError> {
    Ok(Digest::of(&values(name, text)?.pop())?)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workspace::root;

    #[test]
    fn generated_files_are_what_the_code_makes() {
        let found = check(&root()).unwrap();
        assert_eq!(found, [], "run `cargo xtask gen`");
    }
}
