//! A process dies, and another machine goes on with nothing but the cluster and an approval.

use rehome_model::exit;

use crate::place::Place;
use crate::program;
use crate::run::{Held, Run, in_order, mover, records, release, under_way};

#[test]
fn another_machine_goes_on_from_the_cluster_alone() {
    let Held { place, kubeconfig, run } = Held::begin("elsewhere");
    run.kill();
    release(&place);

    let there = tempfile::tempdir().unwrap();
    // A plan that comes from the cluster is nobody's plan before somebody stands for it.
    let unapproved = program::expect(exit::USAGE, there.path(), &["resume", "--kubeconfig", &kubeconfig]);
    assert!(unapproved.stderr.contains("there is no approval"), "{}", unapproved.stderr);
    assert_eq!(std::fs::read_dir(there.path()).unwrap().count(), 0, "nothing is left behind");

    std::fs::copy(place.folder().join("approval.json"), there.path().join("approval.json")).unwrap();
    let resume = ["resume", "--kubeconfig", &kubeconfig, "--approval", "approval.json", "--journal", "mine.jsonl"];
    let status = program::expect(exit::DONE, there.path(), &["status", "--kubeconfig", &kubeconfig]);
    assert!(status.stdout.contains("at work") && status.stdout.contains("held by"), "{}", status.stdout);
    let resumed = program::expect(exit::DONE, there.path(), &resume);
    assert!(resumed.stderr.contains("if it stays silent it is taken over in 50s"), "{}", resumed.stderr);
    assert!(place.moved());
    in_order(&place, &there.path().join("mine.jsonl"));

    // Back at the first machine: its file is brought to where the run stands.
    let before = records(&place.folder().join("plan.journal.jsonl")).len();
    let late = place.expect(exit::USAGE, &["resume", "--kubeconfig", &kubeconfig, "--journal", "plan.journal.jsonl"]);
    assert!(late.stderr.contains("the run went on elsewhere"), "{}", late.stderr);
    assert!(late.stderr.contains("the run has ended already: done"), "{}", late.stderr);
    let (ours, theirs) =
        (records(&place.folder().join("plan.journal.jsonl")), records(&there.path().join("mine.jsonl")));
    assert!(ours.len() > before);
    assert_eq!(ours, theirs);
    let status = program::expect(exit::DONE, there.path(), &["status", "--kubeconfig", &kubeconfig]);
    assert!(status.stdout.contains("finished: done"), "{}", status.stdout);
}

#[test]
fn a_process_that_died_on_this_machine_is_not_waited_for() {
    let place = Place::new("again");
    let mover = mover(&place);
    let kubeconfig = mover.to_str().unwrap();
    place.prepare(&mover);
    let mut run = Run::execute(&place);
    run.until(&place, "a pod to be on its way", under_way);
    run.kill();
    let resumed = place.expect(exit::DONE, &["resume", "--kubeconfig", kubeconfig, "--journal", "plan.journal.jsonl"]);
    assert!(!resumed.stderr.contains("taken over in"), "{}", resumed.stderr);
    assert!(place.moved());
    in_order(&place, &place.folder().join("plan.journal.jsonl"));
}
