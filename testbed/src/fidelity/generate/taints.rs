//! NodeUnschedulable and TaintToleration: taints of all effects, cordons, and tolerations of all shapes.

use serde_json::{Value, json};

use super::draft::{Draft, push};
use crate::fidelity::dice::Dice;

const KEYS: [&str; 3] = ["dedicated", "gpu", "example.com/fence"];
const VALUES: [&str; 3] = ["", "a", "b"];
/// Source: `k8s.io/api/core/v1/well_known_taints.go`, `TaintNodeUnschedulable`.
const CORDON: &str = "node.kubernetes.io/unschedulable";

/// Taints nodes, and gives pods tolerations.
pub(super) fn dress(draft: &mut Draft, dice: &mut Dice) {
    let cordons = dice.below(3);
    for node in &mut draft.nodes {
        if cordons > 0 && dice.chance(40) {
            node["spec"]["unschedulable"] = json!(true);
            // The node lifecycle controller adds the taint a moment later.
            if cordons == 1 && dice.chance(50) {
                push(&mut node["spec"]["taints"], json!({"key": CORDON, "effect": "NoSchedule"}));
            }
            continue;
        }
        for _ in 0..(if cordons == 1 { 0 } else { dice.below(4) }) {
            let taint = taint(dice);
            let same = |other: &Value| other["key"] == taint["key"] && other["effect"] == taint["effect"];
            if !node["spec"]["taints"].as_array().is_some_and(|list| list.iter().any(same)) {
                push(&mut node["spec"]["taints"], taint);
            }
        }
    }
    for index in draft.touched(dice) {
        for _ in 0..dice.below(4) {
            let toleration = toleration(dice);
            push(&mut draft.judged[index]["spec"]["tolerations"], toleration);
        }
    }
}

fn taint(dice: &mut Dice) -> Value {
    let effect = dice.pick(&["NoSchedule", "NoExecute", "PreferNoSchedule", "PreferNoSchedule"]);
    let mut taint = json!({"key": dice.pick(&KEYS), "effect": effect});
    let value = dice.pick(&VALUES);
    if !value.is_empty() {
        taint["value"] = json!(value);
    }
    taint
}

fn toleration(dice: &mut Dice) -> Value {
    match dice.below(12) {
        // An empty key with Exists tolerates every taint of the effect, or all.
        0 => json!({"operator": "Exists"}),
        1 => json!({"operator": "Exists", "effect": dice.pick(&["NoSchedule", "PreferNoSchedule", "NoExecute"])}),
        2 | 3 => json!({"key": CORDON, "operator": "Exists", "effect": "NoSchedule"}),
        4 => json!({"key": CORDON, "operator": "Equal"}),
        5 => json!({"key": dice.pick(&KEYS), "operator": "Exists", "effect": "NoExecute",
            "tolerationSeconds": dice.pick(&[&0, &300])}),
        6 => json!({"key": dice.pick(&KEYS), "operator": "Exists"}),
        // Without an operator it is Equal.
        7 => json!({"key": dice.pick(&KEYS), "value": dice.pick(&VALUES)}),
        _ => json!({"key": dice.pick(&KEYS), "operator": "Equal", "value": dice.pick(&VALUES),
            "effect": dice.pick(&["NoSchedule", "NoExecute", "PreferNoSchedule"])}),
    }
}
