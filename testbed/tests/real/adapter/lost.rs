//! An answer that never comes.

use rehome_engine::world::World;
use rehome_k8s::Kind;
use rehome_model::request::{LANDING_MARGIN, Outcome, REQUEST_TIMEOUT};
use rehome_testbed::control_plane::{ControlPlane, everything};

use super::proxy::Proxy;
use super::{audited, connect, evict, ready, send, start, wait_for};
use crate::workload::{home, web};

#[test]
fn a_lost_answer_is_unknown_and_the_request_is_not_sent_again() {
    let plane = ControlPlane::shared().unwrap();
    home(plane, "lost");
    plane.apply(&web("lost", 2, None)).unwrap();
    let identity = plane.identity("loser", &everything()).unwrap();
    let proxy = Proxy::before(plane.server());
    let mut world = start(&connect(identity.kubeconfig(), Some(proxy.url())));
    let pod = ready(&mut world, "lost", 2).remove(0);
    // Leaves a connection open that the eviction takes: the proxy would cut a new one in its handshake.
    assert!(world.read(&pod.meta.key().reference(Kind::Pod)).unwrap().is_some());

    let before = world.now();
    proxy.lose_answers(true);
    let outcome = send(&mut world, &evict(&pod), "lost/1/1");
    proxy.lose_answers(false);
    let Outcome::Unknown { not_before, message } = outcome else { panic!("expected no answer, found {outcome:?}") };
    assert!(not_before >= before + REQUEST_TIMEOUT + LANDING_MARGIN, "{message}");
    // It did land, once; and the watches that were cut as well go on where they were.
    assert_eq!(audited(plane, "lost/1/1").len(), 1);
    wait_for(&mut world, "the pod to go", |world| world.view().by_uid(&pod.meta.uid).is_none().then_some(()));
    ready(&mut world, "lost", 2);
}
