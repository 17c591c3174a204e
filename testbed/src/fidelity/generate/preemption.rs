//! Preemption: full nodes, pods of several priorities, and budgets.

use serde_json::{Value, json};

use super::draft::{APPS, Draft, NAMESPACES, name};
use crate::fidelity::dice::Dice;

/// Fills nodes with pods of priorities below and above those to judge.
pub(super) fn dress(draft: &mut Draft, dice: &mut Dice) {
    for (class, value) in [("low", -10), ("high", 1000)] {
        draft.others.push(json!({"apiVersion": "scheduling.k8s.io/v1", "kind": "PriorityClass",
            "metadata": {"name": class}, "value": value}));
    }
    let sized = |pod: &mut Value, dice: &mut Dice| {
        pod["spec"]["containers"][0]["resources"] =
            json!({"requests": {"cpu": dice.pick(&["250m", "500m", "1", "2"])}});
    };
    for pod in &mut draft.bound {
        sized(pod, dice);
        pod["spec"]["priority"] = json!(dice.pick(&[&-10, &0, &0, &5, &1000]));
    }
    for index in draft.touched(dice) {
        sized(&mut draft.judged[index], dice);
        draft.judged[index]["spec"]["priority"] = json!(dice.pick(&[&0, &5, &10, &1000, &2000]));
        if dice.chance(20) {
            draft.judged[index]["spec"]["preemptionPolicy"] = json!("Never");
        }
    }
    for index in 0..draft.nodes.len() {
        let here = name(&draft.nodes[index]);
        let used = draft.bound.iter().filter(|pod| pod["spec"]["nodeName"] == here.as_str()).count();
        let cores = (used + dice.below(2)).max(1);
        for list in ["allocatable", "capacity"] {
            draft.nodes[index]["status"][list]["cpu"] = json!(cores.to_string());
        }
    }
    for space in NAMESPACES {
        for app in APPS {
            if dice.chance(40) {
                draft.others.push(json!({"apiVersion": "policy/v1", "kind": "PodDisruptionBudget",
                    "metadata": {"namespace": space, "name": format!("budget-{app}"), "generation": 1},
                    "spec": {"selector": {"matchLabels": {"app": app}}, "maxUnavailable": 1},
                    "status": {"disruptionsAllowed": dice.below(3), "currentHealthy": 3, "desiredHealthy": 2,
                        "expectedPods": 3, "observedGeneration": 1}}));
            }
        }
    }
}
