//! An API server that goes away and comes back.

use rehome_engine::world::World;
use rehome_model::request::{Cause, Outcome};
use rehome_testbed::clock;
use rehome_testbed::control_plane::{ControlPlane, Options, Program};

use super::{connect, evict, ready, send, start};
use crate::workload::{LIMIT, home, web};

#[test]
fn a_world_outlives_a_restart_of_the_server() {
    // One of its own: the shared one must not be stopped under the other tests.
    let plane = ControlPlane::start(&Options::default()).unwrap();
    home(&plane, "restart");
    plane.apply(&web("restart", 1, None)).unwrap();
    let mut world = start(&connect(plane.admin_kubeconfig(), None));
    let pod = ready(&mut world, "restart", 1).remove(0);

    plane.stop_program(Program::ApiServer);
    // On a connection that was open it is unknown whether the server saw it; one that is refused has sent nothing.
    let mut attempt = 0;
    clock::wait_for("a refused connection", LIMIT, || {
        attempt += 1;
        match send(&mut world, &evict(&pod), &format!("restart/1/{attempt}")) {
            Outcome::Rejected { cause: Cause::Server { code: 0, .. } } => Ok(()),
            outcome @ Outcome::Unknown { .. } => Err(format!("{outcome:?}")),
            outcome => panic!("expected no answer, found {outcome:?}"),
        }
    })
    .unwrap();
    let error = world.list_pods_on("restart-a").unwrap_err();
    assert!(!error.permanent, "{error}");
    assert!(world.view().by_uid(&pod.meta.uid).is_some(), "what was known stays known");

    plane.start_program(Program::ApiServer).unwrap();
    plane.wait_until_ready().unwrap();
    plane.kubectl(&["scale", "deployment", "--namespace=restart", "web", "--replicas=2"]).unwrap();
    ready(&mut world, "restart", 2);
    assert_eq!(world.view().gaps().count(), 0);
    assert_eq!(send(&mut world, &evict(&pod), "restart/2/1"), Outcome::Applied);
}
