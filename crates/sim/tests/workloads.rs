//! The controllers at work in a whole simulated cluster.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

mod cluster;

use std::sync::Arc;

use cluster::{Cluster, START, deployment, key, pod_ref, pods, rolling, settle, timed, with_claim, workload};
use rehome_engine::world::World;
use rehome_k8s::workload::WorkloadStrategy;
use rehome_k8s::{Kind, Record, readiness};
use rehome_model::request::{Outcome, Request};
use rehome_model::time::Seconds;
use rehome_model::verb::{Change, Field, RESTART_ANNOTATION};
use rehome_model::{ObjectRef, Timestamp};

fn later(world: &impl World) -> Timestamp {
    world.now() + Seconds::new(600)
}

fn restart(name: &str) -> Request {
    Request::SetField(Change {
        target: deployment(name),
        field: Field::TemplateAnnotation { key: RESTART_ANNOTATION.to_owned() },
        from: None,
        to: Some("now".to_owned()),
    })
}

#[test]
fn a_rollout_with_surge_never_has_fewer_available_pods_than_it_may() {
    let mut world = Cluster::new(&["a", "b"]).deployment("web", 3, rolling(1, 0)).world(timed(2, Some(3), 1));
    settle(&mut world, "Deployment", "web", 3);
    let before = pods(world.view(), "Deployment", "web");
    assert_eq!(world.send(&restart("web"), "r/1/1"), Outcome::Applied);
    let mut least = 3;
    let mut most = 0;
    let done = world.run_until(START + Seconds::new(600), |view| {
        least = least.min(readiness::serving(view, &deployment("web")));
        most = most.max(pods(view, "Deployment", "web").iter().filter(|pod| pod.meta.deleting.is_none()).count());
        let Some(Record::Deployment(web)) = view.get(Kind::Deployment, &key("web")) else { return false };
        readiness::rolled_out(web)
    });
    assert!(done, "the rollout ends");
    assert_eq!((least, most), (3, 4));
    settle(&mut world, "Deployment", "web", 3);
    let after = pods(world.view(), "Deployment", "web");
    assert!(after.iter().all(|pod| before.iter().all(|old| old.meta.uid != pod.meta.uid)));
    assert_eq!(world.without_ready().len(), 0);
}

#[test]
fn recreate_has_an_outage_as_long_as_a_stop_and_a_start() {
    let mut world = Cluster::new(&["a"]).deployment("db", 1, WorkloadStrategy::Recreate).world(timed(2, Some(3), 4));
    settle(&mut world, "Deployment", "db", 1);
    world.send(&restart("db"), "r/1/1");
    let until = later(&world);
    world.run_until(until, |view| {
        pods(view, "Deployment", "db").iter().any(|pod| pod.ready && pod.meta.created > Some(START + Seconds::new(1)))
    });
    let out = world.without_ready()[&deployment("db")];
    assert!(out >= Seconds::new(9) && out < Seconds::new(10), "{out}");
}

#[test]
fn a_replica_set_replaces_a_pod_while_it_terminates() {
    let mut world = Cluster::new(&["a", "b"]).deployment("web", 2, rolling(1, 0)).world(timed(1, Some(1), 20));
    settle(&mut world, "Deployment", "web", 2);
    let victim = pods(world.view(), "Deployment", "web")[0].clone();
    let request = Request::Evict { pod: pod_ref(&victim), uid: victim.meta.uid.clone() };
    assert_eq!(world.send(&request, "r/1/1"), Outcome::Applied);
    let until = later(&world);
    let both = world.run_until(until, |view| {
        let all = pods(view, "Deployment", "web");
        all.len() == 3 && all.iter().filter(|pod| readiness::serves(pod)).count() == 2
    });
    assert!(both, "the replacement is Ready while the old pod is still there");
    assert!(world.truth().pod(&victim.meta.key()).is_some());
}

#[test]
fn a_stateful_set_creates_the_successor_only_when_the_old_pod_is_gone() {
    let mut world = Cluster::new(&["a", "b"]).stateful("db", 2, WorkloadStrategy::Ordered).world(timed(1, Some(1), 20));
    settle(&mut world, "StatefulSet", "db", 2);
    let victim = world.view().pod(&key("db-0")).unwrap().clone();
    let request = Request::Evict { pod: pod_ref(&victim), uid: victim.meta.uid.clone() };
    assert_eq!(world.send(&request, "r/1/1"), Outcome::Applied);
    let evicted = world.now();
    let until = later(&world);
    assert!(world.run_until(until, |view| view.pod(&key("db-0")).is_some_and(|pod| pod.meta.uid != victim.meta.uid)));
    assert!(world.now() - evicted >= Seconds::new(20), "not before the old one was gone");
    settle(&mut world, "StatefulSet", "db", 2);
}

#[test]
fn an_ordered_set_starts_one_after_the_other_and_scales_down_from_the_top() {
    let mut world = Cluster::new(&["a"]).stateful("db", 3, WorkloadStrategy::Ordered).world(timed(1, Some(4), 1));
    let until = later(&world);
    assert!(world.run_until(until, |view| view.pod(&key("db-1")).is_some()));
    assert!(world.view().pod(&key("db-0")).unwrap().ready);
    settle(&mut world, "StatefulSet", "db", 3);
    let Some(Record::StatefulSet(set)) = world.view().get(Kind::StatefulSet, &key("db")).cloned() else { panic!() };
    let mut set = (*set).clone();
    set.replicas = Some(1);
    world.mutate("somebody", rehome_sim::controllers::Mutation::Update(Record::StatefulSet(Arc::new(set))));
    let until = later(&world);
    assert!(world.run_until(until, |view| view.pod(&key("db-2")).is_none()));
    assert!(world.view().pod(&key("db-1")).is_some());
    settle(&mut world, "StatefulSet", "db", 1);
}

#[test]
fn a_volume_of_one_node_holds_the_successor_until_the_old_pod_is_gone() {
    let web = with_claim(workload("web", 1, rolling(1, 0)), "data");
    let mut world =
        Cluster::new(&["a", "b"]).with(Record::Deployment(Arc::new(web))).claim("data").world(timed(1, Some(1), 15));
    settle(&mut world, "Deployment", "web", 1);
    let victim = pods(world.view(), "Deployment", "web")[0].clone();
    let node = ObjectRef::node(victim.node.clone().unwrap());
    let cordon = Change { target: node, field: Field::Unschedulable, from: None, to: Some("true".to_owned()) };
    assert_eq!(world.send(&Request::SetField(cordon), "r/1/1"), Outcome::Applied);
    let request = Request::Evict { pod: pod_ref(&victim), uid: victim.meta.uid.clone() };
    assert_eq!(world.send(&request, "r/2/1"), Outcome::Applied);
    world.advance(Seconds::new(10));
    let waits =
        pods(world.view(), "Deployment", "web").into_iter().find(|pod| pod.meta.uid != victim.meta.uid).unwrap();
    assert!(waits.node.is_some() && !waits.ready);
    assert_eq!(waits.reason.as_deref(), Some("ContainerCreating"));
    settle(&mut world, "Deployment", "web", 1);
    assert!(world.without_ready()[&deployment("web")] > Seconds::new(15));
}

#[test]
fn a_daemon_set_does_not_come_back_on_a_fenced_node_but_stays_there() {
    let agents = workload("agent", 0, WorkloadStrategy::NotApplicable);
    let mut world = Cluster::new(&["a", "b"]).with(Record::DaemonSet(Arc::new(agents))).world(timed(1, Some(1), 1));
    settle(&mut world, "DaemonSet", "agent", 2);
    let fence = Change {
        target: ObjectRef::node("a"),
        field: Field::NoScheduleTaint { key: "fence".to_owned() },
        from: None,
        to: Some("run".to_owned()),
    };
    assert_eq!(world.send(&Request::SetField(fence), "r/1/1"), Outcome::Applied);
    world.advance(Seconds::new(30));
    assert_eq!(pods(world.view(), "DaemonSet", "agent").len(), 2, "the pod that is there stays");
    let lost =
        pods(world.view(), "DaemonSet", "agent").into_iter().find(|pod| pod.node.as_deref() == Some("a")).unwrap();
    world.send(&Request::Delete { pod: pod_ref(&lost), uid: lost.meta.uid.clone() }, "r/2/1");
    world.advance(Seconds::new(30));
    assert_eq!(pods(world.view(), "DaemonSet", "agent").len(), 1, "a lost one is not created again");
    let Some(Record::DaemonSet(agent)) = world.view().get(Kind::DaemonSet, &key("agent")) else { panic!() };
    assert_eq!(agent.replicas, Some(1));
}

#[test]
fn a_job_replaces_an_evicted_pod() {
    let mut world = Cluster::new(&["a"])
        .with(Record::Job(Arc::new(workload("batch", 1, WorkloadStrategy::NotApplicable))))
        .world(timed(1, Some(1), 1));
    settle(&mut world, "Job", "batch", 1);
    let victim = pods(world.view(), "Job", "batch")[0].clone();
    world.send(&Request::Evict { pod: pod_ref(&victim), uid: victim.meta.uid.clone() }, "r/1/1");
    let until = later(&world);
    assert!(world.run_until(until, |view| {
        let all = pods(view, "Job", "batch");
        all.len() == 1 && all[0].ready && all[0].meta.uid != victim.meta.uid
    }));
}

#[test]
fn what_a_deployment_controlled_goes_with_it() {
    let mut world = Cluster::new(&["a"]).deployment("web", 2, rolling(1, 0)).world(timed(1, Some(1), 1));
    settle(&mut world, "Deployment", "web", 2);
    world.mutate("somebody", rehome_sim::controllers::Mutation::Delete(Kind::Deployment, key("web")));
    let until = later(&world);
    assert!(world.run_until(until, |view| view.pods().next().is_none()));
    assert_eq!(world.view().of_kind(Kind::ReplicaSet).count(), 0);
}

#[test]
fn a_pod_that_fits_nowhere_waits_and_is_placed_when_there_is_room() {
    let mut world = Cluster::new(&["a"]).deployment("web", 41, rolling(1, 0)).world(timed(1, Some(1), 1));
    world.advance(Seconds::new(30));
    let pending = world.pending();
    assert_eq!(pending.len(), 1);
    assert_eq!(pending[0].reasons, [("Insufficient cpu".to_owned(), 1)].into());
    let room = Cluster::new(&["b"]).0;
    world.mutate("somebody", rehome_sim::controllers::Mutation::Create(Record::Node(room.node("b").unwrap().clone())));
    settle(&mut world, "Deployment", "web", 41);
}
