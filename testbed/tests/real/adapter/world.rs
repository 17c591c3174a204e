//! The engine's port: what it sees, and every change that it can make.

use rehome_engine::world::World;
use rehome_k8s::{Kind, Record, field};
use rehome_kube::KubeWorld;
use rehome_model::ObjectRef;
use rehome_model::request::{Cause, Outcome, Request};
use rehome_model::verb::{Change, FENCE_TAINT, Field, RESTART_ANNOTATION};
use rehome_testbed::control_plane::{ControlPlane, everything};

use super::{audited, connect, evict, ready, send, start, wait_for};
use crate::workload::{home, web};

#[test]
fn the_view_follows_an_eviction_and_fresh_lists_agree_with_it() {
    let plane = ControlPlane::shared().unwrap();
    home(plane, "watched");
    let identity = plane.identity("watcher", &everything()).unwrap();
    let mut world = start(&connect(identity.kubeconfig(), None));
    assert_eq!(world.view().gaps().count(), 0);
    // Made after the world began: only a watch can have brought it.
    plane.apply(&web("watched", 2, None)).unwrap();
    let pods = ready(&mut world, "watched", 2);
    let pod = &pods[0];
    let node = pod.node.clone().unwrap();
    let listed = world.list_pods_on(&node).unwrap();
    assert!(listed.iter().any(|found| found.meta.uid == pod.meta.uid));
    assert!(listed.iter().all(|found| found.node.as_ref() == Some(&node)));

    assert_eq!(send(&mut world, &evict(pod), "watched/1/1"), Outcome::Applied);
    wait_for(&mut world, "the pod to go", |world| world.view().by_uid(&pod.meta.uid).is_none().then_some(()));
    let after = ready(&mut world, "watched", 2);
    assert!(after.iter().all(|found| found.meta.uid != pod.meta.uid));
    let lines = audited(plane, "watched/1/1");
    assert_eq!(lines.len(), 1, "{lines:?}");
    assert_eq!(lines[0]["user"]["username"], "watcher");
    assert_eq!(lines[0]["userAgent"], "rehome/test");
    assert_eq!(lines[0]["objectRef"]["subresource"], "eviction");
    assert!(world.read(&ObjectRef::pod("watched", "none")).unwrap().is_none());
}

fn change(target: &ObjectRef, field: &Field, from: Option<&str>, to: Option<&str>) -> Request {
    let owned = |value: Option<&str>| value.map(str::to_owned);
    Request::SetField(Change { target: target.clone(), field: field.clone(), from: owned(from), to: owned(to) })
}

fn value(world: &mut KubeWorld, target: &ObjectRef, field: &Field) -> Option<String> {
    let record = world.read(target).unwrap().unwrap();
    let mut view = rehome_k8s::View::default();
    view.insert(record);
    field::read(&view, target, field).unwrap()
}

/// Sets, refuses to set what is set, swaps, takes out again.
fn there_and_back(world: &mut KubeWorld, target: &ObjectRef, field: &Field, values: [&str; 2], id: &str) {
    assert_eq!(value(world, target, field), None);
    assert_eq!(send(world, &change(target, field, None, Some(values[0])), &format!("{id}/1/1")), Outcome::Applied);
    assert_eq!(value(world, target, field).as_deref(), Some(values[0]));
    let again = send(world, &change(target, field, None, Some(values[1])), &format!("{id}/2/1"));
    assert!(matches!(again, Outcome::Rejected { cause: Cause::Conflict { .. } }), "{again:?}");
    if values[0] != values[1] {
        let swap = change(target, field, Some(values[0]), Some(values[1]));
        assert_eq!(send(world, &swap, &format!("{id}/3/1")), Outcome::Applied);
    }
    assert_eq!(send(world, &change(target, field, Some(values[1]), None), &format!("{id}/4/1")), Outcome::Applied);
    assert_eq!(value(world, target, field), None);
}

#[test]
fn every_field_is_set_and_put_back() {
    let plane = ControlPlane::shared().unwrap();
    home(plane, "fields");
    plane.apply(&web("fields", 1, None)).unwrap();
    let identity = plane.identity("fields", &everything()).unwrap();
    let mut world = start(&connect(identity.kubeconfig(), None));
    let node = ObjectRef::node("fields-a");
    there_and_back(&mut world, &node, &Field::Unschedulable, ["true", "true"], "fields/cordon");
    // A foreign taint beside ours stays as it is.
    plane.kubectl(&["taint", "node", "fields-a", "example.com/foreign=x:NoSchedule"]).unwrap();
    let fence = Field::NoScheduleTaint { key: FENCE_TAINT.to_owned() };
    there_and_back(&mut world, &node, &fence, ["run-1", "run-2"], "fields/fence");
    let foreign = Field::NoScheduleTaint { key: "example.com/foreign".to_owned() };
    assert_eq!(value(&mut world, &node, &foreign).as_deref(), Some("x"));
    let deployment = ObjectRef::namespaced("Deployment", "fields", "web");
    let restart = Field::TemplateAnnotation { key: RESTART_ANNOTATION.to_owned() };
    there_and_back(
        &mut world,
        &deployment,
        &restart,
        ["2026-12-01T00:00:00Z", "2026-12-02T00:00:00Z"],
        "fields/restart",
    );
    let gone = send(&mut world, &change(&ObjectRef::node("none"), &fence, None, Some("x")), "fields/gone/1");
    assert_eq!(gone, Outcome::Rejected { cause: Cause::NotFound });
    // Whoever owns nothing any more is not named, so it is asked while a value of ours is set.
    let set = change(&deployment, &restart, None, Some("2026-12-03T00:00:00Z"));
    assert_eq!(send(&mut world, &set, "fields/restart/5/1"), Outcome::Applied);
    let Some(Record::Deployment(web)) = world.read(&deployment).unwrap() else { panic!("no Deployment") };
    assert!(web.meta.managers.iter().any(|manager| manager == "rehome"), "{:?}", web.meta.managers);
}

#[test]
fn a_delete_takes_the_incarnation_that_was_meant() {
    let plane = ControlPlane::shared().unwrap();
    home(plane, "deleted");
    plane.apply(&web("deleted", 1, Some(0))).unwrap();
    let identity = plane.identity("deleter", &everything()).unwrap();
    let mut world = start(&connect(identity.kubeconfig(), None));
    let pod = ready(&mut world, "deleted", 1).remove(0);
    let target = pod.meta.key().reference(Kind::Pod);
    let other = Request::Delete { pod: target.clone(), uid: "00000000-0000-0000-0000-000000000000".into() };
    let outcome = send(&mut world, &other, "deleted/1/1");
    assert!(matches!(outcome, Outcome::Rejected { cause: Cause::OtherIncarnation { .. } }), "{outcome:?}");
    let delete = Request::Delete { pod: target, uid: pod.meta.uid.clone() };
    assert_eq!(send(&mut world, &delete, "deleted/2/1"), Outcome::Applied);
    wait_for(&mut world, "the pod to go", |world| world.view().by_uid(&pod.meta.uid).is_none().then_some(()));
    let outcome = send(&mut world, &delete, "deleted/3/1");
    assert_eq!(outcome, Outcome::Rejected { cause: Cause::NotFound });
}
