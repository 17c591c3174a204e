//! Compares our model of kube-scheduler with kube-scheduler's own packages on random clusters, at the newest minor and at
//! the floor. `cargo xtask fidelity` runs it. Differences are reduced and written to `tests/fidelity/found/`.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use rehome_testbed::fidelity::judge::{Judge as _, JudgeError, KubeScheduler, OurModel, minor};
use rehome_testbed::fidelity::record::{RecordError, Recorded};
use rehome_testbed::fidelity::run::{self, Outcome};
use rehome_testbed::oracle::Version;

/// How it is called.
const USAGE: &str = "\
usage: fidelity [--clusters N] [--seed S] [--no-coverage]
       fidelity --record    asks kube-scheduler anew about the clusters in tests/fidelity/found";
/// As many clusters as the proof of the model wants.
const CLUSTERS: u64 = 2000;
/// How many clusters lie between two lines of progress.
const PROGRESS: usize = 200;
/// At most so many kinds of differences are reduced for each minor.
const REDUCED: usize = 12;

/// What is asked for.
#[derive(Clone, Copy)]
struct Wish {
    clusters: u64,
    seed: u64,
    coverage: bool,
}

#[derive(Debug, thiserror::Error)]
enum FidelityError {
    #[error(transparent)]
    Judge(#[from] JudgeError),
    #[error(transparent)]
    Record(#[from] RecordError),
    #[error("a thread ended without an answer")]
    Thread,
}

#[expect(clippy::print_stderr, reason = "a program: stdout is the result, stderr is progress")]
fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    if arguments == ["--record"] {
        return match record_anew() {
            Ok(()) => ExitCode::SUCCESS,
            Err(error) => {
                eprintln!("error: {error}");
                ExitCode::FAILURE
            }
        };
    }
    let Some(wish) = parse(&arguments) else {
        eprintln!("{USAGE}");
        return ExitCode::from(2);
    };
    let threads = Version::ALL.map(|version| std::thread::spawn(move || one(version, wish)));
    let mut good = true;
    for thread in threads {
        match thread.join().map_err(|_| FidelityError::Thread).and_then(|done| done) {
            Ok(equal) => good &= equal,
            Err(error) => {
                eprintln!("error: {error}");
                good = false;
            }
        }
    }
    if good { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

fn parse(arguments: &[String]) -> Option<Wish> {
    let mut wish = Wish { clusters: CLUSTERS, seed: 1, coverage: true };
    let mut rest = arguments.iter();
    while let Some(argument) = rest.next() {
        match argument.as_str() {
            "--clusters" => wish.clusters = rest.next()?.parse().ok()?,
            "--seed" => wish.seed = rest.next()?.parse().ok()?,
            "--no-coverage" => wish.coverage = false,
            _ => return None,
        }
    }
    Some(wish)
}

/// One version, from begin to end; whether all is well.
#[expect(clippy::print_stdout, clippy::print_stderr, reason = "a program: stdout is the result, stderr is progress")]
fn one(version: Version, wish: Wish) -> Result<bool, FidelityError> {
    let (minor, number) = minor(version);
    let mut oracle = KubeScheduler::start(version).map_err(JudgeError::from)?;
    let mut model = OurModel(minor);
    let progress = |done: usize, differences: usize| {
        if done.is_multiple_of(PROGRESS) {
            eprintln!("1.{number}: {done} of {} clusters, {differences} differences", wish.clusters);
        }
    };
    let outcome = run::run(wish.seed, wish.clusters, &mut oracle, &mut model, &progress)?;
    let thin = if wish.coverage { outcome.coverage.thin(number) } else { vec![] };
    // In one piece: the other version prints, too.
    println!("{}", report(&oracle.version, number, &outcome, &thin));
    reduce(&mut oracle, &mut model, number, &outcome)?;
    Ok(outcome.differences.is_empty() && thin.is_empty())
}

/// Where clusters are kept that once showed a difference.
fn found_folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fidelity/found")
}

/// Fills in what both versions say about the clusters that are kept, those written by hand included.
fn record_anew() -> Result<(), FidelityError> {
    let mut oracles = vec![];
    for version in Version::ALL {
        oracles.push(KubeScheduler::start(version).map_err(JudgeError::from)?);
    }
    for (name, mut record) in Recorded::read_all(&found_folder())? {
        record.answers.clear();
        for oracle in &mut oracles {
            let answers = oracle.judge(&record.cluster())?;
            record.answers.insert(oracle.version.clone(), answers);
        }
        record.write(&found_folder(), &name)?;
    }
    Ok(())
}

fn report(version: &str, minor: u32, outcome: &Outcome, thin: &[String]) -> String {
    let mut lines = vec![outcome.coverage.table(version, minor)];
    lines.extend(thin.iter().map(|line| format!("{version}: too few: {line}")));
    for (kind, found) in &outcome.differences {
        lines.push(format!("{version}: {} x {kind:?}, first: {}", found.count, found.first));
        lines.push(format!("    seed {} ({})", found.cluster.seed, found.cluster.themes.join(", ")));
    }
    let differences: usize = outcome.differences.values().map(|found| found.count).sum();
    lines.push(format!("{version}: {} clusters, {differences} differences", outcome.clusters));
    lines.join("\n")
}

/// Reduces the first of each kind of difference, and writes it where the tests find it.
#[expect(clippy::print_stdout, reason = "a program: stdout is the result, stderr is progress")]
fn reduce(
    oracle: &mut KubeScheduler,
    model: &mut OurModel,
    minor: u32,
    outcome: &Outcome,
) -> Result<(), FidelityError> {
    for (kind, found) in outcome.differences.iter().take(REDUCED) {
        let version = oracle.version.clone();
        let (record, shown) = run::reduce(found, &version, oracle, model)?;
        let words: String =
            format!("{kind:?}").chars().map(|c| if c.is_ascii_alphanumeric() { c } else { ' ' }).collect();
        let words: Vec<String> = words.split_whitespace().map(str::to_lowercase).collect();
        let name = format!("1.{minor}-{}-{}", words.join("-"), found.cluster.seed);
        record.write(&found_folder(), &name)?;
        let shown: Vec<String> = shown.iter().map(|difference| format!("    {difference}")).collect();
        println!("{name}: {} objects\n{}", record.objects.len(), shown.join("\n"));
    }
    Ok(())
}
