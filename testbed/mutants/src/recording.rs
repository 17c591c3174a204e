//! Clusters with answers, in one compressed file: a line of JSON for each.

use std::io::{BufRead as _, BufReader, Write as _};
use std::path::{Path, PathBuf};

use flate2::Compression;
use flate2::read::GzDecoder;
use flate2::write::GzEncoder;
use fs_err as fs;
use rehome_testbed::fidelity::record::Recorded;

/// The recording cannot be read or written.
#[derive(Debug, thiserror::Error)]
pub enum RecordingError {
    /// The file.
    #[error(transparent)]
    Io(#[from] std::io::Error),
    /// A line of it.
    #[error("expected a recorded cluster in line {line}: {source}")]
    Malformed {
        /// Counted from 1.
        line: usize,
        /// What is wrong.
        source: serde_json::Error,
    },
}

/// Where the recording is.
#[must_use]
pub fn file() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("recorded.jsonl.gz")
}

/// Reads a recording.
///
/// # Errors
/// See [`RecordingError`].
pub fn read(file: &Path) -> Result<Vec<Recorded>, RecordingError> {
    let lines = BufReader::new(GzDecoder::new(fs::File::open(file)?)).lines();
    let mut clusters = Vec::new();
    for (index, line) in lines.enumerate() {
        let cluster =
            serde_json::from_str(&line?).map_err(|source| RecordingError::Malformed { line: index + 1, source })?;
        clusters.push(cluster);
    }
    Ok(clusters)
}

/// Writes a recording.
///
/// # Errors
/// See [`RecordingError`].
pub fn write(file: &Path, clusters: &[Recorded]) -> Result<(), RecordingError> {
    let mut encoder = GzEncoder::new(fs::File::create(file)?, Compression::best());
    for (index, cluster) in clusters.iter().enumerate() {
        let malformed = |source| RecordingError::Malformed { line: index + 1, source };
        let line = serde_json::to_string(cluster).map_err(malformed)?;
        writeln!(encoder, "{line}")?;
    }
    encoder.finish()?;
    Ok(())
}
