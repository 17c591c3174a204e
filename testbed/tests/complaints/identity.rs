//! Complaints about which pod is meant, and about races.

use rehome_model::journal::Event;
use rehome_testbed::control_plane::rule;
use serde_json::json;

use crate::audited::{evictions, node_changes};
use crate::drain::{drain, drain_as};
use crate::home::{Home, SLOW_STOP, both, plane};
use crate::objects::{bound_pod, budget, only_on, pace, stateful_set};
use crate::rehome::{blocker, execute, execute_as, impatient, plan, plan_with};
use crate::table::row;

/// `db-0` on `old`, under a budget that lets it go.
fn database(name: &str) -> Home {
    let home = Home::new(name, &["old"]);
    let labels = json!({"app": "db"});
    home.create(&[
        stateful_set(&home, "db", 1, &json!({})),
        budget(&home, "db", &labels, &json!({"maxUnavailable": 1})),
    ]);
    home.settled(1);
    home.add_nodes(&["new"]);
    home.budget("db", 1);
    home
}

/// Somebody deletes the refused pod; then the budget lets pods go again. Gives the UID of the pod that came.
fn replaced_while_refused(home: &Home) -> String {
    home.delete(&home.pod_path("db-0"));
    let new = home.full("new");
    let successor = home.until("db-0 to be Ready on new", || {
        let found = home.pod("db-0").filter(|pod| pod.ready() && pod.node() == Some(&new) && !pod.leaves());
        found.ok_or_else(|| "not yet".to_owned())
    });
    home.patch(&home.budget_path("db"), &json!({"spec": {"maxUnavailable": 1}}));
    home.budget("db", 1);
    successor.uid().to_owned()
}

fn refuse(home: &Home) {
    home.patch(&home.budget_path("db"), &json!({"spec": {"maxUnavailable": 0}}));
    home.budget("db", 0);
}

#[test]
fn c01_name_comes_back_on_another_node() {
    both(
        1,
        |name| {
            let home = database(name);
            refuse(&home);
            let mut successor = String::new();
            let drained = drain(&home, &["old"], 30, || {
                home.until("a refused eviction", || {
                    let refused = evictions(&home).iter().any(|event| event.code() == 429);
                    refused.then_some(()).ok_or_else(|| "not yet".to_owned())
                });
                successor = replaced_while_refused(&home);
            });
            assert!(drained.done, "{}", drained.text);
            // It is evicted on the healthy node: another pod has its name afterwards, or it is on its way out.
            home.until("the successor to be evicted", || match home.pod("db-0") {
                Some(pod) if pod.uid() == successor && !pod.leaves() => Err("it is still there".to_owned()),
                _ => Ok(()),
            });
        },
        |name| {
            let home = database(name);
            let plan = plan(&home, &["old"]);
            refuse(&home);
            let old = home.only("db").uid().to_owned();
            let mut successor = String::new();
            let ran = execute(&home, &plan, |running| {
                running.waits_for("never allows an eviction");
                successor = replaced_while_refused(&home);
            });
            ran.done();
            assert!(ran.evicted().iter().all(|uid| *uid == old), "{:?}", ran.evicted());
            assert_eq!(home.only("db").uid(), successor, "nobody touched the pod that came");
            assert_eq!(ran.receipts()[0].successor.as_ref().unwrap().uid.0, successor);
        },
    );
    row(
        1,
        "evicts the replacement on the healthy node",
        "evicts by UID: the replacement stays, and is the receipt of the move",
    );
}

/// `db-0` on `old`; whatever comes next under its name may run there only.
fn bound_to_old(name: &str, patched: impl FnOnce(&Home)) -> Home {
    let home = Home::new(name, &["old"]);
    home.create(&[stateful_set(&home, "db", 1, &json!({}))]);
    home.settled(1);
    home.add_nodes(&["new"]);
    patched(&home);
    let template = only_on(&home, "old");
    home.patch(&home.path("apps/v1", "statefulsets", "db"), &json!({"spec": {"template": template}}));
    home
}

fn pending(home: &Home) {
    home.until("db-0 to be Pending", || {
        let pending = home.pod("db-0").is_some_and(|pod| pod.unschedulable());
        pending.then_some(()).ok_or_else(|| "not yet".to_owned())
    });
}

#[test]
fn c02_successor_may_run_on_the_drained_node_only() {
    both(
        2,
        |name| {
            let home = bound_to_old(name, |_| {});
            let drained = drain(&home, &["old"], 20, || {});
            assert!(drained.done, "{}", drained.text);
            pending(&home);
        },
        |name| {
            let mut before = None;
            let home = bound_to_old(name, |home| before = Some(plan_with(home, &["old"], impatient)));
            // Asked now, it says so before anything is touched.
            let blocked = plan(&home, &["old"]);
            assert_eq!(blocker(&blocked, "no-matching-target").subject.name, "db");
            // And a run that did not know stops at this pod, and does not ask for it again.
            let ran = execute(&home, &before.unwrap(), |_| {});
            let (step, cause) = ran.stuck();
            assert!(step.ends_with(&format!("move/{}/db", home.name)), "{step}");
            assert!(cause.contains("db-0 is Pending"), "{cause}");
            assert_eq!(ran.evicted().len(), 1);
            assert!(home.on("old").is_empty());
            pending(&home);
        },
    );
    row(
        2,
        "evicts it and reports the node drained; that the workload is down is not said",
        "does not begin; begun before, it stops at the move and names the Pending pod",
    );
}

#[test]
fn c03_cordon_is_refused() {
    let read = &["get", "list", "watch"];
    // All that a run reads, and evictions: the one thing that is missing is to change a node.
    let rules = [rule("*", &["*"], read), rule("", &["pods/eviction"], &["create"])];
    let user = plane().identity("c03-no-nodes", &rules).unwrap();
    both(
        3,
        |name| {
            let home = database(name);
            let before = home.only("db").uid().to_owned();
            let drained = drain_as(&home, user.kubeconfig(), &["old"], 20, &[], || {});
            assert!(drained.text.contains("cordon"), "{}", drained.text);
            assert!(!home.cordoned("old"));
            let evicted = home.pod("db-0").is_none_or(|pod| pod.uid() != before || pod.leaves());
            assert!(evicted, "{}", drained.text);
        },
        |name| {
            let home = database(name);
            let plan = plan(&home, &["old"]);
            let before = home.only("db").uid().to_owned();
            let connection = crate::rehome::connect(user.kubeconfig());
            let denied = rehome_run::access::denied(&connection, rehome_run::access::to_carry_out(&plan)).unwrap();
            let missing: Vec<String> = denied.iter().map(|denied| denied.permission.to_string()).collect();
            assert_eq!(missing, ["patch nodes"], "the program does not begin");
            // The engine by itself does not go on either.
            let ran = execute_as(&home, user.kubeconfig(), &plan, |_| {});
            assert!(ran.stuck().0.contains("fence/"), "{:?}", ran.end);
            assert_eq!(ran.evicted().len(), 0);
            assert_eq!(home.only("db").uid(), before);
        },
    );
    row(
        3,
        "says that it could not cordon, and evicts from the open node",
        "says which permission is missing and does not begin; without the fence, no pod is evicted",
    );
}

/// The node was closed before the first of its pods was asked to go.
fn closed_first(home: &Home) -> bool {
    let (closed, evicted) = (node_changes(home, "old"), evictions(home));
    closed[0].stage_timestamp <= evicted[0].request_received_timestamp
}

#[test]
fn c04_node_is_closed_before_anything_is_evicted() {
    both(
        4,
        |name| {
            let home = database(name);
            assert!(drain(&home, &["old"], 20, || {}).done);
            assert!(closed_first(&home) && home.cordoned("old"));
        },
        |name| {
            let home = database(name);
            let ran = execute(&home, &plan(&home, &["old"]), |_| {});
            ran.done();
            assert!(closed_first(&home) && home.cordoned("old"));
            // Closed on the server is not enough: nothing begins before the watch has shown it.
            let position = |find: &dyn Fn(&Event) -> bool| ran.records.iter().position(|record| find(&record.event));
            let fenced = position(&|event| matches!(event, Event::StepDone { step } if step.ends_with("/fenced")));
            let began = position(&|event| matches!(event, Event::StepStarted { step, .. } if step.contains("/move/")));
            assert!(fenced.unwrap() < began.unwrap());
        },
    );
    row(4, "cordons first", "fences first, and waits until the watch shows the fence");
}

#[test]
fn c06_drained_only_when_the_pod_is_gone() {
    const HELD: &str = "complaints.test/held";
    let held = |name: &str| {
        let home = database(name);
        home.patch(&home.pod_path("db-0"), &json!({"metadata": {"finalizers": [HELD]}}));
        home
    };
    both(
        6,
        |name| {
            let home = held(name);
            let drained = drain(&home, &["old"], 8, || {});
            assert!(drained.gave_up(), "{}", drained.text);
            assert_eq!(home.on("old"), ["db-0"]);
            home.patch(&home.pod_path("db-0"), &json!({"metadata": {"finalizers": null}}));
        },
        |name| {
            let home = held(name);
            let ran = execute(&home, &plan(&home, &["old"]), |running| {
                running.waits_for("is terminating");
                let counted = |event: &Event| matches!(event, Event::Moved { .. } | Event::NodeEmpty { .. });
                assert!(!running.recorded(counted), "the pod is still there");
                home.patch(&home.pod_path("db-0"), &json!({"metadata": {"finalizers": null}}));
            });
            ran.done();
            assert!(home.on("old").is_empty());
        },
    );
    row(6, "waits until the pod is gone, or gives up", "waits until the UID is gone; only then is there a receipt");
}

#[test]
fn c07_pod_is_bound_after_the_list() {
    let slow = |name: &str| {
        let home = Home::new(name, &["old"]);
        home.create(&[stateful_set(&home, "db", 1, &pace(SLOW_STOP))]);
        home.settled(1);
        home.add_nodes(&["new"]);
        home
    };
    let leaving = |home: &Home| {
        home.until("db-0 to be asked to go", || {
            let leaves = home.pod("db-0").is_some_and(|pod| pod.leaves());
            leaves.then_some(()).ok_or_else(|| "not yet".to_owned())
        });
        home.create(&[bound_pod(home, "late", "old")]);
    };
    both(
        7,
        |name| {
            let home = slow(name);
            let drained = drain(&home, &["old"], 40, || leaving(&home));
            assert!(drained.done, "{}", drained.text);
            assert_eq!(home.on("old"), ["late"]);
        },
        |name| {
            let home = slow(name);
            let ran = execute(&home, &plan(&home, &["old"]), |running| {
                leaving(&home);
                running.waits_for(&format!("still holds {}/late", home.name));
                let proved = |event: &Event| matches!(event, Event::NodeEmpty { .. });
                assert!(!running.recorded(proved));
                home.delete(&home.pod_path("late"));
            });
            ran.done();
            let lists = ran.records.iter().find_map(|record| match &record.event {
                Event::NodeEmpty { lists, .. } => Some(lists),
                _ => None,
            });
            let [first, second] = lists.unwrap();
            assert!((second.at - first.at).as_millis() >= 5000, "two lists, 5 s apart");
            assert!(home.on("old").is_empty());
        },
    );
    row(
        7,
        "reports the node drained while the late pod runs on it",
        "names the late pod; the node is empty only when two lists 5 s apart say so",
    );
}
