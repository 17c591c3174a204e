//! Complaints about budgets and the eviction endpoint.

use rehome_engine::drive::End;
use rehome_model::finding::Finding;
use rehome_model::plan::Plan;
use rehome_run::carry_out::RunError;
use rehome_testbed::clock;
use serde_json::{Value, json};

use crate::audited::{NEVER, cost, evictions};
use crate::drain::{drain, drain_as};
use crate::home::{Home, NEVER_READY, both, labelled, plane};
use crate::objects::{budget, deployment, only_on, pace, service, stateful_set, without_surge};
use crate::rehome::{Ran, blocker, execute, plan};
use crate::table::row;

/// The run does not begin because of this finding, and nothing was written.
pub(crate) fn refused(home: &Home, plan: &Plan, rule: &str) -> Finding {
    let finding = blocker(plan, rule).clone();
    let ran: Ran = execute(home, plan, |_| {});
    assert!(matches!(ran.end, Err(RunError::Refused(_))), "{:?}", ran.end);
    assert!(ran.records.is_empty());
    for node in &plan.sources {
        let short = node.trim_start_matches(&format!("{}-", home.name)).to_owned();
        assert!(!home.cordoned(&short) && home.taints(&short).is_empty(), "{node} is as it was");
    }
    assert!(evictions(home).is_empty());
    finding
}

/// Three pods of a StatefulSet, `db-0` on `old` and the others on `new`, and these budgets.
fn three(name: &str, budgets: impl Fn(&Home) -> Vec<Value>) -> Home {
    let home = Home::new(name, &["old"]);
    home.create(&[stateful_set(&home, "db", 1, &json!({}))]);
    home.settled(1);
    home.add_nodes(&["new"]);
    home.create(&budgets(&home));
    home.patch(&home.node_path("old"), &json!({"spec": {"unschedulable": true}}));
    home.patch(&home.path("apps/v1", "statefulsets", "db"), &json!({"spec": {"replicas": 3}}));
    home.settled(3);
    home.patch(&home.node_path("old"), &json!({"spec": {"unschedulable": null}}));
    assert_eq!(home.on("old"), ["db-0"]);
    home
}

#[test]
fn c10_two_budgets_over_one_pod() {
    let doubled = |name: &str| {
        let rule = json!({"maxUnavailable": 1});
        // Nobody waits for a count: of two budgets over a pod, the disruption controller follows one.
        three(name, |home| ["first", "second"].map(|name| budget(home, name, &json!({"app": "db"}), &rule)).to_vec())
    };
    both(
        10,
        |name| {
            let home = doubled(name);
            let drained = drain(&home, &["old"], 15, || {});
            assert!(!drained.done && drained.text.contains("more than one PodDisruptionBudget"), "{}", drained.text);
            assert!(home.cordoned("old"));
        },
        |name| {
            let home = doubled(name);
            let found = refused(&home, &plan(&home, &["old"]), "two-budgets");
            for part in ["db-0", "first", "second"] {
                assert!(found.message.contains(part), "{}", found.message);
            }
        },
    );
    row(10, "fails at the pod; the node stays cordoned", "names the pod and both budgets, and does not begin");
}

#[test]
fn c11_one_replica_under_a_budget_of_one() {
    let single = |name: &str| {
        let home = Home::new(name, &["old"]);
        home.create(&[
            deployment(&home, "web", 1, &json!({})),
            service(&home, "web"),
            budget(&home, "web", &json!({"app": "web"}), &json!({"minAvailable": 1})),
        ]);
        home.settled(1);
        home.add_nodes(&["new"]);
        home.budget("web", 0);
        home
    };
    both(
        11,
        |name| {
            let home = single(name);
            let drained = drain(&home, &["old"], 12, || {});
            assert!(drained.gave_up(), "{}", drained.text);
            assert_eq!(home.on("old").len(), 1);
        },
        |name| {
            let home = single(name);
            let path = home.path("apps/v1", "deployments", "web");
            let before = home.get(&path).unwrap();
            let plan = plan(&home, &["old"]);
            let from = clock::now();
            execute(&home, &plan, |_| {}).done();
            let cost = cost(&home, "web", &["old"], from, clock::now());
            assert_eq!((cost.left, cost.moved_again, cost.without_ready), (1, 0, NEVER), "{cost:?}");
            let after = home.get(&path).unwrap();
            for field in ["replicas", "strategy", "selector"] {
                assert_eq!(after["spec"][field], before["spec"][field]);
            }
            assert_eq!((home.on("old").len(), home.on("new").len()), (0, 1));
        },
    );
    row(
        11,
        "asks until it gives up",
        "a rollout with surge: the successor is Ready on the target first, and there is always a Ready endpoint",
    );
}

/// One of three pods has a role, and a budget wants that one.
fn primary(name: &str) -> Home {
    let home = three(name, |_| Vec::new());
    home.patch(&home.pod_path("db-0"), &labelled(&json!({"role": "primary"})));
    home.create(&[budget(&home, "primary", &json!({"role": "primary"}), &json!({"minAvailable": 1}))]);
    home.budget("primary", 0);
    home
}

/// Three pods of an application under a budget of two: one works, on `new`; two do not, one of them on `old`.
fn ailing(name: &str) -> Home {
    let home = Home::new(name, &["old", "new"]);
    let part = json!({"metadata": {"labels": {"part-of": "shop"}}});
    let with = |patches: &[Value]| {
        let mut merged = part.clone();
        patches.iter().for_each(|patch| crate::objects::merge(&mut merged, patch));
        merged
    };
    home.create(&[
        stateful_set(&home, "good", 1, &with(&[only_on(&home, "new")])),
        stateful_set(&home, "ill", 1, &with(&[pace(NEVER_READY), only_on(&home, "new")])),
        stateful_set(&home, "bad", 1, &with(&[pace(NEVER_READY), only_on(&home, "old")])),
        budget(&home, "shop", &json!({"part-of": "shop"}), &json!({"minAvailable": 2})),
    ]);
    home.settled(3);
    home.budget("shop", 0);
    // Its next pod may run elsewhere.
    let template = json!({"nodeSelector": {"kubernetes.io/hostname": null}});
    home.patch(&home.path("apps/v1", "statefulsets", "bad"), &json!({"spec": {"template": {"spec": template}}}));
    home
}

#[test]
fn c13_pod_that_does_not_work_is_protected() {
    both(
        13,
        |name| {
            let home = ailing(name);
            let drained = drain(&home, &["old"], 12, || {});
            assert!(drained.gave_up() && !drained.text.contains("AlwaysAllow"), "{}", drained.text);
        },
        |name| {
            let home = ailing(name);
            let found = refused(&home, &plan(&home, &["old"]), "unhealthy-under-budget");
            assert!(found.message.contains("1 healthy pods, 2 wanted"), "{}", found.message);
            assert!(found.message.contains("bad-0"), "{}", found.message);
            assert!(found.remedies.iter().any(|remedy| remedy.contains("AlwaysAllow")), "{:?}", found.remedies);
            // The remedy works, and costs the budget nothing.
            home.patch(&home.budget_path("shop"), &json!({"spec": {"unhealthyPodEvictionPolicy": "AlwaysAllow"}}));
            home.budget("shop", 0);
            let ran = execute(&home, &plan(&home, &["old"]), |_| {});
            ran.done();
            assert_eq!(ran.evicted().len(), 1, "allowed at the first time");
            assert!(home.on("old").is_empty());
        },
    );
    row(
        13,
        "asks until it gives up; does not say what would help",
        "says who is not Ready and that `AlwaysAllow` lets such pods go; with it, the pod moves",
    );
}

#[test]
fn c16_dry_run_under_a_budget_that_allows_nothing() {
    both(
        16,
        |name| {
            let home = primary(name);
            let user = plane().admin_kubeconfig();
            let drained = drain_as(&home, user, &["old"], 12, &["--dry-run=server"], || {});
            assert!(drained.gave_up(), "{}", drained.text);
            assert!(!home.pod("db-0").unwrap().leaves());
        },
        |name| {
            let home = primary(name);
            assert_eq!(plan(&home, &["old"]).blockers().count(), 1);
            assert!(!home.pod("db-0").unwrap().leaves() && evictions(&home).is_empty());
        },
    );
    row(
        16,
        "the dry run on the server asks until it gives up",
        "check and plan ask no eviction at all: they read once, and block",
    );
}

#[test]
fn c17_two_pods_and_one_disruption() {
    let pair = |name: &str| {
        let home = Home::new(name, &["old"]);
        home.create(&[
            without_surge(&home, "web", 2, &json!({})),
            budget(&home, "web", &json!({"app": "web"}), &json!({"minAvailable": 1})),
        ]);
        home.settled(2);
        home.add_nodes(&["new"]);
        home.budget("web", 1);
        home
    };
    both(
        17,
        |name| {
            let home = pair(name);
            let user = plane().admin_kubeconfig();
            let drained = drain_as(&home, user, &["old"], 12, &["--dry-run=server"], || {});
            let promised = drained.text.matches("evicted").count() + drained.text.matches("evicting pod").count();
            assert!(drained.done && promised >= 2, "{}", drained.text);
        },
        |name| {
            let home = pair(name);
            let plan = plan(&home, &["old"]);
            let moved = &plan.moves[0];
            assert_eq!((moved.strategy.as_str(), moved.disruption.missing_at_worst), ("eviction", 1));
            let step = plan.step(&moved.step).unwrap();
            assert!(step.because.contains("one pod after the other"), "{}", step.because);
            // And so it goes: the second is asked only once the first has its receipt, and nobody is refused.
            let ran = execute(&home, &plan, |_| {});
            ran.done();
            assert_eq!((ran.evicted().len(), ran.receipts().len()), (2, 2));
            assert!(evictions(&home).iter().all(|event| event.code() == 201));
        },
    );
    row(
        17,
        "the dry run on the server allows both",
        "plans one after the other, each once its successor before is Ready; no eviction is refused",
    );
}

/// A pod of a Widget on `old`, under a budget that would be counted by its scale.
fn widget(name: &str) -> Home {
    let home = Home::new(name, &["old"]);
    let widgets = format!("/apis/complaints.test/v1/namespaces/{}/widgets", home.name);
    home.until("the kind to be served", || {
        // 404 at first, then 429 for a moment.
        let (code, _) = home.request("GET", &widgets, "application/json", &Value::Null);
        if code == 200 { Ok(()) } else { Err(code.to_string()) }
    });
    home.create(&[json!({"apiVersion": "complaints.test/v1", "kind": "Widget",
        "metadata": {"name": "shop", "namespace": home.name}})]);
    let owner = home.get(&format!("{widgets}/shop")).unwrap();
    let mut pod = crate::objects::bound_pod(&home, "shop-0", "old");
    pod["metadata"]["ownerReferences"] = json!([{"apiVersion": "complaints.test/v1", "kind": "Widget", "name": "shop",
        "uid": owner["metadata"]["uid"], "controller": true}]);
    home.create(&[pod, budget(&home, "shop", &json!({"app": "shop-0"}), &json!({"maxUnavailable": 1}))]);
    home.settled(1);
    home.add_nodes(&["new"]);
    home.until("the budget to fail", || {
        let found = home.get(&home.budget_path("shop")).unwrap();
        let failed = found["status"]["conditions"].to_string().contains("does not implement the scale subresource");
        failed.then_some(()).ok_or_else(|| found["status"].to_string())
    });
    home
}

#[test]
fn c18_budget_that_cannot_be_computed() {
    both(
        18,
        |name| {
            let home = widget(name);
            let drained = drain(&home, &["old"], 12, || {});
            assert!(drained.gave_up(), "{}", drained.text);
        },
        |name| {
            let home = widget(name);
            let plan = plan(&home, &["old"]);
            let ran = execute(&home, &plan, |_| {});
            match &ran.end {
                Ok(End::Stuck { cause, .. }) => {
                    assert!(cause.contains("budget shop cannot be computed"), "{cause}");
                    assert!(cause.contains("does not implement the scale subresource"), "{cause}");
                }
                end => panic!("{end:?} {:#?}", ran.reasons),
            }
            assert_eq!(home.on("old"), ["shop-0"]);
        },
    );
    row(
        18,
        "asks until it gives up",
        "says that the budget can't be computed and why, and stops after three refusals instead of waiting",
    );
}
