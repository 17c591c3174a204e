//! Preemption: full nodes, pods of several priorities, and budgets.
//!
//! What kube-scheduler leaves to chance is left out: victims of one node that started at the same time, and pods of two
//! budgets.

use serde_json::{Value, json};

use super::draft::{APPS, Draft, NAMESPACES, name, namespace};
use crate::fidelity::dice::Dice;

/// The least of all priorities: victims that have it add nothing to a sum.
const LEAST: i64 = i32::MIN as i64;

/// Fills nodes with pods of priorities below and above those to judge.
pub(super) fn dress(draft: &mut Draft, dice: &mut Dice) {
    for (class, value) in [("low", -10), ("high", 1000)] {
        draft.others.push(json!({"apiVersion": "scheduling.k8s.io/v1", "kind": "PriorityClass",
            "metadata": {"name": class}, "value": value}));
    }
    // What is alike in all pods of the cluster leaves it to something else to decide.
    let (one_size, priorities) = (dice.chance(50), dice.below(6));
    let one_start = dice.chance(50);
    for pod in &mut draft.bound {
        asks(pod, if one_size { "500m" } else { dice.pick(&["250m", "500m", "1", "1", "2"]) });
        let priority = match priorities {
            0 => &0,
            // The most important is often the same, and those beside it are not.
            1 | 2 => dice.pick(&[&0, &0, &0, &-10, &-1]),
            3 => dice.pick(&[&0, &0, &LEAST]),
            _ => dice.pick(&[&-10, &0, &0, &5, &1000]),
        };
        pod["spec"]["priority"] = json!(priority);
        if dice.chance(8) {
            pod["metadata"]["deletionTimestamp"] = json!("2026-01-01T02:00:00Z");
        }
        if let (true, Some(meta)) = (dice.chance(8), pod["metadata"].as_object_mut()) {
            // No budget protects what has no labels.
            meta.remove("labels");
        }
    }
    let plain = draft.judged.len();
    (0..12).for_each(|_| draft.another(dice));
    let touched: Vec<usize> = draft.touched(dice).into_iter().filter(|index| *index < plain).collect();
    for index in touched.into_iter().chain(plain..plain + 12) {
        asks(&mut draft.judged[index], dice.pick(&["500m", "1", "1", "2", "2", "3", "3", "3", "16"]));
        draft.judged[index]["spec"]["priority"] = json!(dice.pick(&[&0, &5, &10, &2000, &2000, &2000]));
        if dice.chance(10) {
            draft.judged[index]["spec"]["preemptionPolicy"] = json!("Never");
        }
    }
    for index in 0..draft.nodes.len() {
        let here = name(&draft.nodes[index]);
        let mut used = 0;
        let mut unstarted = one_start || dice.chance(70);
        let mut minute = if one_start { 90 } else { dice.below(20) };
        for pod in draft.bound.iter_mut().filter(|pod| pod["spec"]["nodeName"] == here.as_str()) {
            used += millis(pod);
            pod["status"]["startTime"] = json!(format!("2026-01-01T{:02}:{:02}:00Z", minute / 60, minute % 60));
            if one_start {
                // The youngest, which go first, started at the same time on all nodes.
                minute -= 1;
            } else {
                minute += 1 + dice.below(3);
            }
            if let (false, true, Some(status)) = (unstarted, dice.chance(15), pod["status"].as_object_mut()) {
                // At most one: which of two that never started is the older is chance.
                status.remove("startTime");
                unstarted = true;
            }
        }
        let millis = (used + dice.pick(&[&0, &0, &250, &400])).max(100);
        for list in ["allocatable", "capacity"] {
            draft.nodes[index]["status"][list]["cpu"] = json!(format!("{millis}m"));
        }
    }
    budgets(draft, dice);
}

fn budgets(draft: &mut Draft, dice: &mut Dice) {
    for space in NAMESPACES {
        for app in APPS {
            if dice.chance(60) {
                let mut budget = budget(space, app, dice);
                let protected = |pod: &&Value| namespace(pod) == space && pod["metadata"]["labels"]["app"] == app;
                let evicted = draft.bound.iter().find(protected).map(name);
                if let (true, Some(evicted)) = (dice.chance(25), evicted) {
                    budget["status"]["disruptedPods"] = json!({evicted: "2026-01-01T01:00:00Z"});
                }
                if let (true, Some(object)) = (dice.chance(10), budget.as_object_mut()) {
                    object.remove("status");
                }
                draft.others.push(budget);
            }
        }
        if dice.chance(25) {
            // For the eviction endpoint it protects all, for preemption nobody.
            let mut all = budget(space, "all", dice);
            all["spec"]["selector"] = json!({});
            draft.others.push(all);
        }
    }
}

fn budget(space: &str, app: &str, dice: &mut Dice) -> Value {
    json!({"apiVersion": "policy/v1", "kind": "PodDisruptionBudget",
        "metadata": {"namespace": space, "name": format!("budget-{app}"), "generation": 1},
        "spec": {"selector": {"matchLabels": {"app": app}}, "maxUnavailable": 1},
        "status": {"disruptionsAllowed": dice.pick(&[&0, &0, &0, &1, &2]), "currentHealthy": 3, "desiredHealthy": 2,
            "expectedPods": 3, "observedGeneration": 1}})
}

fn asks(pod: &mut Value, cpu: &str) {
    pod["spec"]["containers"][0]["resources"] = json!({"requests": {"cpu": cpu}});
}

fn millis(pod: &Value) -> i64 {
    let text = pod["spec"]["containers"][0]["resources"]["requests"]["cpu"].as_str().unwrap_or("0");
    let number = |text: &str| text.parse::<i64>().unwrap_or_default();
    text.strip_suffix('m').map_or_else(|| 1000 * number(text), number)
}
