//! Our model of kube-scheduler against kube-scheduler's own packages: on clusters that once showed a difference, with the
//! answers that were recorded, and on random ones.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::path::Path;

use rehome_testbed::fidelity::judge::{KubeScheduler, OurModel, minor};
use rehome_testbed::fidelity::record::Recorded;
use rehome_testbed::fidelity::run;
use rehome_testbed::oracle::Version;

/// How many random clusters each version is asked about here; `cargo xtask fidelity` asks about more, and for coverage.
const CLUSTERS: u64 = 150;

fn version_of(recorded: &str) -> Version {
    Version::ALL.into_iter().find(|version| recorded.starts_with(&format!("v1.{}.", minor(*version).1))).unwrap()
}

#[test]
fn recorded_differences_stay_mended() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fidelity/found");
    let mut failed = vec![];
    let records = Recorded::read_all(&folder).unwrap();
    assert!(!records.is_empty(), "there is nothing in {}", folder.display());
    for (name, record) in records {
        for version in record.answers.keys() {
            let mut model = OurModel(minor(version_of(version)).0);
            for difference in record.differences(version, &mut model).unwrap() {
                failed.push(format!("{name} ({}): {difference}", record.about));
            }
        }
    }
    assert!(failed.is_empty(), "{}", failed.join("\n"));
}

fn random_clusters(version: Version) {
    let mut oracle = KubeScheduler::start(version).unwrap();
    let outcome = run::run(4, CLUSTERS, &mut oracle, &mut OurModel(minor(version).0), &|_, _| ()).unwrap();
    let found: Vec<String> =
        outcome.differences.values().map(|found| format!("seed {}: {}", found.cluster.seed, found.first)).collect();
    assert!(found.is_empty(), "{}", found.join("\n"));
}

#[test]
fn random_clusters_of_the_newest_minor_are_judged_alike() {
    random_clusters(Version::Newest);
}

#[test]
fn random_clusters_of_the_floor_are_judged_alike() {
    random_clusters(Version::Floor);
}
