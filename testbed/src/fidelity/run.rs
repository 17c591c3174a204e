//! A run: so many clusters of a seed, both sides asked about each, differences collected, and the first of each kind
//! reduced to the least cluster that shows it.

use std::collections::BTreeMap;

use super::compare::{self, Difference, Kind};
use super::coverage::Coverage;
use super::generate::{self, Cluster};
use super::judge::{Judge, JudgeError};
use super::record::Recorded;
use super::shrink::shrink;

/// After so many steps of shrinking a difference is kept as it is: each step asks both sides.
const SHRINK_STEPS: usize = 3000;

/// What a run found.
#[derive(Debug, Default)]
pub struct Outcome {
    /// What was decided.
    pub coverage: Coverage,
    /// Clusters that were compared.
    pub clusters: usize,
    /// By kind of difference: how many, and the first.
    pub differences: BTreeMap<Kind, Found>,
}

/// Differences of one kind.
#[derive(Clone, Debug)]
pub struct Found {
    /// How many there are.
    pub count: usize,
    /// The first.
    pub first: Difference,
    /// The cluster of the first.
    pub cluster: Cluster,
}

/// The seed of one cluster of a run.
#[must_use]
pub fn seed_of(run: u64, index: u64) -> u64 {
    run.wrapping_mul(1_000_003).wrapping_add(index)
}

/// Compares so many clusters. `progress` is told how many are done and how many differences there are.
///
/// # Errors
/// One side has no answer.
pub fn run(
    seed: u64,
    clusters: u64,
    oracle: &mut dyn Judge,
    model: &mut dyn Judge,
    progress: &dyn Fn(usize, usize),
) -> Result<Outcome, JudgeError> {
    let mut outcome = Outcome::default();
    for index in 0..clusters {
        let cluster = generate::cluster(seed_of(seed, index));
        let answers = oracle.judge(&cluster)?;
        outcome.coverage.add(&answers);
        let said = model.judge(&cluster)?;
        for difference in answers.iter().zip(&said).flat_map(|(oracle, model)| compare::pod(oracle, model)) {
            outcome
                .differences
                .entry(difference.kind.clone())
                .and_modify(|found| found.count += 1)
                .or_insert_with(|| Found { count: 1, first: difference, cluster: cluster.clone() });
        }
        outcome.clusters += 1;
        progress(outcome.clusters, outcome.differences.values().map(|found| found.count).sum());
    }
    Ok(outcome)
}

/// Reduces a difference to the least cluster that shows one of its kind, with the oracle's answer.
///
/// # Errors
/// The oracle has no answer about the least cluster.
pub fn reduce(
    found: &Found,
    version: &str,
    oracle: &mut dyn Judge,
    model: &mut dyn Judge,
) -> Result<(Recorded, Vec<Difference>), JudgeError> {
    let kind = &found.first.kind;
    let mut steps = 0;
    let mut shows = |cluster: &Cluster| {
        steps += 1;
        steps <= SHRINK_STEPS && differences(cluster, oracle, model).iter().any(|shown| shown.is_like(&found.first))
    };
    let least = shrink(&found.cluster, &found.first.pod, &mut shows);
    let answers = oracle.judge(&least)?;
    let record = Recorded {
        about: format!("{kind:?}, found with seed {} ({})", found.cluster.seed, found.cluster.themes.join(", ")),
        pods: least.pods.clone(),
        objects: least.objects.clone(),
        answers: [(version.to_owned(), answers)].into(),
    };
    let shown = differences(&least, oracle, model);
    Ok((record, shown))
}

/// No differences where a side has no answer: what is left out then was needed.
fn differences(cluster: &Cluster, oracle: &mut dyn Judge, model: &mut dyn Judge) -> Vec<Difference> {
    let (Ok(answers), Ok(said)) = (oracle.judge(cluster), model.judge(cluster)) else { return vec![] };
    answers.iter().zip(&said).flat_map(|(oracle, model)| compare::pod(oracle, model)).collect()
}

#[cfg(test)]
mod tests {
    use super::super::verdict::{NodeVerdict, PodVerdict};
    use super::*;

    /// Scores each node by a number that depends on whether it has a label.
    struct Labels(i64);

    impl Judge for Labels {
        fn judge(&mut self, cluster: &Cluster) -> Result<Vec<PodVerdict>, JudgeError> {
            let nodes = cluster.objects.iter().filter(|object| object["kind"] == "Node").map(|node| {
                let score = if node["metadata"]["labels"]["pool"].is_null() { 0 } else { self.0 };
                let name = node["metadata"]["name"].as_str().unwrap_or_default().to_owned();
                let scores = [("NodeAffinity".to_owned(), score)].into();
                NodeVerdict { node: name, scores, total: score, ..NodeVerdict::default() }
            });
            let nodes: Vec<NodeVerdict> = nodes.collect();
            Ok(cluster
                .pods
                .iter()
                .map(|pod| PodVerdict { pod: pod.clone(), nodes: nodes.clone(), ..PodVerdict::default() })
                .collect())
        }
    }

    #[test]
    fn equal_judges_differ_in_nothing() {
        let outcome = run(1, 5, &mut Labels(3), &mut Labels(3), &|_, _| ()).unwrap();
        assert_eq!(outcome.clusters, 5);
        assert!(outcome.differences.is_empty());
    }

    #[test]
    fn a_difference_is_reduced_to_what_shows_it() {
        let outcome = run(1, 2, &mut Labels(3), &mut Labels(4), &|_, _| ()).unwrap();
        let found = &outcome.differences[&Kind::Score("NodeAffinity".to_owned())];
        let (record, shown) = reduce(found, "v1", &mut Labels(3), &mut Labels(4)).unwrap();
        assert_eq!(record.objects.len(), 1);
        assert_eq!(shown.len(), 1);
        assert_eq!(record.answers["v1"].len(), 1);
        assert_eq!(record.objects[0]["metadata"]["labels"].as_object().map(serde_json::Map::len), Some(1));
    }
}
