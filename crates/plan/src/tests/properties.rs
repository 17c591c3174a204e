//! What holds for every plan, over generated clusters.

use std::collections::{BTreeMap, BTreeSet};

use proptest::prelude::*;
use rehome_k8s::Kind;
use rehome_k8s::owner;
use rehome_model::plan::Plan;
use rehome_model::verb::{Lineage, Verb};
use serde_json::json;

use crate::testing::Cluster;

const NODES: [&str; 6] = ["old-1", "old-2", "new-1", "new-2", "other-1", "old-1"];

/// Up to six workloads of every kind, budgets and a shared volume among them.
fn clusters() -> impl Strategy<Value = Cluster> {
    let one = (0..5_u8, prop::collection::vec(0..NODES.len(), 1..4), 0..3_i64, any::<bool>());
    prop::collection::vec(one, 0..6).prop_map(|parts| {
        let mut cluster = Cluster::new();
        cluster.node("other-1", "other").claim("shared", "ReadWriteOnce", "*");
        for (index, (kind, nodes, allowed, shares)) in parts.into_iter().enumerate() {
            let name = format!("app-{index}");
            let nodes: Vec<&str> = nodes.into_iter().map(|node| NODES[node]).collect();
            match kind {
                0 | 1 => cluster.deployment(&name, &nodes),
                2 => cluster.workload("StatefulSet", &name, &nodes),
                3 => cluster.workload("DaemonSet", &name, &nodes[..1]),
                _ => cluster.bare_pod(&name, nodes[0]),
            };
            if allowed < 2 {
                cluster.budget(&name, &name, &json!({"maxUnavailable": allowed}));
            }
            if shares {
                cluster.mount(&name, "shared");
            }
        }
        cluster
    })
}

fn lineages(verb: &Verb) -> Vec<Lineage> {
    match verb {
        Verb::Restart(restart) => vec![restart.lineage.clone()],
        Verb::Evict(evict) => evict.lineages.clone(),
        Verb::Delete(delete) => vec![delete.lineage.clone()],
        _ => Vec::new(),
    }
}

fn bytes(plan: &Plan) -> String {
    rehome_model::canonical::to_string(plan).unwrap()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn the_same_cluster_gives_the_same_bytes_in_whatever_order_it_is_read(cluster in clusters(), seed in any::<u64>()) {
        let mut shuffled = cluster.clone();
        let count = shuffled.objects.len() as u64;
        shuffled.objects.sort_by_cached_key(|object| {
            let name = object["metadata"]["name"].as_str().unwrap().len() as u64;
            seed.wrapping_mul(31).wrapping_add(name * 7) % count.max(1)
        });
        shuffled.objects.reverse();
        prop_assert_eq!(bytes(&cluster.plan()), bytes(&cluster.plan()));
        prop_assert_eq!(bytes(&cluster.plan()), bytes(&shuffled.plan()));
        prop_assert_eq!(cluster.plan().findings, cluster.findings());
    }

    #[test]
    fn every_pod_on_a_source_stays_or_leaves_once(cluster in clusters()) {
        let (view, plan) = (cluster.view(), cluster.plan());
        let unmovable = plan.findings.iter().any(|finding| finding.rule == "no-strategy");
        let mut leave: BTreeMap<_, usize> = BTreeMap::new();
        for lineage in plan.steps().flat_map(|step| lineages(&step.verb)) {
            prop_assert!(leave.insert(lineage.workload.clone(), lineage.pods).is_none(), "{} twice", lineage.workload);
        }
        for pod in plan.sources.iter().flat_map(|node| view.pods_on(node)) {
            let workload = owner::of_pod(&view, pod).reference(pod);
            let itself = pod.meta.key().reference(Kind::Pod);
            if plan.stays.iter().any(|stay| stay.subject == workload || stay.subject == itself) {
                prop_assert!(!leave.contains_key(&workload), "{workload} stays and leaves");
                continue;
            }
            match leave.get_mut(&workload) {
                Some(left) => { prop_assert!(*left > 0); *left -= 1; }
                None => prop_assert!(unmovable, "{workload} is not in the plan"),
            }
        }
        prop_assert!(leave.values().all(|left| *left == 0), "{leave:?}");
    }

    #[test]
    fn steps_have_names_of_their_own_and_follow_steps_before_them(cluster in clusters()) {
        let plan = cluster.plan();
        let mut seen = BTreeSet::new();
        for step in plan.steps() {
            for (name, because) in &step.after {
                prop_assert!(seen.contains(name.as_str()), "{} follows {name}, which is not before it", step.name);
                prop_assert!(!because.is_empty());
            }
            prop_assert!(seen.insert(step.name.as_str()), "{} twice", step.name);
        }
        for planned in &plan.moves {
            prop_assert!(plan.step(&planned.step).is_some(), "no step {}", planned.step);
        }
    }
}

#[test]
fn the_plan_of_the_end_state_is_empty() {
    let mut cluster = Cluster::new();
    cluster.deployment("web", &["new-1", "new-2"]).workload("DaemonSet", "agent", &["old-1", "old-2", "new-1"]);
    for node in ["old-1", "old-2"] {
        let taints = json!([{"key": "rehome.dev/moving", "value": "source", "effect": "NoSchedule"}]);
        cluster.patch("Node", node, &json!({"spec": {"unschedulable": true, "taints": taints}}));
    }
    let plan = cluster.plan();
    assert_eq!(plan.steps().count(), 0);
    assert_eq!(plan.moves.len(), 0);
    cluster.patch("Node", "old-2", &json!({"spec": {"unschedulable": false}}));
    assert!(cluster.plan().steps().any(|step| step.name.ends_with("/cordon/old-2")), "a node is still open");
}

#[test]
fn without_pods_there_is_no_plan() {
    let mut cluster = Cluster::new();
    cluster.deployment("web", &["old-1"]).gap(Kind::Pod);
    let error = crate::check(&cluster.view(), &cluster.intent).unwrap_err();
    assert!(error.to_string().contains("pods"), "{error}");
}

#[test]
fn workloads_of_two_kinds_may_share_a_name() {
    let mut cluster = Cluster::new();
    cluster.deployment("web", &["old-1"]).workload("StatefulSet", "web", &["old-1"]);
    let plan = cluster.plan();
    let names: BTreeSet<_> = plan.steps().map(|step| step.name.clone()).collect();
    assert_eq!(names.len(), plan.steps().count());
    assert_eq!(plan.moves.len(), 2);
    assert_ne!(plan.moves[0].step, plan.moves[1].step);
}
