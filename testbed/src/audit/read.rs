//! Reads an audit log line by line.

use std::io::{BufRead as _, BufReader};
use std::path::{Path, PathBuf};

use fs_err as fs;
use serde_json::Value;

use super::event::AuditEvent;

/// An audit log that cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum ReadError {
    /// The file cannot be read.
    #[error(transparent)]
    Io(#[from] std::io::Error),
    /// A line is no event.
    #[error("{file}, line {line}: {source}")]
    Line {
        /// The file.
        file: PathBuf,
        /// The line, counted from 1.
        line: usize,
        /// What is wrong.
        #[source]
        source: serde_json::Error,
    },
}

/// All events of a log, in the order in which the server answered. A last line without its end is still being written
/// and is left out.
///
/// # Errors
/// See [`ReadError`].
pub fn log(file: &Path) -> Result<Vec<AuditEvent>, ReadError> {
    let mut events = Vec::new();
    stream(file, |event| events.push(event))?;
    // The server writes a line when it has answered, from many threads: lines can stand a little out of order.
    events.sort_by_key(|event| event.stage_timestamp);
    Ok(events)
}

/// Calls `each` with every event of a log, in the order of the lines.
///
/// # Errors
/// See [`ReadError`].
pub fn stream(file: &Path, mut each: impl FnMut(AuditEvent)) -> Result<(), ReadError> {
    let mut reader = BufReader::new(fs::File::open(file)?);
    let mut text = String::new();
    for line in 1.. {
        text.clear();
        if reader.read_line(&mut text)? == 0 || !text.ends_with('\n') {
            break;
        }
        let mut event: AuditEvent =
            serde_json::from_str(&text).map_err(|source| ReadError::Line { file: file.to_owned(), line, source })?;
        // Half of a pod's JSON, and of no use to any check.
        for body in [&mut event.request_object, &mut event.response_object].into_iter().flatten() {
            if let Some(metadata) = body.get_mut("metadata").and_then(Value::as_object_mut) {
                metadata.remove("managedFields");
            }
        }
        each(event);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::audit::event::AuditRef;
    use rehome_model::Timestamp;

    fn line(id: &str, millis: i64) -> String {
        let at = Timestamp::from_millis(millis);
        let event = AuditEvent::new(id, "u", "patch", AuditRef::new("nodes", None, "n"), at).answer(at, 200, None);
        serde_json::to_string(&event).unwrap()
    }

    #[test]
    fn events_are_ordered_by_their_answer_and_a_torn_tail_is_left_out() {
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), format!("{}\n{}\n{{\"auditID\": \"c", line("b", 2), line("a", 1))).unwrap();
        let ids: Vec<_> = log(file.path()).unwrap().into_iter().map(|event| event.audit_id).collect();
        assert_eq!(ids, ["a", "b"]);
    }

    #[test]
    fn a_line_that_is_no_event_is_named() {
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), format!("{}\nnothing\n", line("a", 1))).unwrap();
        assert!(log(file.path()).unwrap_err().to_string().contains("line 2"));
    }
}
