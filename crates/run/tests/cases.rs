//! Every case of `cases/`: what the rules find, what the plan does, and how the rehearsal ends, against `expect.txt`.
//! Rules that a case says it is about must fire in it, and must be silent in its near miss.
//!
//! `UPDATE_CASES=1 cargo test -p rehome-run --test cases` writes `expect.txt` anew; read the difference.
#![expect(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use rehome_model::behaviour::Behaviour;
use rehome_model::document::Loaded;
use rehome_model::intent::Intent;
use rehome_model::plan::Plan;
use rehome_model::rehearsal::{Rehearsal, RehearsedEnd};
use rehome_run::carry_out::{Job, RunError};
use rehome_run::read;
use rehome_run::rehearse::{self, Twin};

/// Orders of ties and races that each case is rehearsed with.
const SEEDS: u64 = 3;

fn cases() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../cases")
}

#[test]
fn every_case_is_as_expected() {
    let mut differing = Vec::new();
    let mut names: Vec<PathBuf> = std::fs::read_dir(cases()).unwrap().map(|entry| entry.unwrap().path()).collect();
    names.sort();
    for case in names.iter().filter(|path| path.join("cluster").is_dir()) {
        let found = outcome(case);
        compare(&case.join("expect.txt"), &found.text, &mut differing);
        let about = about(case);
        for rule in about.iter().filter(|rule| !found.fired.contains(*rule)) {
            differing.push(format!("{}: expected {rule} to fire", case.display()));
        }
        let near_miss = case.join("near-miss");
        if !near_miss.is_dir() {
            continue;
        }
        let found = outcome(&overlaid(case, &near_miss));
        compare(&near_miss.join("expect.txt"), &found.text, &mut differing);
        for rule in about.iter().filter(|rule| found.fired.contains(*rule)) {
            differing.push(format!("{}: expected {rule} to be silent", near_miss.display()));
        }
    }
    assert!(differing.is_empty(), "{}", differing.join("\n"));
}

/// What came of a case.
struct Outcome {
    text: String,
    /// The rules that found something, by name.
    fired: BTreeSet<String>,
}

fn compare(file: &Path, found: &str, differing: &mut Vec<String>) {
    if update() {
        std::fs::write(file, found).unwrap();
    }
    let expected = std::fs::read_to_string(file).unwrap_or_default();
    if expected != found {
        differing.push(format!("{}:\nexpected\n{expected}\nfound\n{found}", file.display()));
    }
}

/// `case.yaml`.
#[derive(Default, serde::Deserialize)]
#[serde(deny_unknown_fields)]
struct Case {
    /// The rules that it is about.
    fires: BTreeSet<String>,
    /// The numbers that its situation has in the list of cases that others reported.
    #[serde(default)]
    answers: BTreeSet<String>,
}

fn described(case: &Path) -> Case {
    let file = case.join("case.yaml");
    if !file.exists() {
        return Case::default();
    }
    serde_saphyr::from_str(&std::fs::read_to_string(file).unwrap()).unwrap()
}

/// The reported cases that placement decides: whether a pod finds a node, and which.
const DECIDED_BY_PLACEMENT: [&str; 9] = ["C14", "C17", "C25", "C34", "C35", "C39", "C49", "C50", "C57"];

/// Each of them is a case here, with a near miss; and no case names a number that the list does not have, where the list
/// is at hand.
#[test]
fn what_placement_decides_is_a_case() {
    let mut answers: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for entry in std::fs::read_dir(cases()).unwrap() {
        let case = entry.unwrap().path();
        for number in described(&case).answers {
            assert!(case.join("near-miss").is_dir(), "{} has no near miss", case.display());
            answers.entry(number).or_default().push(case.file_name().unwrap().to_string_lossy().into_owned());
        }
    }
    let missing: Vec<&str> = DECIDED_BY_PLACEMENT.into_iter().filter(|n| !answers.contains_key(*n)).collect();
    assert!(missing.is_empty(), "no case answers {missing:?}");
    let list = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../../shared/cases/cases-dev.md");
    let Ok(list) = std::fs::read_to_string(list) else { return };
    for (number, cases) in &answers {
        let title = list.lines().find_map(|line| line.strip_prefix(&format!("### {number} - ")));
        println!("{number} {}: {}", title.unwrap_or("?"), cases.join(", "));
        assert!(title.is_some(), "{number}, which {cases:?} answer, is not in the list");
    }
}

/// The rules that a case is about: `fires` in its `case.yaml`.
fn about(case: &Path) -> BTreeSet<String> {
    let case = described(case);
    for rule in &case.fires {
        assert!(rehome_plan::rules::ALL.iter().any(|known| known.name == rule), "there is no rule {rule}");
    }
    case.fires
}

/// A copy of a case with the files of its near miss in the place of its own.
fn overlaid(case: &Path, near_miss: &Path) -> PathBuf {
    let name = case.file_name().unwrap();
    let target = Path::new(env!("CARGO_TARGET_TMPDIR")).join("near-miss").join(name);
    let _ = std::fs::remove_dir_all(&target);
    std::fs::create_dir_all(target.join("cluster")).unwrap();
    for folder in [case, near_miss] {
        for part in ["", "cluster"] {
            let Ok(entries) = std::fs::read_dir(folder.join(part)) else { continue };
            for file in entries.map(|entry| entry.unwrap().path()).filter(|path| path.is_file()) {
                std::fs::copy(&file, target.join(part).join(file.file_name().unwrap())).unwrap();
            }
        }
    }
    target
}

#[expect(clippy::disallowed_methods, reason = "how a person asks the test to write what it found")]
fn update() -> bool {
    std::env::var("UPDATE_CASES").is_ok()
}

fn outcome(case: &Path) -> Outcome {
    let loaded = read::path(&case.join("cluster")).unwrap();
    let intent: Intent = read::document::read(&case.join("intent.yaml")).unwrap().document;
    let plan = rehome_plan::plan(&loaded.view, loaded.digest.clone(), &intent).unwrap();
    let again = rehome_plan::plan(&loaded.view, loaded.digest.clone(), &intent).unwrap();
    assert_eq!(plan, again, "the same inputs give the same plan");
    let mut text = plan_text(&plan);
    let fired = plan.findings.iter().map(|finding| finding.rule.clone()).collect();
    let behaviour = case.join("behaviour.yaml");
    let behaviour = if behaviour.exists() {
        read::document::read::<Behaviour>(&behaviour).unwrap().document
    } else {
        rehome_sim::measured::behaviour_from(&loaded.view).behaviour
    };
    let digest = rehome_model::Digest::of(&plan).unwrap();
    let job = Job::new(Loaded { document: plan, digest }, "test");
    let twin =
        Twin { view: &loaded.view, snapshot: &loaded.digest, taken: loaded.snapshot.taken, behaviour: &behaviour };
    match rehearse::rehearse(&job, twin, SEEDS) {
        Ok(rehearsal) => rehearsal_text(&rehearsal, &mut text),
        Err(RunError::Refused(refusals)) => {
            writeln!(text, "\nREHEARSAL refused").unwrap();
            for refusal in refusals {
                writeln!(text, "  {}: expected {}, found {}", refusal.step, refusal.expected, refusal.found).unwrap();
            }
        }
        Err(error) => panic!("{}: {error}", case.display()),
    }
    Outcome { text, fired }
}

fn plan_text(plan: &Plan) -> String {
    let mut text = String::from("FINDINGS\n");
    for finding in &plan.findings {
        let (code, severity) = (finding.code, finding.severity.word());
        writeln!(text, "  {code} {severity} {}: {}", finding.subject, finding.message).unwrap();
    }
    text.push_str("\nPLAN\n");
    for wave in &plan.waves {
        writeln!(text, "  {} {}", wave.name, wave.title).unwrap();
        for step in &wave.steps {
            writeln!(text, "    {} {}: {}", step.verb.word(), step.name, step.because).unwrap();
        }
    }
    for planned in &plan.moves {
        for bid in &planned.rejected {
            writeln!(text, "  {}: not {}: {}", planned.workloads[0], bid.strategy, bid.because).unwrap();
        }
    }
    for stay in &plan.stays {
        writeln!(text, "  stays: {} ({}): {}", stay.subject, stay.pods, stay.because).unwrap();
    }
    for pending in &plan.pending {
        writeln!(text, "  pending: {}: {:?}", pending.pod, pending.reasons).unwrap();
    }
    text
}

fn rehearsal_text(rehearsal: &Rehearsal, text: &mut String) {
    text.push_str("\nREHEARSAL\n");
    for run in &rehearsal.runs {
        let end = match &run.end {
            RehearsedEnd::Done => "done".to_owned(),
            RehearsedEnd::Stuck { step, cause } => format!("stuck at {step}: {cause}"),
        };
        writeln!(text, "  seed {}: {end}, {}", run.seed, run.took).unwrap();
        for (workload, time) in &run.without_ready {
            writeln!(text, "    without a Ready pod: {workload}, {time}").unwrap();
        }
        let mut pods: BTreeMap<&str, usize> = BTreeMap::new();
        for placement in &run.placements {
            *pods.entry(&placement.node).or_default() += 1;
        }
        writeln!(text, "    pods of moved workloads by node: {pods:?}").unwrap();
        for pending in &run.pending {
            writeln!(text, "    pending: {}: {:?}", pending.pod, pending.reasons).unwrap();
        }
    }
}
