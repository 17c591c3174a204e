//! Complaints about what stays behind, and about what one is told.

use rehome_engine::drive::End;
use rehome_model::journal::{Event, Verdict};
use serde_json::json;

use crate::audited::evictions;
use crate::budgets::refused;
use crate::drain::drain;
use crate::home::{Home, NEVER_READY, both, plane};
use crate::objects::{budget, merge, only_on, pace, stateful_set, without_surge};
use crate::rehome::{execute, execute_dying, impatient, plan, plan_with, roll_back};
use crate::table::row;

/// Two pods on `old` that only evictions move.
fn pair(name: &str) -> Home {
    let home = Home::new(name, &["old"]);
    home.create(&[without_surge(&home, "web", 2, &json!({}))]);
    home.settled(2);
    home.add_nodes(&["new"]);
    home
}

#[test]
fn c47_crash_and_go_on() {
    both(
        47,
        |name| {
            // kubectl keeps no state: called again, it begins anew, and that is all right.
            let home = pair(name);
            assert!(drain(&home, &["old"], 30, || {}).done);
            assert!(drain(&home, &["old"], 30, || {}).done);
        },
        |name| {
            let home = pair(name);
            let plan = plan(&home, &["old"]);
            let answered = |event: &Event| matches!(event, Event::Answer { .. });
            let (records, deaths) = execute_dying(&plan, answered);
            let count = |find: &dyn Fn(&Event) -> bool| records.iter().filter(|record| find(&record.event)).count();
            assert_eq!(deaths, count(&answered), "after each");
            assert!(deaths >= 4, "fence, two evictions, cordon: {deaths}");
            assert_eq!(count(&|event| matches!(event, Event::Moved { .. })), 2);
            assert_eq!(evictions(&home).len(), 2, "nothing was done twice");
            assert_eq!((home.on("old").len(), home.on("new").len()), (0, 2));
            assert!(home.cordoned("old"));
        },
    );
    row(
        47,
        "keeps no state, and begins anew",
        "killed after each answer and resumed each time: the same end, nothing done twice",
    );
}

/// A budget that never allows the eviction of what is on `old`.
fn blocked(name: &str) -> Home {
    let home = Home::new(name, &["old"]);
    home.create(&[
        stateful_set(&home, "db", 1, &json!({})),
        budget(&home, "db", &json!({"app": "db"}), &json!({"minAvailable": 1})),
    ]);
    home.settled(1);
    home.add_nodes(&["new"]);
    home.budget("db", 0);
    home
}

#[test]
fn c48_failed_and_left_cordoned() {
    both(
        48,
        |name| {
            let home = blocked(name);
            assert!(drain(&home, &["old"], 8, || {}).gave_up());
            assert!(home.cordoned("old"));
        },
        |name| {
            let home = blocked(name);
            // Known before: `refused` looks that the node is as it was.
            refused(&home, &plan(&home, &["old"]), "structural-budget");
            // Not known before: rolled back.
            home.patch(&home.budget_path("db"), &json!({"spec": {"minAvailable": 0}}));
            home.budget("db", 1);
            let plan = plan(&home, &["old"]);
            home.patch(&home.budget_path("db"), &json!({"spec": {"minAvailable": 1}}));
            home.budget("db", 0);
            let ran = execute(&home, &plan, |_| {});
            assert!(ran.stuck().1.contains("budget db"), "{:?}", ran.end);
            assert!(!home.taints("old").is_empty());
            let back = roll_back(&plan, &ran.records);
            assert!(matches!(back.end, Ok(End::Finished(Verdict::RolledBack))), "{:?}", back.end);
            assert!(!home.cordoned("old") && home.taints("old").is_empty());
        },
    );
    row(48, "leaves the node cordoned", "what is known beforehand closes no node; otherwise rollback opens it again");
}

#[test]
fn c49_cordoned_by_a_person_before() {
    let closed = |name: &str| {
        let home = pair(name);
        home.patch(&home.node_path("old"), &json!({"spec": {"unschedulable": true}}));
        home
    };
    both(
        49,
        |name| {
            let home = closed(name);
            assert!(drain(&home, &["old"], 30, || {}).done);
            // What there is to undo a drain with does not know who had cordoned.
            plane().kubectl(&["uncordon", &home.full("old")]).unwrap();
            assert!(!home.cordoned("old"));
        },
        |name| {
            let home = closed(name);
            let plan = plan(&home, &["old"]);
            let ran = execute(&home, &plan, |_| {});
            ran.done();
            let back = roll_back(&plan, &ran.records);
            assert!(matches!(back.end, Ok(End::Finished(Verdict::RolledBack))), "{:?}", back.end);
            assert!(home.cordoned("old"), "as the person had left it");
            assert!(home.taints("old").is_empty(), "ours is gone");
        },
    );
    row(
        49,
        "knows no undo; `kubectl uncordon` opens it",
        "rollback takes away what is ours and leaves the person's cordon",
    );
}

#[test]
fn c50_stays_closed_after_a_failure() {
    both(
        50,
        |name| {
            let home = blocked(name);
            assert!(drain(&home, &["old"], 8, || {}).gave_up());
            assert!(home.cordoned("old"));
        },
        |name| {
            let home = blocked(name);
            home.patch(&home.budget_path("db"), &json!({"spec": {"minAvailable": 0}}));
            home.budget("db", 1);
            let plan = plan(&home, &["old"]);
            home.patch(&home.budget_path("db"), &json!({"spec": {"minAvailable": 1}}));
            home.budget("db", 0);
            let ran = execute(&home, &plan, |_| {});
            ran.stuck();
            assert_eq!(home.taints("old").len(), 1, "nothing is put back unless somebody asks");
        },
    );
    row(50, "leaves the node cordoned", "leaves its fence until somebody asks for a rollback");
}

/// Three pods under a budget that is short of one: only `web-0` stands on `old`.
fn short(name: &str) -> Home {
    let home = Home::new(name, &["old", "new"]);
    let part = json!({"metadata": {"labels": {"part-of": "shop"}}});
    let with = |pace_of: Option<&str>, node: &str| {
        let mut template = part.clone();
        merge(&mut template, &only_on(&home, node));
        if let Some(value) = pace_of {
            merge(&mut template, &pace(value));
        }
        template
    };
    home.create(&[
        stateful_set(&home, "web", 1, &with(None, "old")),
        stateful_set(&home, "other", 2, &with(None, "new")),
        budget(&home, "shop", &json!({"part-of": "shop"}), &json!({"minAvailable": 2})),
    ]);
    home.settled(3);
    home.budget("shop", 1);
    let template = json!({"spec": {"nodeSelector": {"kubernetes.io/hostname": null}}});
    home.patch(&home.path("apps/v1", "statefulsets", "web"), &json!({"spec": {"template": template}}));
    home
}

/// From now on `other-1` is not Ready.
fn fall_ill(home: &Home) {
    let template = json!({"metadata": {"labels": {crate::home::PACE: NEVER_READY}}});
    home.patch(&home.path("apps/v1", "statefulsets", "other"), &json!({"spec": {"template": template}}));
    home.delete(&home.pod_path("other-1"));
    home.settled(3);
    home.budget("shop", 0);
}

#[test]
fn c51_failure_names_what_is_in_the_way() {
    both(
        51,
        |name| {
            let home = short(name);
            fall_ill(&home);
            let drained = drain(&home, &["old"], 12, || {});
            assert!(drained.gave_up() && drained.text.contains("web-0"), "{}", drained.text);
            for part in ["other-1", "budget shop", "needs 2"] {
                assert!(!drained.text.contains(part), "{part}: {}", drained.text);
            }
        },
        |name| {
            let home = short(name);
            let plan = plan_with(&home, &["old"], impatient);
            fall_ill(&home);
            let ran = execute(&home, &plan, |_| {});
            let (step, cause) = ran.stuck();
            assert!(step.ends_with(&format!("/{}/web", home.name)), "the owner: {step}");
            let web = format!("it keeps Pod {}/web-0", home.name);
            for part in
                [&web, "not done within 18s", "budget shop", "needs 2 healthy pods and has 2", "other-1 not Ready"]
            {
                assert!(cause.contains(part), "{part}: {cause}");
            }
        },
    );
    row(
        51,
        "names the pod that it can't evict; neither the budget nor what it lacks",
        "names the pod, its owner, the budget, needs and has, who is not Ready, and for how long it has asked",
    );
}

#[test]
fn c54_completed_pods() {
    let completed = |name: &str| {
        let home = Home::new(name, &["old"]);
        let mut job = stateful_set(&home, "batch", 1, &json!({"spec": {"restartPolicy": "Never"}}));
        job["apiVersion"] = json!("batch/v1");
        job["kind"] = json!("Job");
        job["spec"] = json!({"template": job["spec"]["template"], "backoffLimit": 0});
        home.create(&[job]);
        home.settled(1);
        let pod = home.only("batch").name();
        let (code, answer) = home.request(
            "PATCH",
            &format!("{}/status", home.pod_path(&pod)),
            "application/merge-patch+json",
            &json!({"status": {"phase": "Succeeded"}}),
        );
        assert_eq!(code, 200, "{answer}");
        home.until("the Job to complete", || {
            let job = home.get(&home.path("batch/v1", "jobs", "batch")).unwrap();
            (job["status"]["succeeded"] == 1).then_some(()).ok_or_else(|| job["status"].to_string())
        });
        home.add_nodes(&["new"]);
        home
    };
    both(
        54,
        |name| {
            let home = completed(name);
            let drained = drain(&home, &["old"], 20, || {});
            assert!(drained.done && evictions(&home).len() == 1, "{}", drained.text);
        },
        |name| {
            let home = completed(name);
            let plan = plan(&home, &["old"]);
            assert!(plan.moves.is_empty() && plan.stays.len() == 1, "{:?}", plan.stays);
            let ran = execute(&home, &plan, |_| {});
            ran.done();
            assert_eq!(evictions(&home).len(), 0);
            assert_eq!(home.on("old").len(), 1, "its log can still be read");
            assert!(ran.records.iter().any(|record| matches!(record.event, Event::NodeEmpty { .. })));
        },
    );
    row(54, "evicts the completed pod once, and is done", "leaves the completed pod; the node counts as empty");
}
