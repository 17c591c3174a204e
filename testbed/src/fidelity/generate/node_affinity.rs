//! NodeAffinity: selectors, terms with every operator, fields, and preferences.

use serde_json::{Value, json};

use super::draft::{Draft, HOSTNAME, ZONE, ZONES, push};
use crate::fidelity::dice::Dice;

/// Labels nodes with numbers and near-numbers, and gives pods wishes.
pub(super) fn dress(draft: &mut Draft, dice: &mut Dice) {
    for node in &mut draft.nodes {
        if dice.chance(60) {
            node["metadata"]["labels"]["generation"] = json!(dice.pick(&["1", "2", "10", "09", "x", "", "0"]));
        }
        if dice.chance(40) {
            node["metadata"]["labels"]["special"] = json!(dice.pick(&["", "true"]));
        }
    }
    let what = dice.below(4);
    for index in draft.touched(dice) {
        let names: Vec<String> = (0..2).map(|_| draft.any_node(dice)).collect();
        let spec = &mut draft.judged[index]["spec"];
        if what == 3 && dice.chance(80) {
            spec["affinity"]["nodeAffinity"]["requiredDuringSchedulingIgnoredDuringExecution"] =
                json!({"nodeSelectorTerms": named(&names, dice)});
            continue;
        }
        if what != 1 && dice.chance(30) {
            spec["nodeSelector"] = match dice.below(4) {
                0 => json!({"pool": "old"}),
                1 => json!({"special": ""}),
                2 => json!({ZONE: dice.pick(&ZONES), "pool": dice.pick(&["old", "new"])}),
                _ => json!({HOSTNAME: names[0]}),
            };
        }
        if what != 2 && dice.chance(60) {
            let mut terms = json!([]);
            for _ in 0..1 + dice.below(3) {
                push(&mut terms, term(&names, dice));
            }
            spec["affinity"]["nodeAffinity"]["requiredDuringSchedulingIgnoredDuringExecution"] =
                json!({"nodeSelectorTerms": terms});
        }
        if dice.chance(60) {
            for _ in 0..1 + dice.below(3) {
                // An unreadable number in a preference fails the whole cycle with an error, so these are sound.
                let preference = match dice.below(6) {
                    0 => json!({}),
                    1 => json!({"matchFields": [field("In", &names[0])]}),
                    2 => json!({"matchExpressions": [sound(dice), sound(dice)]}),
                    _ => json!({"matchExpressions": [sound(dice)]}),
                };
                push(
                    &mut spec["affinity"]["nodeAffinity"]["preferredDuringSchedulingIgnoredDuringExecution"],
                    json!({"weight": dice.pick(&[&1, &3, &50, &100]), "preference": preference}),
                );
            }
        }
    }
}

/// A term; an empty one matches no node.
fn term(names: &[String], dice: &mut Dice) -> Value {
    match dice.below(10) {
        0 => json!({}),
        1 => json!({"matchFields": [field("In", &names[0])]}),
        2 => json!({"matchFields": [field("NotIn", &names[0])]}),
        // With two different names the pod is refused outright, if all terms are so.
        3 => json!({"matchFields": [field("In", &names[0]), field("In", &names[1])]}),
        4 => json!({"matchFields": [field("In", &names[0])], "matchExpressions": [sound(dice)]}),
        5 => json!({"matchExpressions": [odd(dice)]}),
        6 => json!({"matchExpressions": [sound(dice), sound(dice)]}),
        _ => json!({"matchExpressions": [sound(dice)]}),
    }
}

/// Nodes by name only, as the DaemonSet controller writes them: kube-scheduler then looks at no other node.
fn named(names: &[String], dice: &mut Dice) -> Value {
    match dice.below(4) {
        // Two names of which both are wanted: the pod is refused outright.
        0 => json!([{"matchFields": [field("In", &names[0]), field("In", &names[1])]}]),
        1 => json!([{"matchFields": [field("In", &names[0])]}]),
        2 => json!([{"matchFields": [field("In", &names[0])]}, {"matchFields": [field("In", &names[1])]}]),
        _ => json!([{"matchFields": [field("In", &names[0])]},
            {"matchFields": [field("In", &names[1])], "matchExpressions": [sound(dice)]}]),
    }
}

/// Fields take one value (`validateNodeFieldSelectorRequirement`).
fn field(operator: &str, name: &str) -> Value {
    json!({"key": "metadata.name", "operator": operator, "values": [name]})
}

fn sound(dice: &mut Dice) -> Value {
    let key = dice.pick(&["pool", "cpus", "generation", "special", ZONE]);
    let values: [&str; 3] = match key {
        "pool" => ["old", "new", "none"],
        ZONE => ZONES,
        "special" => ["", "true", "false"],
        _ => ["2", "4", "10"],
    };
    match dice.below(8) {
        0 => json!({"key": key, "operator": "Exists"}),
        1 => json!({"key": key, "operator": "DoesNotExist"}),
        2 | 3 => json!({"key": key, "operator": "NotIn", "values": [dice.pick(&values), dice.pick(&values)]}),
        4 => json!({"key": "cpus", "operator": "Gt", "values": [dice.pick(&["0", "2", "4", "3"])]}),
        5 => json!({"key": "generation", "operator": "Lt", "values": [dice.pick(&["2", "9", "10", "1"])]}),
        _ => json!({"key": key, "operator": "In", "values": [dice.pick(&values), dice.pick(&values)]}),
    }
}

/// The API server takes any single value for Gt and Lt; kube-scheduler wants `strconv.ParseInt` to read it.
fn odd(dice: &mut Dice) -> Value {
    json!({"key": dice.pick(&["generation", "cpus"]), "operator": dice.pick(&["Gt", "Lt"]),
        "values": [dice.pick(&["abc", "", "007", "1.5", "9223372036854775807", "9223372036854775808"])]})
}
