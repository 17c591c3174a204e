//! A person with kubectl, and a controller, that take our fences away.

use std::sync::atomic::{AtomicBool, Ordering};

use rehome_model::exit;
use rehome_model::journal::Event;
use rehome_model::verb::FENCE_TAINT;

use crate::place::Place;
use crate::program;
use crate::run::{Held, Run, announced, in_order_but_for, mover, records, release};

/// How many pods move: each can be in the way once.
const PODS: usize = 7;

#[test]
fn a_person_who_takes_a_fence_away_stops_the_run_and_it_goes_on_once_that_is_put_right() {
    let Held { place, kubeconfig, run } = Held::begin("person");
    let node = "person-old-1";
    let fence = place.plane.kubectl(&["get", "node", node, "-o", "jsonpath={.spec.taints[*].key}"]).unwrap();
    assert!(fence.contains(FENCE_TAINT), "{fence}");
    let value = place.plane.kubectl(&["get", "node", node, "-o", "jsonpath={.spec.taints[*].value}"]).unwrap();
    place.plane.kubectl(&["taint", "node", node, &format!("{FENCE_TAINT}-")]).unwrap();
    let ran = run.end();
    assert_eq!(ran.code, i32::from(exit::STUCK), "{}", ran.stderr);
    assert!(ran.stdout.contains(&format!("landed on {node}, which is no target")), "{}", ran.stdout);

    release(&place);
    place.plane.kubectl(&["taint", "node", node, &format!("{FENCE_TAINT}={}:NoSchedule", value.trim())]).unwrap();
    let deleted = put_right(&place, &kubeconfig);
    in_order_but_for(&place, &place.folder().join("plan.journal.jsonl"), &deleted);
}

/// Does what the program says, until it is done: a pod that landed where it must not is deleted, and the run resumed. Gives the
/// names of those pods.
fn put_right(place: &Place, kubeconfig: &str) -> Vec<String> {
    let mut deleted = Vec::new();
    for _ in 0..PODS {
        let resumed =
            program::run(place.folder(), &["resume", "--kubeconfig", kubeconfig, "--journal", "plan.journal.jsonl"]);
        if resumed.code == i32::from(exit::DONE) {
            assert!(place.moved());
            return deleted;
        }
        assert_eq!(resumed.code, i32::from(exit::STUCK), "{}", resumed.stderr);
        let stray = resumed.stdout.split("because Pod ").nth(1).and_then(|rest| rest.split(" landed on").next());
        let (namespace, name) = stray.and_then(|stray| stray.split_once('/')).unwrap();
        place.plane.kubectl(&["delete", "pod", "-n", namespace, name]).unwrap();
        deleted.push(format!("{namespace}/{name}"));
    }
    panic!("resumed {PODS} times, and still not done");
}

#[test]
fn a_controller_that_reverts_our_edits_stops_the_run_and_it_can_be_resumed() {
    let place = Place::new("reverted");
    let mover = mover(&place);
    let kubeconfig = mover.to_str().unwrap();
    place.prepare(&mover);
    let over = AtomicBool::new(false);
    let ran = std::thread::scope(|scope| {
        let controller = scope.spawn(|| {
            let mut reverted = 0;
            // As fast as kubectl can be started.
            while !over.load(Ordering::Relaxed) {
                for node in place.pool("old").split(',') {
                    let fence = format!("{FENCE_TAINT}-");
                    // Fails where there is no such taint.
                    reverted += usize::from(place.plane.kubectl(&["taint", "node", node, &fence]).is_ok());
                }
            }
            reverted
        });
        let ran = Run::execute(&place).end();
        over.store(true, Ordering::Relaxed);
        println!("reverted {} times", controller.join().unwrap());
        ran
    });
    assert_eq!(ran.code, i32::from(exit::STUCK), "{}", ran.stderr);
    let journal = place.folder().join("plan.journal.jsonl");
    assert!(announced(&records(&journal)) < 7, "not all pods were moved against it");
    for node in place.pool("old").split(',') {
        let fence = format!("{FENCE_TAINT}=source:NoSchedule");
        place.plane.kubectl(&["taint", "node", node, &fence, "--overwrite"]).unwrap();
    }
    let deleted = put_right(&place, kubeconfig);
    assert!(records(&journal).iter().any(|record| matches!(record.event, Event::Drifted { .. })));
    in_order_but_for(&place, &journal, &deleted);
}
