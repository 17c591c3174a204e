//! Records clusters with the answers of kube-scheduler's own packages, of both versions, until each wrong rule is caught by
//! several of them. `cargo xtask fidelity --record` runs it.

use std::collections::BTreeMap;
use std::process::ExitCode;

use rehome_k8s::mutant::Mutant;
use rehome_mutants::recording::{self, RecordingError};
use rehome_mutants::{caught, differences};
use rehome_testbed::fidelity::generate;
use rehome_testbed::fidelity::judge::{Judge as _, JudgeError, KubeScheduler};
use rehome_testbed::fidelity::record::Recorded;
use rehome_testbed::fidelity::run::seed_of;
use rehome_testbed::oracle::Version;

/// How it is called.
const USAGE: &str = "usage: record [--clusters N] [--seed S]";
/// How many random clusters are looked at, at most.
const CLUSTERS: u64 = 3000;
/// By how many clusters each wrong rule should be caught.
const WANTED: usize = 4;

#[derive(Debug, thiserror::Error)]
enum RecordError {
    #[error(transparent)]
    Judge(#[from] JudgeError),
    #[error(transparent)]
    Recording(#[from] RecordingError),
}

#[expect(clippy::print_stderr, reason = "a program: stdout is the result, stderr is progress")]
fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let Some((clusters, seed)) = parse(&arguments) else {
        eprintln!("{USAGE}");
        return ExitCode::from(2);
    };
    match record(clusters, seed) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}

fn parse(arguments: &[String]) -> Option<(u64, u64)> {
    let (mut clusters, mut seed) = (CLUSTERS, 1);
    let mut rest = arguments.iter();
    while let Some(argument) = rest.next() {
        match argument.as_str() {
            "--clusters" => clusters = rest.next()?.parse().ok()?,
            "--seed" => seed = rest.next()?.parse().ok()?,
            _ => return None,
        }
    }
    Some((clusters, seed))
}

/// Whether every wrong rule was caught by some cluster.
#[expect(clippy::print_stdout, clippy::print_stderr, reason = "a program: stdout is the result, stderr is progress")]
fn record(clusters: u64, seed: u64) -> Result<bool, RecordError> {
    let mut oracles = Vec::new();
    for version in Version::ALL {
        oracles.push(KubeScheduler::start(version).map_err(JudgeError::from)?);
    }
    let mut kept = Vec::new();
    let mut counts: BTreeMap<Mutant, usize> = Mutant::ALL.iter().map(|mutant| (*mutant, 0)).collect();
    for index in 0..clusters {
        let missing: Vec<Mutant> =
            counts.iter().filter(|(_, count)| **count < WANTED).map(|(mutant, _)| *mutant).collect();
        if missing.is_empty() {
            break;
        }
        let cluster = generate::cluster(seed_of(seed, index));
        let mut answers = BTreeMap::new();
        for oracle in &mut oracles {
            let said = oracle.judge(&cluster)?;
            answers.insert(oracle.version.clone(), said);
        }
        let recorded = Recorded {
            about: format!("seed {} ({})", cluster.seed, cluster.themes.join(", ")),
            pods: cluster.pods.clone(),
            objects: cluster.objects.clone(),
            answers,
        };
        if let Some(difference) = differences(&recorded, None)?.first() {
            // What the model does wrong anyway is not what is recorded here.
            eprintln!("{}: left out: {difference}", recorded.about);
            continue;
        }
        let catches: Vec<Mutant> = missing.into_iter().filter(|mutant| caught(&recorded, *mutant)).collect();
        if !catches.is_empty() {
            for mutant in catches {
                *counts.entry(mutant).or_default() += 1;
            }
            kept.push(recorded);
        }
        if (index + 1).is_multiple_of(100) {
            let alive = counts.values().filter(|count| **count == 0).count();
            eprintln!("{} clusters, {} kept, {alive} wrong rules not caught", index + 1, kept.len());
        }
    }
    recording::write(&recording::file(), &kept)?;
    for (mutant, count) in &counts {
        println!("{count:>4}  {mutant:?}:{}", mutant.words());
    }
    println!("{} clusters in {}", kept.len(), recording::file().display());
    Ok(counts.values().all(|count| *count > 0))
}
