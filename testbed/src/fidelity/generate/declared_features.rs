//! NodeDeclaredFeatures, from 1.36 on: what a pod needs of a kubelet, and what nodes declare.

use serde_json::json;

use super::draft::{Draft, push};
use crate::fidelity::dice::Dice;

/// Source: `k8s.io/component-helpers/nodedeclaredfeatures/features/restartallcontainers`. Of the features that the
/// library infers for scheduling it is the only one whose fields the API server takes with default gates.
const FEATURE: &str = "RestartAllContainersOnContainerExits";

/// Lets nodes declare features, and pods need one.
pub(super) fn dress(draft: &mut Draft, dice: &mut Dice) {
    for node in &mut draft.nodes {
        if dice.chance(50) {
            push(&mut node["status"]["declaredFeatures"], json!("ExtendWebSocketsToKubelet"));
        }
        if dice.chance(55) {
            push(&mut node["status"]["declaredFeatures"], json!(FEATURE));
        }
    }
    for index in draft.touched(dice) {
        let spec = &mut draft.judged[index]["spec"];
        let action = dice.pick(&["RestartAllContainers", "RestartAllContainers", "Restart"]);
        let rules = json!([{"action": action, "exitCodes": {"operator": "In", "values": [42]}}]);
        if dice.chance(75) {
            spec["containers"][0]["restartPolicy"] = json!("Never");
            spec["containers"][0]["restartPolicyRules"] = rules;
        } else {
            push(
                &mut spec["initContainers"],
                json!({"name": "feature-init", "image": "registry.example/app:v1", "restartPolicy": "Never",
                    "restartPolicyRules": rules}),
            );
        }
    }
}
