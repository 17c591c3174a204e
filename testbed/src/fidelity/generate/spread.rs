//! PodTopologySpread: constraints that filter and constraints that score.

use serde_json::{Value, json};

use super::draft::{Draft, HOSTNAME, RACK, ZONE, push};
use super::selector::{label_selector, merge_key, of_itself};
use crate::fidelity::dice::Dice;

/// `DoNotSchedule`.
pub(super) fn hard(draft: &mut Draft, dice: &mut Dice) {
    dress(draft, dice, 85);
}

/// `ScheduleAnyway`.
pub(super) fn soft(draft: &mut Draft, dice: &mut Dice) {
    dress(draft, dice, 10);
}

fn dress(draft: &mut Draft, dice: &mut Dice, hard: usize) {
    surroundings(draft, dice);
    let keys: Vec<&str> = match dice.below(4) {
        0 => vec![ZONE],
        1 => vec![HOSTNAME, ZONE],
        2 => vec![RACK, ZONE],
        _ => vec![ZONE, HOSTNAME, RACK, "example.com/nowhere"],
    };
    for index in draft.touched(dice) {
        let pod = draft.judged[index].clone();
        for _ in 0..1 + dice.below(3) {
            let constraint = constraint(&pod, &keys, hard, dice);
            let list = &mut draft.judged[index]["spec"]["topologySpreadConstraints"];
            // One constraint per key and action.
            let same = |other: &Value| {
                other["topologyKey"] == constraint["topologyKey"]
                    && other["whenUnsatisfiable"] == constraint["whenUnsatisfiable"]
            };
            if !list.as_array().is_some_and(|list| list.iter().any(same)) {
                push(list, constraint);
            }
        }
        // What the two node policies look at.
        if dice.chance(25) {
            draft.judged[index]["spec"]["nodeSelector"] = json!({"pool": dice.pick(&["old", "new"])});
        }
        if dice.chance(25) {
            push(
                &mut draft.judged[index]["spec"]["tolerations"],
                json!({"key": "dedicated", "operator": "Exists", "effect": "NoSchedule"}),
            );
        }
    }
}

/// Fenced nodes, pods that are going, pods of one namespace in numbers.
fn surroundings(draft: &mut Draft, dice: &mut Dice) {
    let fences = dice.chance(50);
    for node in &mut draft.nodes {
        if fences && dice.chance(30) {
            let effect = dice.pick(&["NoSchedule", "NoExecute", "PreferNoSchedule"]);
            push(&mut node["spec"]["taints"], json!({"key": "dedicated", "value": "a", "effect": effect}));
        }
        if fences && dice.chance(15) {
            node["spec"]["unschedulable"] = json!(true);
            push(
                &mut node["spec"]["taints"],
                json!({"key": "node.kubernetes.io/unschedulable", "effect": "NoSchedule"}),
            );
        }
        if dice.chance(5)
            && let Some(labels) = node["metadata"]["labels"].as_object_mut()
        {
            labels.remove(HOSTNAME);
        }
    }
    let together = dice.chance(60);
    for pod in draft.bound.iter_mut().chain(&mut draft.judged) {
        if together {
            pod["metadata"]["namespace"] = json!("red");
            pod["metadata"]["labels"]["app"] = json!(dice.pick(&["web", "web", "db"]));
        }
    }
    for pod in &mut draft.bound {
        if dice.chance(15) {
            pod["metadata"]["deletionTimestamp"] = json!("2026-01-01T00:30:00Z");
            pod["metadata"]["deletionGracePeriodSeconds"] = json!(30);
        }
    }
}

fn constraint(pod: &Value, keys: &[&str], hard: usize, dice: &mut Dice) -> Value {
    // The fourth key, which no node has, is drawn seldom.
    let key = if dice.chance(6) { keys[keys.len() - 1] } else { keys[dice.below(keys.len().min(3))] };
    let hard = dice.chance(hard);
    let selector = if dice.chance(60) { of_itself(pod) } else { label_selector(dice) };
    let mut constraint = json!({"topologyKey": key, "maxSkew": dice.pick(&[&1, &1, &1, &2, &3]),
        "whenUnsatisfiable": if hard { "DoNotSchedule" } else { "ScheduleAnyway" }});
    if !selector.is_null() {
        constraint["labelSelector"] = selector;
        if dice.chance(25) {
            keys_of_labels(&mut constraint, pod, dice);
        }
    }
    if hard && dice.chance(30) {
        constraint["minDomains"] = json!(dice.between(1, 5));
    }
    for policy in ["nodeAffinityPolicy", "nodeTaintsPolicy"] {
        if dice.chance(45) {
            constraint[policy] = json!(dice.pick(&["Honor", "Ignore"]));
        }
    }
    constraint
}

/// From 1.34 on the API server merges the keys into the selector; an older pod still has them apart.
fn keys_of_labels(constraint: &mut Value, pod: &Value, dice: &mut Dice) {
    let key = dice.pick(&["pod-template-hash", "absent-label"]);
    constraint["matchLabelKeys"] = json!([key]);
    if dice.chance(60) {
        merge_key(&mut constraint["labelSelector"], pod, key, "In");
    }
}
