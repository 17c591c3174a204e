//! Each way in which an input can be wrong: an exit code, a cause, and what to do next. Never a panic.

use std::path::Path;

use super::{after_demo, case, rehome, run};

const FROM_TO: [&str; 4] = ["--from", "pool=old", "--to", "pool=new"];

fn check(folder: &Path, snapshot: &str) -> super::Ran {
    let mut args = vec!["check", "--snapshot", snapshot];
    args.extend(FROM_TO);
    run(folder, &args)
}

#[test]
fn a_snapshot_that_cannot_be_read_is_two_with_cause_and_next_command() {
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| std::fs::write(folder.path().join(name), text).unwrap();
    write("cut.json", r#"{"apiVersion":"v1","kind":"List","items":[{"apiVersion":"v1","kind":"No"#);
    write("cut.yaml", "apiVersion: v1\nitems:\n- apiVersion: v1\n  kind: Node\n  metadata:\n    name: a\n");
    write("values.yaml", "replicas: 3\nimage:\n  tag: latest\n");
    write("future.yaml", "apiVersion: apps/v9\nkind: Deployment\nmetadata: {name: web}\n");
    write("broken.yaml", "apiVersion: v1\nkind: Node\nmetadata: {name: a\nspec: {}\n");
    write("empty.yaml", "\n");
    std::fs::create_dir(folder.path().join("empty")).unwrap();
    std::fs::write(folder.path().join("latin1.yaml"), b"apiVersion: v1\nkind: N\xf6de\n").unwrap();
    for name in [
        "cut.json",
        "cut.yaml",
        "values.yaml",
        "future.yaml",
        "broken.yaml",
        "empty.yaml",
        "empty",
        "latin1.yaml",
        "gone",
    ] {
        let ran = check(folder.path(), name);
        assert_eq!((ran.code, ran.stdout.as_str()), (2, ""), "{name}: {}", ran.stderr);
        assert!(ran.stderr.contains("because") && ran.stderr.contains("next:"), "{name}: {}", ran.stderr);
        insta::assert_snapshot!(format!("snapshot-{name}"), ran.text());
    }
}

#[test]
fn no_kubeconfig_and_an_unreachable_server_are_said() {
    let folder = tempfile::tempdir().unwrap();
    let ran = run(folder.path(), &["capture"]);
    let text = ran.text().replace(&folder.path().display().to_string(), "[HOME]");
    insta::assert_snapshot!("no-kubeconfig", text);
    assert_eq!(ran.code, 2);
    let ran = run(folder.path(), &["capture", "--server", "http://127.0.0.1:1"]);
    assert_eq!(ran.code, 2, "{}", ran.stderr);
    assert!(ran.stderr.contains("http://127.0.0.1:1"), "{}", ran.stderr);
    assert!(ran.stderr.contains("next: kubectl cluster-info"), "{}", ran.stderr);
}

#[test]
fn nodes_that_are_not_there_are_said() {
    let folder = tempfile::tempdir().unwrap();
    let cluster = case("two-budgets").join("cluster").display().to_string();
    let ran = run(folder.path(), &["plan", "--from", "pool=gone", "--to", "pool=new", "--snapshot", &cluster]);
    assert_eq!(ran.code, 2);
    insta::assert_snapshot!("no-such-nodes", ran.text());
}

#[test]
fn nothing_is_executed_where_nobody_can_be_asked() {
    let folder = after_demo();
    let dir = folder.path().join("rehome-demo");
    let ran = run(&dir, &["execute", "--plan", "plan.json", "--journal", "new.jsonl"]);
    assert_eq!(ran.code, 2);
    insta::assert_snapshot!("execute-without-approval", ran.text());

    let text = std::fs::read_to_string(dir.join("plan.json")).unwrap();
    std::fs::write(dir.join("edited.json"), text.replace("new pods must", "new pods shall")).unwrap();
    let args = ["execute", "--plan", "edited.json", "--approval", "approval.json", "--journal", "new.jsonl"];
    let ran = run(&dir, &args);
    assert_eq!(ran.code, 2, "{}", ran.stderr);
    assert!(ran.stderr.contains("expected an approval of plan sha256:"), "{}", ran.stderr);

    // Without --journal the demo's own is meant: a journal is never overwritten.
    let ran = run(&dir, &["execute", "--plan", "plan.json", "--approval", "approval.json"]);
    assert_eq!(ran.code, 2, "{}", ran.stderr);
    assert!(ran.stderr.contains("plan.journal.jsonl exists already"), "{}", ran.stderr);
    assert!(!dir.join("new.jsonl").exists(), "nothing is half-written");
}

#[test]
fn a_plan_with_blockers_is_neither_approved_nor_executed() {
    let folder = tempfile::tempdir().unwrap();
    let cluster = case("two-budgets").join("cluster").display().to_string();
    let mut args = vec!["plan", "--snapshot", &cluster, "--out", "plan.json"];
    args.extend(FROM_TO);
    assert_eq!(run(folder.path(), &args).code, 3);
    for args in [&["approve", "--plan", "plan.json"][..], &["execute", "--plan", "plan.json"]] {
        let ran = run(folder.path(), args);
        assert_eq!(ran.code, 3, "{}", ran.stderr);
        assert!(ran.stderr.contains("next: rehome show plan.json"), "{}", ran.stderr);
    }
}

#[test]
fn a_plan_for_another_cluster_is_stale() {
    let folder = after_demo();
    let other = case("statefulset-ordered").join("cluster").display().to_string();
    let ran = run(folder.path(), &["rehearse", "--plan", "rehome-demo/plan.json", "--snapshot", &other]);
    assert_eq!(ran.code, 5, "{}", ran.stderr);
    insta::assert_snapshot!("another-cluster", ran.text());
}

#[test]
fn a_plan_whose_cluster_has_changed_is_stale() {
    let folder = after_demo();
    let workloads = folder.path().join("rehome-demo/cluster/workloads.yaml");
    let text = std::fs::read_to_string(&workloads).unwrap();
    std::fs::write(&workloads, text.replace("maxUnavailable: 25%", "maxUnavailable: 50%")).unwrap();
    let ran = run(folder.path(), &["rehearse", "--plan", "rehome-demo/plan.json", "--snapshot", "rehome-demo/cluster"]);
    assert_eq!(ran.code, 5, "{}", ran.stderr);
    insta::assert_snapshot!("changed-cluster", ran.text());
}

#[test]
fn a_torn_journal_is_repaired_and_said_and_a_broken_one_is_refused() {
    let folder = after_demo();
    let dir = folder.path().join("rehome-demo");
    let whole = std::fs::read_to_string(dir.join("plan.journal.jsonl")).unwrap();
    std::fs::write(dir.join("plan.journal.jsonl"), &whole[..whole.len() - 9]).unwrap();
    let ran = run(&dir, &["resume", "--journal", "plan.journal.jsonl"]);
    assert!(ran.stderr.contains("the last record was unfinished"), "{}", ran.stderr);
    assert_eq!(ran.code, 2, "there is no cluster to go on with: {}", ran.stderr);
    assert!(std::fs::read_to_string(dir.join("plan.journal.jsonl")).unwrap().ends_with('\n'));

    std::fs::write(dir.join("edited.jsonl"), whole.replacen("old-7", "old-1", 1)).unwrap();
    for command in ["resume", "rollback", "status"] {
        let ran = run(&dir, &[command, "--journal", "edited.jsonl"]);
        assert_eq!(ran.code, 2, "{}", ran.stderr);
        assert!(ran.stderr.contains("was changed or damaged"), "{}", ran.stderr);
        assert!(ran.stderr.contains("does not follow from the one before"), "{}", ran.stderr);
    }
    let ran = run(&dir, &["status", "--journal", "gone.jsonl"]);
    assert_eq!(ran.code, 2);
    insta::assert_snapshot!("journal-gone", ran.text());
}

#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_is_one_and_says_so() {
    let folder = tempfile::tempdir().unwrap();
    let cluster = case("statefulset-ordered").join("cluster").display().to_string();
    let mut args = vec!["plan", "--snapshot", &cluster, "--out", "/dev/full"];
    args.extend(FROM_TO);
    let ran = run(folder.path(), &args);
    assert_eq!((ran.code, ran.stdout.as_str()), (1, ""), "{}", ran.stderr);
    insta::assert_snapshot!("full-disk", ran.text());
    let full = std::fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
    let status = rehome(folder.path(), &["version"]).stdout(full).status().unwrap();
    assert_eq!(status.code(), Some(1));
}

#[test]
fn a_reader_that_goes_away_is_nobodys_concern() {
    let folder = after_demo();
    let mut child = rehome(folder.path(), &["show", "rehome-demo/cluster", "-o", "json"])
        .stdout(std::process::Stdio::piped())
        .stderr(std::process::Stdio::piped())
        .spawn()
        .unwrap();
    drop(child.stdout.take());
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(0));
    assert_eq!(String::from_utf8(output.stderr).unwrap(), "");
}
