//! What the machine does about each answer of the server, and about none.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

mod scripted;

use rehome_engine::drive::End;
use rehome_k8s::Kind;
use rehome_model::journal::{Event, Verdict};
use rehome_model::request::{Cause, Request};
use rehome_model::time::Seconds;
use rehome_model::verb::Verb;
use scripted::{Answer, START, Scripted, again, plan, receipts, run, run_plan};

const DONE: End = End::Finished(Verdict::Done);

fn cause(end: &End) -> String {
    match end {
        End::Stuck { cause, .. } => cause.clone(),
        other => panic!("expected a run that is stuck, found {other:?}"),
    }
}

/// Fence, first eviction, second eviction, cordon: the answer to the first eviction.
fn first_eviction(answers: impl IntoIterator<Item = Answer>) -> Scripted {
    let mut world = Scripted::new();
    // The fence's lost answer that landed costs 35 s of simulated time, and lets the script begin with it.
    world.script = std::iter::once(Answer::Lost(true)).chain(answers).collect();
    world
}

#[test]
fn the_way_without_trouble_moves_each_pod_once_and_proves_the_node_empty() {
    let mut world = Scripted::new();
    let (end, journal) = run(&mut world);
    assert_eq!(end, DONE);
    assert_eq!((world.sent.len(), receipts(&journal), world.pods_on("old"), world.pods_on("new")), (4, 2, 0, 2));
    assert!(world.truth.node("old").unwrap().unschedulable);
    let lists = journal.iter().find_map(|record| match &record.event {
        Event::NodeEmpty { lists, .. } => Some(lists.clone()),
        _ => None,
    });
    let [first, second] = lists.unwrap();
    assert!(second.at - first.at >= Seconds::new(5));
}

#[test]
fn the_audit_id_names_run_record_and_attempt() {
    let mut world = first_eviction([Answer::Lost(false)]);
    let (_, journal) = run(&mut world);
    for (request, id) in &world.sent {
        let (seq, attempt) = id.strip_prefix("run/").unwrap().split_once('/').unwrap();
        let record = &journal[seq.parse::<usize>().unwrap()];
        let Event::Intent { request: announced, attempt: number, .. } = &record.event else { panic!("{record:?}") };
        assert_eq!((announced, number.to_string().as_str()), (request, attempt));
    }
    assert!(world.sent.iter().any(|(_, id)| id.ends_with("/2")));
}

#[test]
fn a_lost_answer_that_landed_is_not_sent_again() {
    let mut world = first_eviction([Answer::Lost(true)]);
    let (end, journal) = run(&mut world);
    assert_eq!((end, world.evictions(), receipts(&journal)), (DONE, 2, 2));
    assert!(journal.iter().any(|record| matches!(record.event, Event::Reread { landed: true, .. })));
}

#[test]
fn a_lost_answer_that_did_not_land_is_sent_again_only_when_it_cannot_land_any_more() {
    let mut world = first_eviction([Answer::Lost(false)]);
    let (end, journal) = run(&mut world);
    assert_eq!((end, world.evictions(), receipts(&journal)), (DONE, 3, 2));
    let evictions: Vec<_> = journal
        .iter()
        .filter(|record| matches!(&record.event, Event::Intent { request: Request::Evict { .. }, .. }))
        .map(|record| record.at)
        .collect();
    assert!(evictions[1] - evictions[0] >= Seconds::new(35));
}

#[test]
fn a_budget_that_refuses_is_asked_again_and_does_not_use_up_patience() {
    let budget = || Answer::Refused(Cause::Budget { message: "needs 2, has 2".into(), retry_after: None });
    let server = || Answer::Refused(Cause::Server { code: 500, message: "etcd".into() });
    let mut world = first_eviction((0..25).map(|_| budget()).chain([server()]));
    let (end, _) = run(&mut world);
    assert_eq!((end, world.evictions()), (DONE, 28));
    assert!(world.now - START >= Seconds::new(125));
}

#[test]
fn a_budget_that_never_allows_ends_at_the_deadline_with_its_sentence() {
    let budget = || Answer::Refused(Cause::Budget { message: "needs 2, has 2".into(), retry_after: None });
    let mut world = first_eviction((0..1000).map(|_| budget()));
    let (end, _) = run(&mut world);
    assert!(cause(&end).contains("needs 2, has 2"), "{end:?}");
    assert!(world.now - START < Seconds::new(400));
}

#[test]
fn answers_that_never_come_end_at_the_deadline() {
    let mut world = first_eviction((0..1000).map(|_| Answer::Lost(false)));
    let (end, _) = run(&mut world);
    assert!(cause(&end).contains("not done within"), "{end:?}");
}

#[test]
fn what_asking_again_cannot_change_is_stuck_at_once_and_asked_again_after_a_resume() {
    for refused in [
        Cause::SeveralBudgets { message: "more than one".into() },
        Cause::Forbidden { message: "no create on pods/eviction".into() },
        Cause::Invalid { code: 400, message: "bad".into() },
    ] {
        let mut world = first_eviction([Answer::Refused(refused.clone())]);
        let (end, mut journal) = run(&mut world);
        assert!(cause(&end).contains(&refused.to_string()), "{end:?}");
        assert_eq!(world.evictions(), 1);
        assert_eq!(again(&mut world, &mut journal, false), DONE);
        assert_eq!((world.evictions(), receipts(&journal)), (3, 2));
    }
}

#[test]
fn a_webhook_that_denies_is_asked_five_times() {
    let deny = || Answer::Refused(Cause::Denied { message: "webhook \"policy.example\"".into() });
    let mut world = first_eviction((0..4).map(|_| deny()));
    assert_eq!(run(&mut world).0, DONE);
    let mut world = first_eviction((0..7).map(|_| deny()));
    let (end, mut journal) = run(&mut world);
    assert!(cause(&end).contains("policy.example"));
    assert_eq!(world.evictions(), 5);
    assert_eq!(again(&mut world, &mut journal, false), DONE, "patience begins anew");
}

#[test]
fn a_pod_that_went_by_itself_gets_its_receipt_and_is_not_asked_for_again() {
    for refused in [Cause::NotFound, Cause::OtherIncarnation { message: "uid".into() }] {
        let mut world = first_eviction([Answer::Overtaken(refused.clone())]);
        let (end, journal) = run(&mut world);
        assert_eq!((end, world.evictions(), receipts(&journal)), (DONE, 2, 2), "{refused}");
    }
}

#[test]
fn a_successor_on_a_node_that_is_no_target_stops_the_run_and_names_it() {
    for (node, says) in [("other", "no target"), ("old", "being emptied")] {
        let mut world = Scripted::new();
        world.lands_on = node.to_owned();
        let (end, _) = run(&mut world);
        let cause = cause(&end);
        assert!(cause.contains(node) && cause.contains(says), "{cause}");
        assert_eq!(world.evictions(), 1, "the second pod stays");
    }
}

#[test]
fn a_field_that_somebody_else_changed_is_drift() {
    let mut world = Scripted::new();
    world.set("old", |node| {
        node.taints.push(rehome_k8s::toleration::Taint {
            key: rehome_model::verb::FENCE_TAINT.to_owned(),
            value: "another-run".to_owned(),
            effect: rehome_k8s::toleration::Effect::NoSchedule,
        });
    });
    let (end, _) = run(&mut world);
    let cause = cause(&end);
    assert!(cause.contains("expected not set") && cause.contains("another-run"), "{cause}");
    assert_eq!(world.evictions(), 0);
}

#[test]
fn a_step_whose_predecessor_never_comes_is_not_taken_for_the_end() {
    let mut plan = plan();
    scripted::edit(&mut plan, "w1/move/web", |step| {
        step.after.insert("w9/nothing".into(), "a mistake".into());
    });
    let (end, _) = run_plan(&mut Scripted::new(), plan);
    assert!(cause(&end).contains("w9/nothing"));
}

#[test]
fn a_view_that_lags_costs_time_and_nothing_else() {
    let mut world = Scripted::new();
    world.lag = 20;
    let (end, journal) = run(&mut world);
    assert_eq!((end, world.evictions(), receipts(&journal)), (DONE, 2, 2));
}

#[test]
fn a_node_is_empty_when_two_lists_that_follow_each_other_say_so() {
    let mut world = Scripted::new();
    world.stragglers = 3;
    let (end, journal) = run(&mut world);
    assert_eq!((end, world.lists), (DONE, 5), "three lists with a pod, then two without");
    let Some(Event::NodeEmpty { lists, .. }) =
        journal.iter().map(|record| &record.event).find(|event| matches!(event, Event::NodeEmpty { .. }))
    else {
        panic!("no evidence")
    };
    assert!(lists[1].at - lists[0].at >= Seconds::new(5));
}

#[test]
fn a_read_that_fails_is_tried_again_and_for_ever_only_until_the_deadline() {
    let mut world = Scripted::new();
    world.failing = 4;
    assert_eq!(run(&mut world).0, DONE);
    let mut world = Scripted::new();
    world.failing = u32::MAX;
    let (end, _) = run(&mut world);
    let cause = cause(&end);
    assert!(cause.contains("not done within") && cause.contains("connection refused"), "{cause}");
}

#[test]
fn nothing_whose_name_comes_back_is_evicted_without_a_read_right_before() {
    let evictions = |kind: Kind| {
        let mut world = Scripted::of(kind);
        world.failing = u32::MAX;
        let mut plan = plan();
        scripted::edit(&mut plan, "w1/move/web", |step| {
            if let Verb::Evict(evict) = &mut step.verb {
                evict.lineages[0].workload.kind = kind.name().to_owned();
            }
        });
        let (end, _) = run_plan(&mut world, plan);
        assert!(cause(&end).contains("connection refused"), "{end:?}");
        world.evictions()
    };
    assert_eq!(evictions(Kind::StatefulSet), 0);
    assert_eq!(evictions(Kind::ReplicaSet), 2, "five random letters name no other incarnation; the node is not proved");
}
