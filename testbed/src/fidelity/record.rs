//! Clusters with the oracle's answers, as files: a test asks the model again and needs no Go.

use std::collections::BTreeMap;
use std::path::Path;

use fs_err as fs;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::compare::{self, Difference};
use super::generate::Cluster;
use super::judge::{Judge, JudgeError};
use super::verdict::PodVerdict;

/// A cluster and what was answered about it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Recorded {
    /// What it is about, in one line.
    pub about: String,
    /// The pods to judge.
    pub pods: Vec<String>,
    /// The cluster.
    pub objects: Vec<Value>,
    /// Kubernetes' answers, by version.
    pub answers: BTreeMap<String, Vec<PodVerdict>>,
}

/// A record that cannot be read or written.
#[derive(Debug, thiserror::Error)]
pub enum RecordError {
    /// The file.
    #[error(transparent)]
    Io(#[from] std::io::Error),
    /// Its content.
    #[error("{file}: expected a recorded cluster: {source}")]
    Malformed {
        /// The file.
        file: String,
        /// What is wrong.
        source: serde_json::Error,
    },
}

impl Recorded {
    /// Its cluster.
    #[must_use]
    pub fn cluster(&self) -> Cluster {
        Cluster { seed: 0, themes: vec![], objects: self.objects.clone(), pods: self.pods.clone() }
    }

    /// What a model says differently from the recorded answer of this version.
    ///
    /// # Errors
    /// The model cannot read the cluster.
    pub fn differences(&self, version: &str, model: &mut dyn Judge) -> Result<Vec<Difference>, JudgeError> {
        let Some(answers) = self.answers.get(version) else { return Ok(vec![]) };
        let said = model.judge(&self.cluster())?;
        Ok(answers.iter().zip(&said).flat_map(|(oracle, model)| compare::pod(oracle, model)).collect())
    }

    /// Writes it to `<folder>/<name>.json`.
    ///
    /// # Errors
    /// See [`RecordError`].
    pub fn write(&self, folder: &Path, name: &str) -> Result<(), RecordError> {
        fs::create_dir_all(folder)?;
        let file = folder.join(format!("{name}.json"));
        let malformed = |source| RecordError::Malformed { file: file.display().to_string(), source };
        let mut text = serde_json::to_string_pretty(self).map_err(malformed)?;
        text.push('\n');
        Ok(fs::write(&file, text)?)
    }

    /// All records of a folder, by name; none if there is no folder.
    ///
    /// # Errors
    /// See [`RecordError`].
    pub fn read_all(folder: &Path) -> Result<BTreeMap<String, Self>, RecordError> {
        let mut records = BTreeMap::new();
        if !folder.is_dir() {
            return Ok(records);
        }
        for entry in fs::read_dir(folder)? {
            let path = entry?.path();
            let (Some(name), true) = (path.file_stem(), path.extension().is_some_and(|ending| ending == "json")) else {
                continue;
            };
            let record = serde_json::from_str(&fs::read_to_string(&path)?)
                .map_err(|source| RecordError::Malformed { file: path.display().to_string(), source })?;
            records.insert(name.to_string_lossy().into_owned(), record);
        }
        Ok(records)
    }
}
