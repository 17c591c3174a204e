//! Complaints about workloads that are down while they are moved.

use rehome_testbed::clock;
use serde_json::{Value, json};

use crate::audited::{NEVER, cost, evictions};
use crate::drain::drain;
use crate::home::{Home, NEVER_READY, SLOW_START, both};
use crate::objects::{deployment, merge, only_on, pace, rather, service, stateful_set};
use crate::rehome::{execute, impatient, plan, plan_with};
use crate::table::row;

/// Two replicas that start slowly, one on each of two old nodes, which they rather have than `new`.
fn replicas(name: &str) -> Home {
    let home = Home::new(name, &["old-1", "old-2"]);
    let mut template = rather("old");
    merge(&mut template, &pace(SLOW_START));
    let spread: Value = json!({"spec": {"topologySpreadConstraints": [{"maxSkew": 1, "topologyKey": "kubernetes.io/hostname",
        "whenUnsatisfiable": "ScheduleAnyway", "labelSelector": {"matchLabels": {"app": "web"}}}]}});
    merge(&mut template, &spread);
    home.create(&[deployment(&home, "web", 2, &template), service(&home, "web")]);
    home.settled(2);
    assert_eq!((home.on("old-1").len(), home.on("old-2").len()), (1, 1));
    home
}

#[test]
fn c24_both_replicas_meet_on_the_next_node() {
    both(
        24,
        |name| {
            let home = replicas(name);
            let from = clock::now();
            // As a script does it that replaces nodes one after the other.
            assert!(drain(&home, &["old-1"], 40, || {}).done);
            home.settled(2);
            assert_eq!(home.on("old-2").len(), 2, "both are on the node that is drained next");
            home.add_nodes(&["new"]);
            assert!(drain(&home, &["old-2"], 40, || {}).done);
            home.settled(2);
            let cost = cost(&home, "web", &["old-1", "old-2"], from, clock::now());
            assert!(cost.without_ready > NEVER, "{cost:?}");
        },
        |name| {
            let home = replicas(name);
            home.add_nodes(&["new"]);
            let plan = plan(&home, &["old-1", "old-2"]);
            let from = clock::now();
            execute(&home, &plan, |_| {}).done();
            let cost = cost(&home, "web", &["old-1", "old-2"], from, clock::now());
            assert_eq!((cost.pods, cost.left, cost.moved_again, cost.without_ready), (2, 2, 0, NEVER), "{cost:?}");
            assert_eq!(home.on("new").len(), 2);
        },
    );
    row(
        24,
        "the second drain takes both away: no Ready endpoint for a while",
        "always a Ready endpoint; each moves once",
    );
}

/// Two replicas that start slowly, both on one node, without a budget.
fn together(name: &str) -> Home {
    let home = Home::new(name, &["old"]);
    home.create(&[deployment(&home, "web", 2, &pace(SLOW_START)), service(&home, "web")]);
    home.settled(2);
    home.add_nodes(&["new"]);
    home
}

#[test]
fn c25_evicted_before_others_are_ready() {
    both(
        25,
        |name| {
            let home = together(name);
            let from = clock::now();
            assert!(drain(&home, &["old"], 40, || {}).done);
            home.settled(2);
            let cost = cost(&home, "web", &["old"], from, clock::now());
            assert!(cost.without_ready > NEVER, "{cost:?}");
        },
        |name| {
            let home = together(name);
            let plan = plan(&home, &["old"]);
            let from = clock::now();
            execute(&home, &plan, |_| {}).done();
            let cost = cost(&home, "web", &["old"], from, clock::now());
            assert_eq!((cost.left, cost.moved_again, cost.without_ready), (2, 0, NEVER), "{cost:?}");
        },
    );
    row(25, "takes both away at once: no Ready endpoint until others have started", "always a Ready endpoint");
}

/// `first` on `old-1`, `second` on `old-2`; the next pod of `first` never becomes Ready.
fn one_after_the_other(name: &str, planned: impl FnOnce(&Home)) -> Home {
    let home = Home::new(name, &["old-1", "old-2"]);
    let asks = |node: &str, cpu: &str| {
        let mut template = only_on(&home, node);
        let main = json!([{"name": "main", "image": "example.test/main:1", "resources": {"requests": {"cpu": cpu}}}]);
        template["spec"]["containers"] = main;
        template
    };
    // The less loaded node is emptied first.
    home.create(&[
        stateful_set(&home, "first", 1, &asks("old-1", "100m")),
        stateful_set(&home, "second", 1, &asks("old-2", "500m")),
    ]);
    home.settled(2);
    home.add_nodes(&["new"]);
    let free = |workload: &str, labels: Value| {
        let template =
            json!({"metadata": {"labels": labels}, "spec": {"nodeSelector": {"kubernetes.io/hostname": null}}});
        home.patch(&home.path("apps/v1", "statefulsets", workload), &json!({"spec": {"template": template}}));
    };
    free("first", json!({}));
    free("second", json!({}));
    planned(&home);
    free("first", json!({crate::home::PACE: NEVER_READY}));
    home
}

#[test]
fn c26_first_node_went_wrong() {
    both(
        26,
        |name| {
            let home = one_after_the_other(name, |_| {});
            let drained = drain(&home, &["old-1", "old-2"], 40, || {});
            assert!(drained.done && home.cordoned("old-2"), "{}", drained.text);
            assert!(!home.pod("first-0").is_some_and(|pod| pod.ready()));
            assert_eq!(evictions(&home).len(), 2);
        },
        |name| {
            let mut before = None;
            let home = one_after_the_other(name, |home| {
                before = Some(plan_with(home, &["old-1", "old-2"], impatient));
            });
            let ran = execute(&home, &before.unwrap(), |_| {});
            let (step, cause) = ran.stuck();
            assert!(step.ends_with("/first") && cause.contains("first-0 is not Ready yet"), "{step}: {cause}");
            assert_eq!(ran.evicted().len(), 1);
            assert!(!home.cordoned("old-2"));
            assert_eq!(home.on("old-2"), ["second-0"]);
        },
    );
    row(
        26,
        "drains the second node, too, and reports success",
        "stops at the pod that does not become Ready; the second node is not cordoned, and nothing has left it",
    );
}
