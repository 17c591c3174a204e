//! What the simulated API server answers, faults, forks, and that the same seed gives the same history.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

mod cluster;

use std::sync::Arc;

use cluster::{Cluster, START, deployment, key, pod_ref, pods, rolling, settle, timed};
use rehome_engine::world::World;
use rehome_k8s::pod::Pod;
use rehome_k8s::workload::WorkloadStrategy;
use rehome_k8s::{Kind, budget};
use rehome_model::request::{Cause, Outcome, Request};
use rehome_model::time::Seconds;
use rehome_model::verb::{Change, Field};
use rehome_model::{ObjectRef, Uid};
use rehome_sim::{Fault, Faults, SimWorld, When};

fn evict(pod: &Pod) -> Request {
    Request::Evict { pod: pod_ref(pod), uid: pod.meta.uid.clone() }
}

fn allowed(world: &SimWorld) -> i64 {
    budget::get(world.truth(), &key("web")).unwrap().status.clone().unwrap().disruptions_allowed
}

/// Three Ready pods under a budget of two.
fn guarded() -> (SimWorld, Vec<Arc<Pod>>) {
    let mut world = Cluster::new(&["a", "b"]).deployment("web", 3, rolling(1, 0)).budget("web", "web", 2).world(timed(
        1,
        Some(5),
        1,
    ));
    settle(&mut world, "Deployment", "web", 3);
    world.advance(Seconds::new(1));
    let all = pods(world.view(), "Deployment", "web");
    (world, all)
}

#[test]
fn a_budget_is_charged_at_once_and_refuses_the_second_pod_until_the_first_is_replaced() {
    let (mut world, all) = guarded();
    assert_eq!(allowed(&world), 1);
    assert_eq!(world.send(&evict(&all[0]), "r/1/1"), Outcome::Applied);
    let Outcome::Rejected { cause: Cause::Budget { message, retry_after: None } } =
        world.send(&evict(&all[1]), "r/2/1")
    else {
        panic!("the budget was used up")
    };
    assert_eq!(message, "The disruption budget web does not allow evicting pods currently");
    world.advance(Seconds::new(10));
    assert_eq!(allowed(&world), 1);
    assert_eq!(world.send(&evict(&all[1]), "r/3/1"), Outcome::Applied);
}

#[test]
fn a_wrong_uid_costs_a_place_in_the_budget_for_two_minutes() {
    let (mut world, all) = guarded();
    let request = Request::Evict { pod: pod_ref(&all[0]), uid: Uid::from("another") };
    let outcome = world.send(&request, "r/1/1");
    assert!(matches!(outcome, Outcome::Rejected { cause: Cause::OtherIncarnation { .. } }), "{outcome:?}");
    assert_eq!(allowed(&world), 0);
    let charged = world.now();
    let until = charged + Seconds::new(300);
    assert!(world.run_until(until, |view| {
        budget::get(view, &key("web")).unwrap().status.as_ref().unwrap().disruptions_allowed == 1
    }));
    let took = world.now() - charged;
    assert!(took >= Seconds::new(119) && took < Seconds::new(123), "{took}");
    assert!(world.truth().pod(&all[0].meta.key()).unwrap().meta.deleting.is_none());
}

#[test]
fn two_budgets_are_an_error_and_a_pending_pod_needs_none() {
    let mut world = Cluster::new(&["a"])
        .deployment("web", 1, rolling(1, 0))
        .budget("web", "web", 0)
        .budget("web-2", "web", 0)
        .world(timed(20, Some(1), 1));
    let until = START + Seconds::new(600);
    world.run_until(until, |view| pods(view, "Deployment", "web").iter().any(|pod| pod.node.is_some()));
    let pod = pods(world.view(), "Deployment", "web")[0].clone();
    assert_eq!(world.send(&evict(&pod), "r/1/1"), Outcome::Applied, "Pending: no budget is asked");
    assert_eq!(world.send(&evict(&pod), "r/2/1"), Outcome::Applied, "terminating: neither");
    settle(&mut world, "Deployment", "web", 1);
    let pod = pods(world.view(), "Deployment", "web")[0].clone();
    let outcome = world.send(&evict(&pod), "r/3/1");
    assert!(matches!(outcome, Outcome::Rejected { cause: Cause::SeveralBudgets { .. } }), "{outcome:?}");
}

#[test]
fn an_unready_pod_goes_only_when_the_others_are_healthy() {
    let (mut world, _) = guarded();
    let none = Request::Evict { pod: ObjectRef::pod("default", "none"), uid: Uid::from("x") };
    assert_eq!(world.send(&none, "r/1/1"), Outcome::Rejected { cause: Cause::NotFound });
    let mut world =
        Cluster::new(&["a"]).deployment("web", 2, rolling(1, 0)).budget("web", "web", 1).world(timed(1, None, 1));
    world.advance(Seconds::new(30));
    let pod = pods(world.view(), "Deployment", "web")[0].clone();
    assert!(!pod.ready);
    let outcome = world.send(&evict(&pod), "r/1/1");
    assert!(matches!(outcome, Outcome::Rejected { cause: Cause::Budget { .. } }), "{outcome:?}");
}

#[test]
fn a_field_is_set_only_if_it_has_the_expected_value() {
    let (mut world, _) = guarded();
    let set = |from: Option<&str>, to: Option<&str>| {
        Request::SetField(Change {
            target: ObjectRef::node("a"),
            field: Field::NoScheduleTaint { key: "fence".to_owned() },
            from: from.map(str::to_owned),
            to: to.map(str::to_owned),
        })
    };
    assert_eq!(world.send(&set(None, Some("1")), "r/1/1"), Outcome::Applied);
    let outcome = world.send(&set(None, Some("2")), "r/2/1");
    assert!(matches!(outcome, Outcome::Rejected { cause: Cause::Conflict { .. } }), "{outcome:?}");
    assert_eq!(world.send(&set(Some("1"), None), "r/3/1"), Outcome::Applied);
    assert!(world.view().node("a").unwrap().taints.is_empty());
}

#[test]
fn a_request_without_an_answer_can_land_late_and_is_named_in_the_audit_log() {
    let (mut world, all) = guarded();
    world.set_faults(Faults::new(vec![(When::NthEviction(1), Fault::LandsLate { delay: Seconds::new(20) })]));
    let sent = world.now();
    let outcome = world.send(&evict(&all[0]), "run/1/1");
    let Outcome::Unknown { not_before, .. } = outcome else { panic!("{outcome:?}") };
    assert_eq!(not_before, sent + Seconds::new(35));
    world.advance(Seconds::new(10));
    let read = world.read(&pod_ref(&all[0])).unwrap().unwrap();
    assert!(read.meta().deleting.is_none(), "an early read proves nothing");
    world.advance(Seconds::new(15));
    assert!(world.read(&pod_ref(&all[0])).unwrap().is_none());
    assert!(world.audit_log().lines().any(|line| line.contains("run/1/1") && line.contains("\"eviction\"")));
}

#[test]
fn a_cut_watch_shows_the_past_and_a_fresh_read_the_truth() {
    let (mut world, all) = guarded();
    world.set_faults(Faults::new(vec![(When::Nth(1), Fault::WatchCut { lasts: Seconds::new(60) })]));
    assert_eq!(world.send(&evict(&all[0]), "r/1/1"), Outcome::Applied);
    let began = world.now();
    world.wait(began + Seconds::new(30));
    assert_eq!(world.now(), began + Seconds::new(30), "nothing comes through");
    assert!(world.view().pod(&all[0].meta.key()).is_some());
    assert!(world.read(&pod_ref(&all[0])).unwrap().is_none());
    world.wait(began + Seconds::new(90));
    assert!(world.view().pod(&all[0].meta.key()).is_none());
    assert!(world.now() <= began + Seconds::new(61));
}

#[test]
fn the_same_seed_gives_the_same_bytes_and_a_fork_goes_its_own_way() {
    let run = || {
        let (mut world, all) = guarded();
        world.send(&evict(&all[0]), "r/1/1");
        world.advance(Seconds::new(60));
        world
    };
    let (one, two) = (run(), run());
    assert!(one.audit_log().len() > 1000);
    assert_eq!(one.audit_log(), two.audit_log());
    let mut fork = one.clone();
    let pod = pods(fork.view(), "Deployment", "web")[0].clone();
    fork.send(&evict(&pod), "r/2/1");
    fork.advance(Seconds::new(60));
    assert_eq!(one.audit_log(), two.audit_log(), "the world that was forked stays as it is");
    assert!(one.view().pod(&pod.meta.key()).is_some() && fork.view().pod(&pod.meta.key()).is_none());
    let mut again = two.clone();
    again.send(&evict(&pod), "r/2/1");
    again.advance(Seconds::new(60));
    assert_eq!(again.audit_log(), fork.audit_log(), "a fork has the same future as what it was forked from");
}

#[test]
fn an_outage_is_counted_from_the_last_ready_pod_to_the_next() {
    let mut world = Cluster::new(&["a"]).stateful("db", 1, WorkloadStrategy::Ordered).world(timed(2, Some(3), 4));
    settle(&mut world, "StatefulSet", "db", 1);
    let pod = pods(world.view(), "StatefulSet", "db")[0].clone();
    world.send(&evict(&pod), "r/1/1");
    let until = world.now() + Seconds::new(60);
    world.run_until(until, |view| view.pod(&key("db-0")).is_some_and(|new| new.ready && new.meta.uid != pod.meta.uid));
    let out = world.without_ready()[&ObjectRef::namespaced("StatefulSet", "default", "db")];
    assert!(out >= Seconds::new(9) && out < Seconds::new(10), "{out}");
    let placed = world.placements(&[ObjectRef::namespaced("StatefulSet", "default", "db"), deployment("none")]);
    assert_eq!(placed.len(), 1);
    assert_eq!(world.view().of_kind(Kind::Node).count(), 1);
}
