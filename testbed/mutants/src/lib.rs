//! Whether a wrong rule of the scheduler's model would be noticed: recorded answers of kube-scheduler's own packages, and
//! the model asked again with one rule made wrong.
//!
//! The recording holds whole clusters, so that a test needs neither Go nor the generator's next version. It is empty
//! without the feature `mutants`.
#![cfg(feature = "mutants")]

pub mod recording;

use rehome_k8s::mutant::{self, Mutant};
use rehome_testbed::fidelity::compare::Difference;
use rehome_testbed::fidelity::judge::{JudgeError, OurModel, minor};
use rehome_testbed::fidelity::record::Recorded;
use rehome_testbed::oracle::Version;

/// What the model says differently from a recording, at any version, with a rule made wrong, or with none.
///
/// # Errors
/// The model cannot read the cluster.
pub fn differences(recorded: &Recorded, wrong: Option<Mutant>) -> Result<Vec<Difference>, JudgeError> {
    let mut found = Vec::new();
    for version in Version::ALL {
        let (minor, number) = minor(version);
        let of_minor = |answered: &&String| answered.starts_with(&format!("v1.{number}."));
        for answered in recorded.answers.keys().filter(of_minor) {
            found.extend(mutant::with(wrong, || recorded.differences(answered, &mut OurModel(minor)))?);
        }
    }
    Ok(found)
}

/// Whether a cluster shows that a rule is wrong. A model that cannot read it any more shows it, too.
#[must_use]
pub fn caught(recorded: &Recorded, wrong: Mutant) -> bool {
    differences(recorded, Some(wrong)).map_or(true, |found| !found.is_empty())
}
