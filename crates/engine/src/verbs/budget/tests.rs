//! Each reason for a refusal, and how long it is waited for.

use std::sync::Arc;

use rehome_k8s::pod::Phase;
use rehome_k8s::selector::Selector;
use rehome_k8s::workload::Workload;
use rehome_k8s::{Meta, OwnerRef, Record};
use rehome_model::Uid;

use super::*;

const NOW: Timestamp = Timestamp::from_millis(1_800_000_000_000);

fn meta(name: &str) -> Meta {
    Meta {
        namespace: "shop".to_owned(),
        name: name.to_owned(),
        uid: Uid(format!("uid-{name}")),
        generation: 1,
        ..Meta::default()
    }
}

/// A ReplicaSet of three pods under a budget of at least two; of the pods these are Ready.
fn cluster(ready: [bool; 3], change: impl FnOnce(&mut PodDisruptionBudget)) -> View {
    let mut view = View::default();
    let set = Workload { meta: meta("web"), replicas: Some(3), ..Workload::default() };
    view.insert(Record::ReplicaSet(Arc::new(set)));
    for (number, ready) in ready.into_iter().enumerate() {
        let owner = OwnerRef {
            api_version: "apps/v1".to_owned(),
            kind: "ReplicaSet".to_owned(),
            name: "web".to_owned(),
            uid: Uid("uid-web".to_owned()),
        };
        let meta = Meta { controller: Some(owner), ..meta(&format!("web-{number}")) };
        view.insert(Record::Pod(Arc::new(Pod { meta, ready, phase: Phase::Running, ..Pod::default() })));
    }
    let mut budget = PodDisruptionBudget {
        meta: meta("web"),
        selector: Selector::All(Vec::new()),
        min_available: Some(rehome_k8s::percent::IntOrPercent::Int(2)),
        ..PodDisruptionBudget::default()
    };
    budget.status = Some(BudgetStatus { observed_generation: 1, ..budget::compute(&view, &budget) });
    change(&mut budget);
    view.insert(Record::PodDisruptionBudget(Arc::new(budget)));
    view
}

fn pod(view: &View) -> &Pod {
    view.pod(&Key::new("shop", "web-0")).unwrap()
}

fn reason(view: &View) -> String {
    match why(view, pod(view)) {
        Why::Unobserved(reason) | Why::Never(reason) | Why::Charged(reason) | Why::Short(reason) => reason,
        other => panic!("{other:?}"),
    }
}

fn status(budget: &mut PodDisruptionBudget) -> &mut BudgetStatus {
    budget.status.as_mut().unwrap()
}

#[test]
fn what_is_short_is_named() {
    assert_eq!(
        reason(&cluster([true, true, false], |_| {})),
        "budget web needs 2 healthy pods and has 2: web-2 not Ready"
    );
    let own = reason(&cluster([false, true, true], |_| {}));
    assert!(own.contains("the pod itself is not Ready") && own.contains("AlwaysAllow"), "{own}");
}

#[test]
fn room_is_seen_and_asked_for_soon_but_not_in_a_hot_loop() {
    let view = cluster([true; 3], |_| {});
    assert_eq!(why(&view, pod(&view)), Why::HasRoom);
    let after = |times: u32| {
        let refused = Refused { at: NOW, in_a_row: times, retry_after: None, said: String::new() };
        match reaction(&view, Some(pod(&view)), refused, NOW) {
            Reaction::Pause { until, .. } => until - NOW,
            _ => Seconds::ZERO,
        }
    };
    assert_eq!([after(1), after(2), after(4)].map(Seconds::as_millis), [250, 500, 2000]);
    assert_eq!(after(40), FALLBACK);
}

#[test]
fn a_charge_that_nobody_redeems_is_told_from_a_pod_that_is_missing() {
    let view = cluster([true; 3], |budget| {
        let status = status(budget);
        status.disrupted_pods.insert("web-1".to_owned());
        (status.disruptions_allowed, status.current_healthy) = (0, 2);
    });
    assert!(reason(&view).contains("counts web-1 as disrupted by an eviction that did not take place"));
}

#[test]
fn a_budget_that_was_just_changed_is_waited_for_and_one_that_never_allows_is_not() {
    let view = cluster([true; 3], |budget| budget.meta.generation = 2);
    assert!(matches!(why(&view, pod(&view)), Why::Unobserved(_)));
    let all = cluster([true; 3], |budget| {
        budget.min_available = Some(rehome_k8s::percent::IntOrPercent::Int(3));
        let status = status(budget);
        (status.disruptions_allowed, status.desired_healthy) = (0, 3);
    });
    assert_eq!(reason(&all), "budget web wants 3 healthy of 3 pods, and so never allows an eviction");
    let failed = cluster([true; 3], |budget| status(budget).sync_failed = Some("no scale".to_owned()));
    assert!(reason(&failed).contains("cannot be computed (no scale)"));
    let refused = |in_a_row| Refused { at: NOW, in_a_row, retry_after: None, said: String::new() };
    assert!(matches!(reaction(&all, Some(pod(&all)), refused(1), NOW), Reaction::Pause { .. }));
    assert!(matches!(reaction(&all, Some(pod(&all)), refused(NEVERS), NOW), Reaction::Stuck { .. }));
}

#[test]
fn the_server_s_own_time_is_kept_and_without_a_budget_in_sight_there_is_a_timer() {
    let view = cluster([true; 3], |_| {});
    let refused = Refused { at: NOW, in_a_row: 1, retry_after: Some(Seconds::new(10)), said: "wait".to_owned() };
    let Reaction::Pause { until, reason } = reaction(&view, Some(pod(&view)), refused, NOW) else { panic!("no pause") };
    assert_eq!((until - NOW, reason.as_str()), (Seconds::new(10), "wait"));
    // One that cannot be computed is answered so for ever: its own reason counts.
    let failed = cluster([true; 3], |budget| status(budget).sync_failed = Some("no scale".to_owned()));
    let refused = |in_a_row| Refused {
        at: NOW,
        in_a_row,
        retry_after: Some(Seconds::new(10)),
        said: "still being processed".to_owned(),
    };
    let Reaction::Stuck { cause, .. } = reaction(&failed, Some(pod(&failed)), refused(NEVERS), NOW) else {
        panic!("not stuck")
    };
    assert!(cause.contains("no scale"), "{cause}");
    assert_eq!(why(&View::default(), pod(&view)), Why::NotShown);
}
