//! The behaviour that a capture shows.

mod cluster;

use std::collections::BTreeMap;
use std::sync::Arc;

use cluster::{Cluster, START, deployment, meta, rolling, settle, timed, workload};
use rehome_k8s::Record;
use rehome_k8s::pod::{Phase, Pod, Timing};
use rehome_k8s::workload::WorkloadStrategy;
use rehome_model::ObjectRef;
use rehome_model::time::Seconds;
use rehome_sim::measured::behaviour_from;

#[test]
fn a_twin_of_a_twin_takes_as_long() {
    let mut world = Cluster::new(&["a"]).deployment("web", 3, rolling(1, 0)).world(timed(4, Some(7), 1));
    settle(&mut world, "Deployment", "web", 3);
    let measured = behaviour_from(world.truth());
    let labels = BTreeMap::from([("app".to_owned(), "web".to_owned())]);
    let rule = measured.behaviour.of(&labels).cloned();
    let rule = rule.as_ref().map(|rule| (rule.start, rule.ready));
    assert_eq!(rule, Some((Seconds::new(4), Some(Seconds::new(7)))));
    assert_eq!(measured.assumed[&deployment("web")], ["stopping takes 2s"]);
}

#[test]
fn what_was_never_ready_never_becomes_ready_and_what_is_not_known_is_said() {
    let mut set = workload("db", 1, WorkloadStrategy::Ordered);
    set.meta.namespace = "default".to_owned();
    let owner = set.meta.clone();
    let mut crashing = Pod {
        meta: meta("default", "db-0"),
        node: Some("a".to_owned()),
        phase: Phase::Running,
        reason: Some("CrashLoopBackOff".to_owned()),
        restarts: 12,
        timing: Timing { scheduled: Some(START), running: Some(START + Seconds::new(900)), ..Timing::default() },
        ..Pod::default()
    };
    crashing.meta.controller = Some(rehome_k8s::OwnerRef {
        api_version: "apps/v1".to_owned(),
        kind: "StatefulSet".to_owned(),
        name: owner.name.clone(),
        uid: owner.uid.clone(),
    });
    let cluster = Cluster::new(&["a"]).with(Record::StatefulSet(Arc::new(set))).with(Record::Pod(Arc::new(crashing)));
    let measured = behaviour_from(&cluster.0);
    let labels = BTreeMap::from([("app".to_owned(), "db".to_owned())]);
    assert!(measured.behaviour.of(&labels).is_some_and(|rule| rule.ready.is_none()));
    let assumed = &measured.assumed[&ObjectRef::namespaced("StatefulSet", "default", "db")];
    assert_eq!(assumed.len(), 3, "{assumed:?}");
    assert!(assumed[0].starts_with("starting takes"), "a restart is no start: {assumed:?}");
    let mut world = cluster.world(measured.behaviour);
    world.advance(Seconds::new(3600));
    assert!(world.truth().pods().all(|pod| !pod.ready), "what was stuck stays stuck");
}
