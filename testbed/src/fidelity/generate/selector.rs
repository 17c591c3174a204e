//! Label selectors over the pods' labels, odd ones included.

use serde_json::{Value, json};

use super::draft::APPS;
use crate::fidelity::dice::Dice;

/// A selector that often matches some pods; sometimes all (`{}`), sometimes none (null).
pub(super) fn label_selector(dice: &mut Dice) -> Value {
    match dice.below(12) {
        0 => Value::Null,
        1 => json!({}),
        2 => json!({"matchExpressions": [{"key": "app", "operator": "In", "values": ["web", "db"]}]}),
        3 => json!({"matchExpressions": [{"key": "app", "operator": "NotIn", "values": [dice.pick(&APPS)]}]}),
        4 => json!({"matchExpressions": [{"key": "tier", "operator": "Exists"}]}),
        5 => json!({"matchExpressions": [{"key": "tier", "operator": "DoesNotExist"}]}),
        // A pod without the label matches NotIn.
        6 => json!({"matchLabels": {"app": dice.pick(&APPS)},
            "matchExpressions": [{"key": "tier", "operator": "NotIn", "values": ["front", ""]}]}),
        7 => json!({"matchLabels": {"tier": ""}}),
        _ => json!({"matchLabels": {"app": dice.pick(&APPS)}}),
    }
}

/// A selector that matches the labels of this pod.
pub(super) fn of_itself(pod: &Value) -> Value {
    json!({"matchLabels": {"app": pod["metadata"]["labels"]["app"]}})
}

/// Adds what the API server makes of a `matchLabelKeys` (or `mismatchLabelKeys`) entry, if the pod has the label.
/// Source: `pkg/registry/core/pod/strategy.go`, `applyLabelKeysToLabelSelector`.
pub(super) fn merge_key(selector: &mut Value, pod: &Value, key: &str, operator: &str) {
    if let Some(value) = pod["metadata"]["labels"][key].as_str() {
        let expression = json!({"key": key, "operator": operator, "values": [value]});
        super::draft::push(&mut selector["matchExpressions"], expression);
    }
}
