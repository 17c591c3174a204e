//! Complaints about pods that move more often than they must.

use rehome_model::request::Request;
use rehome_model::verb::{FENCE_TAINT, Field};
use rehome_testbed::clock;
use serde_json::json;

use crate::audited::{cost, evictions};
use crate::drain::drain;
use crate::home::{Home, both};
use crate::objects::{deployment, merge, rather, stateful_set, without_surge};
use crate::rehome::{execute, plan};
use crate::table::row;

/// Four pods on two old nodes, which they rather have than `new`.
fn four(name: &str) -> Home {
    let home = Home::new(name, &["old-1", "old-2"]);
    let mut template = rather("old");
    merge(
        &mut template,
        &json!({"spec": {"topologySpreadConstraints": [{"maxSkew": 1, "topologyKey": "kubernetes.io/hostname",
            "whenUnsatisfiable": "ScheduleAnyway", "labelSelector": {"matchLabels": {"app": "web"}}}]}}),
    );
    home.create(&[without_surge(&home, "web", 4, &template)]);
    home.settled(4);
    home
}

#[test]
fn c30_moved_several_times() {
    both(
        30,
        |name| {
            let home = four(name);
            let from = clock::now();
            assert!(drain(&home, &["old-1"], 40, || {}).done);
            home.settled(4);
            home.add_nodes(&["new"]);
            assert!(drain(&home, &["old-2"], 40, || {}).done);
            home.settled(4);
            let cost = cost(&home, "web", &["old-1", "old-2"], from, clock::now());
            assert!(cost.moved_again > 0, "{cost:?}");
        },
        |name| {
            let home = four(name);
            home.add_nodes(&["new"]);
            let plan = plan(&home, &["old-1", "old-2"]);
            let from = clock::now();
            let ran = execute(&home, &plan, |_| {});
            ran.done();
            let cost = cost(&home, "web", &["old-1", "old-2"], from, clock::now());
            assert_eq!((cost.pods, cost.left, cost.moved_again), (4, 4, 0), "{cost:?}");
            assert_eq!((ran.receipts().len(), home.on("new").len()), (4, 4));
        },
    );
    row(30, "pods of the first node go to the second, and move again", "each pod moves once");
}

#[test]
fn c31_nodes_that_are_emptied_later_attract_pods() {
    both(
        31,
        |name| {
            let home = four(name);
            home.add_nodes(&["new"]);
            assert!(drain(&home, &["old-1"], 40, || {}).done);
            assert!(!home.cordoned("old-2") && home.taints("old-2").is_empty());
        },
        |name| {
            let home = four(name);
            home.add_nodes(&["new"]);
            let plan = plan(&home, &["old-1", "old-2"]);
            assert_eq!(plan.blockers().count(), 0, "there is room for all");
            let ran = execute(&home, &plan, |_| {});
            ran.done();
            let fences = |request: &&Request| match request {
                Request::SetField(change) => {
                    change.to.is_some() && change.field == Field::NoScheduleTaint { key: FENCE_TAINT.to_owned() }
                }
                _ => false,
            };
            let before_the_first = ran.requests().take_while(|request| !matches!(request, Request::Evict { .. }));
            assert_eq!(before_the_first.filter(fences).count(), 2, "both, before anything leaves");
            assert_eq!(home.taints("old-2"), [FENCE_TAINT]);
        },
    );
    row(
        31,
        "closes the node that it drains, and no other",
        "closes all nodes that are emptied, with NoSchedule, before the first eviction",
    );
}

/// Tolerates every taint.
fn tolerant() -> serde_json::Value {
    let mut template = rather("old");
    merge(&mut template, &json!({"spec": {"tolerations": [{"operator": "Exists"}]}}));
    template
}

#[test]
fn c32_tolerates_everything_and_comes_back() {
    both(
        32,
        |name| {
            let home = Home::new(name, &["old", "new"]);
            home.create(&[deployment(&home, "agent", 1, &tolerant())]);
            home.settled(1);
            assert_eq!(home.on("old").len(), 1);
            let drained = drain(&home, &["old"], 20, || {});
            assert!(drained.done, "{}", drained.text);
            home.settled(1);
            assert_eq!(home.on("old").len(), 1, "it is back");
        },
        |name| {
            let home = Home::new(name, &["old", "new"]);
            home.create(&[deployment(&home, "agent", 1, &tolerant())]);
            home.settled(1);
            let found = crate::budgets::refused(&home, &plan(&home, &["old"]), "tolerates-everything");
            assert!(found.remedies.iter().any(|remedy| remedy.contains("node affinity")), "{:?}", found.remedies);
            home.delete(&home.path("apps/v1", "deployments", "agent"));

            // One that begins to tolerate everything after it was planned comes back once, and no more.
            home.create(&[stateful_set(&home, "db", 1, &rather("old"))]);
            home.until("db-0", || home.pod("db-0").filter(|pod| pod.ready()).map(drop).ok_or_else(String::new));
            home.until("agent to go", || (home.pods().len() == 1).then_some(()).ok_or_else(String::new));
            let plan = plan(&home, &["old"]);
            home.patch(&home.path("apps/v1", "statefulsets", "db"), &json!({"spec": {"template": tolerant()}}));
            let before = evictions(&home).len();
            let ran = execute(&home, &plan, |_| {});
            let (_, cause) = ran.stuck();
            assert!(cause.contains("a node that is being emptied"), "{cause}");
            assert_eq!(evictions(&home).len() - before, 1);
        },
    );
    row(
        32,
        "reports the node drained; the pod is back on it",
        "does not begin, and says that a node affinity keeps it away; one that does it later is evicted once, and the run stops",
    );
}
