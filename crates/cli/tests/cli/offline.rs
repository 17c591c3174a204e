//! Check, plan, show, rehearse and verify on files.

use super::{after_demo, case, run};

#[test]
fn blockers_are_shown_and_are_three() {
    let folder = tempfile::tempdir().unwrap();
    let cluster = case("two-budgets").join("cluster").display().to_string();
    let ran = run(folder.path(), &["check", "--from", "pool=old", "--to", "pool=new", "--snapshot", &cluster]);
    assert_eq!(ran.code, 3);
    insta::assert_snapshot!("check-two-budgets", ran.text());
}

#[test]
fn a_plan_goes_to_a_pipe_as_a_document_and_is_the_same_twice() {
    let folder = tempfile::tempdir().unwrap();
    let cluster = case("statefulset-ordered").join("cluster").display().to_string();
    let args = ["plan", "--from", "pool=old", "--to", "pool=new", "--snapshot", &cluster];
    let (first, second) = (run(folder.path(), &args), run(folder.path(), &args));
    assert_eq!(first.code, 0, "{}", first.stderr);
    assert_eq!(first.stdout, second.stdout);
    std::fs::write(folder.path().join("plan.json"), &first.stdout).unwrap();
    let shown = run(folder.path(), &["show", "plan.json"]);
    insta::assert_snapshot!("show-plan", shown.stdout);
    let names = run(folder.path(), &["show", "plan.json", "-o", "name"]).stdout;
    assert!(names.lines().all(|line| line.starts_with('w')), "{names}");
    let yaml = run(folder.path(), &["show", "plan.json", "-o", "yaml"]).stdout;
    std::fs::write(folder.path().join("plan.yaml"), yaml).unwrap();
    let ran = run(folder.path(), &["show", "plan.yaml", "-o", "json"]);
    assert_eq!(ran.stdout, first.stdout, "YAML and back is the same document");
    let detailed = run(folder.path(), &[&args[..], &["--detailed-exitcode"]].concat());
    assert_eq!(detailed.code, 10);
    let ran = run(folder.path(), &["rehearse", "--plan", "plan.json", "--snapshot", &cluster, "--seeds", "2"]);
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    insta::assert_snapshot!("rehearse", ran.stdout);
}

#[test]
fn what_has_not_moved_fails_the_verification() {
    let folder = after_demo();
    let dir = folder.path().join("rehome-demo");
    let ran = run(&dir, &["verify", "--plan", "plan.json", "--before", "cluster", "--after", "cluster"]);
    assert_eq!(ran.code, 8);
    insta::assert_snapshot!("verify-unmoved", ran.stdout);
    let ran = run(&dir, &["verify", "--plan", "plan.json", "--before", "cluster", "--after", "after.json"]);
    assert_eq!(ran.code, 0, "{}", ran.stdout);
}

#[test]
fn every_document_of_the_demo_is_shown_in_every_format() {
    let folder = after_demo();
    let dir = folder.path().join("rehome-demo");
    for name in [
        "sizing.json",
        "plan.json",
        "rehearsal.json",
        "approval.json",
        "after.json",
        "verification.json",
        "intent.yaml",
        "behaviour.yaml",
        "plan.journal.jsonl",
        "cluster",
    ] {
        for format in ["table", "wide", "json", "yaml", "name"] {
            let ran = run(&dir, &["show", name, "-o", format]);
            assert_eq!(ran.code, 0, "{name} {format}: {}", ran.stderr);
            assert!(!ran.stdout.contains('\u{1b}'), "{name} {format}: a pipe gets no colour");
        }
    }
    let ran = run(&dir, &["show", "plan.json", "--color", "always"]);
    assert!(ran.stdout.contains('\u{1b}'));
}

#[test]
fn the_status_of_a_run_is_read_from_its_journal() {
    let folder = after_demo();
    let dir = folder.path().join("rehome-demo");
    let ran = run(&dir, &["status", "--journal", "plan.journal.jsonl"]);
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    insta::assert_snapshot!("status-done", ran.stdout);
    let whole = std::fs::read_to_string(dir.join("plan.journal.jsonl")).unwrap();
    let half: String = whole.split_inclusive('\n').take(whole.lines().count() / 2).collect();
    std::fs::write(dir.join("plan.journal.jsonl"), half).unwrap();
    let ran = run(&dir, &["status", "--journal", "plan.journal.jsonl"]);
    insta::assert_snapshot!("status-half", ran.text());
}
