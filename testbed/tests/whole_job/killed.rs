//! The program is killed with SIGKILL at sampled points of its journal, and resumed each time: the same end, and the
//! audit log shows nothing done twice. Then, on another cluster, killed in the middle and rolled back.

use std::fs;
use std::path::Path;
use std::time::Duration;

use rehome_model::exit;
use rehome_model::journal::Event;
use rehome_model::plan::Plan;
use rehome_testbed::audit::{Evidence, check, read};
use rehome_testbed::clock;
use rehome_testbed::control_plane::ControlPlane;
use serde_json::Value;

use crate::{cluster, moved, program};

/// How often the program is killed.
const KILLS: usize = 10;
/// How long the journal may take to grow to the next point.
const LIMIT: Duration = Duration::from_secs(300);

/// How many whole lines a journal has.
fn lines(journal: &Path) -> usize {
    fs::read(journal).map_or(0, |bytes| bytes.iter().filter(|byte| **byte == b'\n').count())
}

/// Starts the program, and kills it once the journal has this many lines, or lets it end.
fn kill_at(folder: &Path, arguments: &[&str], point: usize) {
    let journal = folder.join("journal.jsonl");
    let mut child = program::command(folder, arguments).spawn().unwrap();
    clock::wait_for("the journal to grow", LIMIT, || {
        let ended = child.try_wait().unwrap().is_some();
        let lines = lines(&journal);
        if ended || lines >= point { Ok(()) } else { Err(format!("{lines} of {point} lines")) }
    })
    .unwrap();
    // SIGKILL: nothing of the program gets to run any more.
    child.kill().unwrap();
    child.wait().unwrap();
    println!("killed at {} lines (asked for {point})", lines(&journal));
}

fn node_settings(plane: &ControlPlane) -> Value {
    let text = plane.kubectl(&["get", "nodes", "-o", "json"]).unwrap();
    let list: Value = serde_json::from_str(&text).unwrap();
    let settings = list["items"].as_array().unwrap().iter().map(|node| {
        let taints: Vec<&Value> = node["spec"]["taints"].as_array().into_iter().flatten().collect();
        serde_json::json!({"name": node["metadata"]["name"], "taints": taints, "cordoned": node["spec"]["unschedulable"]})
    });
    settings.collect()
}

#[test]
fn killed_ten_times_it_ends_where_it_would_have_ended() {
    let plane = cluster::start();
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let kubeconfig = moved::prepare(&plane, folder);
    let plan: Plan = moved::document(folder, "plan.json");
    let execute = [
        "execute",
        "--kubeconfig",
        &kubeconfig,
        "--plan",
        "plan.json",
        "--approval",
        "approval.json",
        "--journal",
        "journal.jsonl",
    ];
    let resume = ["resume", "--kubeconfig", &kubeconfig, "--journal", "journal.jsonl"];
    // A whole run of this scenario writes about 290 records: the last kill is near its end.
    let apart = 26;
    for kill in 0..KILLS {
        let point = lines(&folder.join("journal.jsonl")) + apart + kill % 3;
        kill_at(folder, if kill == 0 { &execute } else { &resume }, point);
    }
    let last = program::run(folder, &resume);
    assert!(last.code == 0 || last.stderr.contains("the run has ended already: done"), "{}", last.stderr);

    let journal = moved::journal(folder, "journal.jsonl");
    assert!(matches!(journal.last().unwrap().event, Event::Finished { .. }), "{:?}", journal.last());
    let resumed = journal.iter().filter(|record| matches!(record.event, Event::Resumed { .. })).count();
    assert!(resumed + 1 >= KILLS, "killed while it ran: resumed {resumed} times");
    let events = read::log(&plane.audit_log()).unwrap();
    let violations = check(&Evidence::new(&plan, &journal, cluster::USER, &events));
    assert!(violations.is_empty(), "{violations:#?}");
    let receipts = journal.iter().filter(|record| matches!(record.event, Event::Moved { .. })).count();
    assert_eq!(receipts, moved::pods(&plan), "one receipt for each pod that had to leave");
    for (name, pod) in cluster::pods(&plane) {
        let Some(node) = &pod.node else { continue };
        assert!(pod.owner.as_deref() == Some("DaemonSet") || node.starts_with("new-"), "{name} is on {node}");
    }
}

#[test]
fn killed_in_the_middle_it_rolls_back_every_field_that_it_wrote() {
    let plane = cluster::start();
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let before = node_settings(&plane);
    let kubeconfig = moved::prepare(&plane, folder);
    let execute = [
        "execute",
        "--kubeconfig",
        &kubeconfig,
        "--plan",
        "plan.json",
        "--approval",
        "approval.json",
        "--journal",
        "journal.jsonl",
    ];
    kill_at(folder, &execute, 120);
    assert_ne!(node_settings(&plane), before, "fences and a cordon were written");
    program::expect(
        exit::ROLLED_BACK,
        folder,
        &["rollback", "--kubeconfig", &kubeconfig, "--journal", "journal.jsonl"],
    );
    assert_eq!(node_settings(&plane), before, "every field has its old value");
    let journal = moved::journal(folder, "journal.jsonl");
    let left = journal.iter().filter(|record| matches!(record.event, Event::Left { .. })).count();
    assert!(left > 0, "moves are listed as left in place");
}
