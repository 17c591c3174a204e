//! Complaints about volumes.

use rehome_model::journal::Event;
use serde_json::{Value, json};

use crate::budgets::refused;
use crate::drain::drain;
use crate::home::{Home, both};
use crate::objects::{attachment, attachment_path, merge, mounts, only_on, stateful_set, volume};
use crate::rehome::{execute, plan};
use crate::table::row;

const DRIVER: &str = "csi.complaints.test";

/// Waits until a claim is bound: a pod that the scheduler sees before is not tried again for some time.
fn bound(home: &Home, claim: &str) {
    home.until("the claim to be bound", || {
        let found = home.get(&home.path("v1", "persistentvolumeclaims", claim)).unwrap();
        if found["status"]["phase"] == "Bound" { Ok(()) } else { Err(found["status"].to_string()) }
    });
}

/// `db-0` on `old` with a volume that is attached there. Nobody detaches it: nodes here leave that to the test.
fn attached(name: &str) -> Home {
    let home = Home::new(name, &["old"]);
    home.create(&volume(&home, "data", DRIVER, &json!({})));
    bound(&home, "data");
    home.create(&[stateful_set(&home, "db", 1, &mounts("data")), attachment(&home, "data", DRIVER, "old")]);
    home.settled(1);
    home.add_nodes(&["new"]);
    home
}

/// An agent of the node, whose own volume stays attached with it.
fn agent(home: &Home) {
    home.create(&volume(home, "agent", DRIVER, &json!({})));
    bound(home, "agent");
    let mut template = mounts("agent");
    merge(&mut template, &only_on(home, "old"));
    let mut agent = stateful_set(home, "agent", 1, &template);
    agent["kind"] = json!("DaemonSet");
    for field in ["replicas", "serviceName", "podManagementPolicy"] {
        agent["spec"].as_object_mut().unwrap().remove(field);
    }
    home.create(&[agent, attachment(home, "agent", DRIVER, "old")]);
    home.settled(2);
}

#[test]
fn c40_node_is_given_up_with_a_volume_attached() {
    both(
        40,
        |name| {
            let home = attached(name);
            agent(&home);
            assert!(drain(&home, &["old"], 20, || {}).done);
            assert!(home.get(&attachment_path(&home, "data")).is_some(), "it is still attached");
        },
        |name| {
            let home = attached(name);
            agent(&home);
            let plan = plan(&home, &["old"]);
            let ran = execute(&home, &plan, |running| {
                running.waits_for(&home.full("data"));
                let empty = |event: &Event| matches!(event, Event::NodeEmpty { .. });
                assert!(!running.recorded(empty));
                home.delete(&attachment_path(&home, "data"));
            });
            ran.done();
            // The agent's volume is none of our business.
            assert!(home.get(&attachment_path(&home, "agent")).is_some());
            assert!(!ran.reasons.iter().any(|reason| reason.contains(&home.full("agent"))), "{:?}", ran.reasons);
        },
    );
    row(
        40,
        "reports the node drained while the volume is attached",
        "the node is not proved empty before the attachment is gone; that of a DaemonSet's volume does not count",
    );
}

#[test]
fn c41_pod_counts_as_moved_while_its_volume_is_on_the_old_node() {
    both(
        41,
        |name| {
            let home = attached(name);
            assert!(drain(&home, &["old"], 20, || {}).done);
            assert!(home.get(&attachment_path(&home, "data")).is_some(), "it is still attached");
        },
        |name| {
            let home = attached(name);
            let plan = plan(&home, &["old"]);
            let ran = execute(&home, &plan, |running| {
                let reason = running.waits_for("is still attached to");
                for part in [home.full("data"), home.full("old"), DRIVER.to_owned()] {
                    assert!(reason.contains(&part), "{reason}");
                }
                let new = home.full("new");
                home.until("the successor to be Ready", || {
                    let found = home.pod("db-0").filter(|pod| pod.ready() && pod.node() == Some(&new));
                    found.map(drop).ok_or_else(|| "not yet".to_owned())
                });
                assert!(!running.recorded(|event| matches!(event, Event::Moved { .. })), "Ready is not enough");
                home.delete(&attachment_path(&home, "data"));
            });
            ran.done();
            assert_eq!(ran.receipts().len(), 1);
        },
    );
    row(
        41,
        "is done when the pod is gone",
        "the receipt waits for the attachment to go, and names volume, node and driver",
    );
}

/// An attachment to `old` of a volume that is no more.
fn stale(name: &str) -> Home {
    let home = Home::new(name, &["old"]);
    home.create(&[stateful_set(&home, "db", 1, &json!({})), attachment(&home, "lost", DRIVER, "old")]);
    home.settled(1);
    home.add_nodes(&["new"]);
    home
}

#[test]
fn c42_attachment_that_nobody_needs() {
    both(
        42,
        |name| {
            let home = stale(name);
            let drained = drain(&home, &["old"], 20, || {});
            assert!(drained.done && !drained.text.contains("lost"), "{}", drained.text);
        },
        |name| {
            let home = stale(name);
            let plan = plan(&home, &["old"]);
            let ran = execute(&home, &plan, |running| {
                let reason = running.waits_for("is still attached to");
                for part in ["prove/", &home.full("lost"), &home.full("old"), DRIVER] {
                    assert!(reason.contains(part), "{reason}");
                }
                assert!(home.on("old").is_empty(), "no pod is there any more");
                home.delete(&attachment_path(&home, "lost"));
            });
            ran.done();
        },
    );
    row(42, "does not look at attachments", "says at the proof which attachment, volume and driver it waits for");
}

/// `db-0` on `old`, with a volume that `old` alone can reach.
fn pinned(name: &str, patch: impl Fn(&Home) -> Value) -> Home {
    let home = Home::new(name, &[]);
    home.add_nodes(&["old"]);
    home.patch(&home.node_path("old"), &json!({"metadata": {"labels": {"topology.kubernetes.io/zone": "a"}}}));
    home.create(&volume(&home, "data", DRIVER, &patch(&home)));
    bound(&home, "data");
    home.create(&[stateful_set(&home, "db", 1, &mounts("data"))]);
    home.settled(1);
    home.add_nodes(&["new"]);
    home.patch(&home.node_path("new"), &json!({"metadata": {"labels": {"topology.kubernetes.io/zone": "b"}}}));
    home
}

fn reached_from(key: &str, value: &str) -> Value {
    json!({"nodeAffinity": {"required": {"nodeSelectorTerms": [
        {"matchExpressions": [{"key": key, "operator": "In", "values": [value]}]},
    ]}}})
}

/// Both tools on a volume that can't follow.
fn cannot_follow(number: u8, patch: impl Fn(&Home) -> Value + Sync, said: &[&str]) {
    both(
        number,
        |name| {
            let home = pinned(name, &patch);
            assert!(drain(&home, &["old"], 20, || {}).done);
            home.until("db-0 to be Pending", || {
                let pending = home.pod("db-0").is_some_and(|pod| pod.unschedulable());
                pending.then_some(()).ok_or_else(|| "not yet".to_owned())
            });
        },
        |name| {
            let home = pinned(name, &patch);
            let found = refused(&home, &plan(&home, &["old"]), "volume-cannot-follow");
            for part in said {
                assert!(found.message.contains(part), "{}", found.message);
            }
            assert!(found.message.contains(&home.full("data")), "{}", found.message);
        },
    );
}

#[test]
fn c43_data_on_the_nodes_own_disk() {
    let local = |home: &Home| {
        let mut patch = reached_from("kubernetes.io/hostname", &home.full("old"));
        merge(&mut patch, &json!({"csi": null, "local": {"path": "/mnt/data"}}));
        patch
    };
    cannot_follow(43, local, &["kubernetes.io/hostname"]);
    row(43, "evicts the pod, which stays Pending; reports success", "names volume and node label, and does not begin");
}

#[test]
fn c44_disk_of_another_zone() {
    cannot_follow(44, |_| reached_from("topology.kubernetes.io/zone", "a"), &["topology.kubernetes.io/zone a", "b"]);
    row(
        44,
        "evicts the pod, which stays Pending; reports success",
        "names volume, its zone and the targets' zones, and does not begin",
    );
}

/// Two pods with a volume each on `old`; `new` can attach one.
fn limited(name: &str) -> Home {
    let home = Home::new(name, &["old"]);
    let limit = |node: &str, count: u32| {
        let full = home.full(node);
        let owner = home.get(&home.node_path(node)).unwrap()["metadata"]["uid"].clone();
        json!({"apiVersion": "storage.k8s.io/v1", "kind": "CSINode",
            "metadata": {"name": full, "ownerReferences": [
                {"apiVersion": "v1", "kind": "Node", "name": full, "uid": owner}]},
            "spec": {"drivers": [
                {"name": DRIVER, "nodeID": full, "topologyKeys": [], "allocatable": {"count": count}}]}})
    };
    home.create(&[limit("old", 8)]);
    for claim in ["one", "two"] {
        home.create(&volume(&home, claim, DRIVER, &json!({})));
        bound(&home, claim);
        home.create(&[stateful_set(&home, claim, 1, &mounts(claim))]);
    }
    home.settled(2);
    home.add_nodes(&["new"]);
    home.create(&[limit("new", 1)]);
    home
}

#[test]
fn c45_target_cannot_attach_so_many_volumes() {
    both(
        45,
        |name| {
            let home = limited(name);
            assert!(drain(&home, &["old"], 20, || {}).done);
            home.until("one of the two to be Pending", || {
                let pending = home.pods().iter().filter(|pod| pod.unschedulable()).count();
                (pending == 1).then_some(()).ok_or_else(|| pending.to_string())
            });
        },
        |name| {
            let home = limited(name);
            let found = refused(&home, &plan(&home, &["old"]), "no-room-on-targets");
            assert!(found.message.contains("max volume count"), "{}", found.message);
        },
    );
    row(
        45,
        "evicts both; one stays Pending",
        "counts the volumes of all that move against the limit, and does not begin",
    );
}
