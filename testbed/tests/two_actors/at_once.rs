//! A second run while one is at work: refused before anything is changed, and told who is at it.

use rehome_model::exit;

use crate::program;
use crate::run::{Held, in_order, mover, release};

#[test]
fn a_second_run_is_refused_and_told_who_is_at_it() {
    let held = Held::begin("atonce");
    let there = held.elsewhere();
    let Held { place, kubeconfig, run: first } = held;
    let process = format!("process {}", first.pid());

    let mover = mover(&place);
    let mut second = place.execute(&mover);
    second.extend(["--journal", "second.jsonl"]);
    let refused = place.expect(exit::INTERRUPTED, &second);
    assert!(refused.stderr.contains("is at work on this cluster"), "{}", refused.stderr);
    assert!(refused.stderr.contains(&process), "{}", refused.stderr);
    assert!(!place.folder().join("second.jsonl").exists(), "nothing has begun");

    // Whoever takes up the same run sees that its holder lives, however long it waits.
    let resume = ["resume", "--kubeconfig", &kubeconfig, "--approval", "approval.json"];
    let refused = program::expect(exit::INTERRUPTED, there.path(), &resume);
    assert!(refused.stderr.contains("is at work on this cluster"), "{}", refused.stderr);
    assert!(refused.stderr.contains(&process), "{}", refused.stderr);
    assert!(refused.stderr.contains("next: rehome status"), "{}", refused.stderr);

    release(&place);
    let ran = first.end();
    assert_eq!(ran.code, i32::from(exit::DONE), "{}", ran.stderr);
    assert!(place.moved());
    in_order(&place, &place.folder().join("plan.journal.jsonl"));
}
