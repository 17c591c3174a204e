//! InterPodAffinity: required and preferred, for and against, and what bound pods want of others.

use serde_json::{Value, json};

use super::draft::{Draft, HOSTNAME, RACK, ZONE, push};
use super::selector::{label_selector, merge_key, of_itself};
use crate::fidelity::dice::Dice;

const REQUIRED: &str = "requiredDuringSchedulingIgnoredDuringExecution";
const PREFERRED: &str = "preferredDuringSchedulingIgnoredDuringExecution";

/// Gives pods wishes about pods.
pub(super) fn dress(draft: &mut Draft, dice: &mut Dice) {
    let what = dice.below(5);
    if dice.chance(30) {
        for node in &mut draft.nodes {
            if dice.chance(15)
                && let Some(labels) = node["metadata"]["labels"].as_object_mut()
            {
                labels.remove(dice.pick(&[HOSTNAME, ZONE]));
            }
        }
    }
    if dice.chance(35) {
        // Few pods: nothing matches, and a group may have to begin with itself.
        draft.bound.truncate(4);
    }
    for at in 0..draft.bound.len() {
        // Symmetry alone, or nothing but it now and then.
        if matches!(what, 0 | 4) && dice.chance(25) {
            wishes(&mut draft.bound[at], if what == 0 { 0 } else { 3 }, dice);
        }
        if dice.chance(8) {
            draft.bound[at]["metadata"]["deletionTimestamp"] = json!("2026-01-01T00:30:00Z");
        }
    }
    for index in draft.touched(dice) {
        if what != 0 || dice.chance(20) {
            wishes(&mut draft.judged[index], what, dice);
        }
    }
}

/// `what`: 0 anti-affinity that is required, 1 affinity that is required, 2 both, else all kinds.
fn wishes(pod: &mut Value, what: usize, dice: &mut Dice) {
    for (kind, required) in [
        ("podAntiAffinity", matches!(what, 0 | 2) || (what > 2 && dice.chance(30))),
        ("podAffinity", matches!(what, 1 | 2) || (what > 2 && dice.chance(30))),
    ] {
        if required {
            for _ in 0..1 + usize::from(dice.chance(30)) {
                let term = term(pod, dice);
                push(&mut pod["spec"]["affinity"][kind][REQUIRED], term);
            }
        }
        if what > 2 || dice.chance(15) {
            for _ in 0..dice.below(3) {
                let term = term(pod, dice);
                push(
                    &mut pod["spec"]["affinity"][kind][PREFERRED],
                    json!({"weight": dice.pick(&[&1, &10, &100]), "podAffinityTerm": term}),
                );
            }
        }
    }
}

fn term(pod: &Value, dice: &mut Dice) -> Value {
    let key = dice.pick(&[HOSTNAME, HOSTNAME, ZONE, ZONE, RACK, "example.com/nowhere"]);
    // The rare key rejects everywhere, so most draws of it are drawn again.
    let key = if key == "example.com/nowhere" && dice.chance(70) { ZONE } else { key };
    let mut term = json!({"topologyKey": key});
    let mut selector = if dice.chance(45) { of_itself(pod) } else { label_selector(dice) };
    if !selector.is_null() && dice.chance(20) {
        // As the API server has merged it.
        let (field, operator) = *dice.pick(&[&("matchLabelKeys", "In"), &("mismatchLabelKeys", "NotIn")]);
        term[field] = json!(["pod-template-hash"]);
        merge_key(&mut selector, pod, "pod-template-hash", operator);
    }
    if !selector.is_null() {
        term["labelSelector"] = selector;
    }
    if dice.chance(25) {
        term["namespaces"] = json!(dice.pick(&[&["red", "blue"][..], &["bare"], &["absent"], &["red"]]));
    }
    if dice.chance(25) {
        term["namespaceSelector"] = dice
            .pick(&[
                &json!({}),
                &json!({"matchLabels": {"env": "prod"}}),
                &json!({"matchLabels": {"team": "nobody"}}),
                &json!({"matchExpressions": [{"key": "team", "operator": "DoesNotExist"}]}),
            ])
            .clone();
    }
    term
}
