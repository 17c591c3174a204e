//! NodeResourcesFit, LeastAllocated and BalancedAllocation: nodes that are just full or just not.

use serde_json::{Value, json};

use super::draft::{Draft, name, push};
use super::pod_requests::{self, DEVICE, HUGE};
use crate::fidelity::dice::Dice;

/// Gives pods all kinds of requests, and then nodes sizes near to what is used.
pub(super) fn dress(draft: &mut Draft, dice: &mut Dice) {
    for index in draft.touched(dice) {
        pod_requests::dress(&mut draft.judged[index], dice);
    }
    let share = draft.share;
    for pod in &mut draft.bound {
        if dice.chance(share / 2) {
            pod_requests::dress(pod, dice);
        }
        if dice.chance(share / 5) {
            pod_requests::resize(pod, dice);
        }
        if dice.chance(5) {
            // It has ended: kube-scheduler does not see it.
            pod["status"]["phase"] = json!(dice.pick(&["Succeeded", "Failed"]));
        }
    }
    // One resource at a time is tight, so that it decides alone.
    let tight = dice.below(7);
    for index in 0..draft.nodes.len() {
        let name = name(&draft.nodes[index]);
        let here: Vec<&Value> = draft.bound.iter().filter(|pod| pod["spec"]["nodeName"] == name.as_str()).collect();
        let used = Used::of(&here);
        let room = room(&used, here.len(), if tight == 6 { dice.below(6) } else { tight }, dice);
        if dice.chance(75) {
            for (resource, quantity) in room {
                for list in ["allocatable", "capacity"] {
                    draft.nodes[index]["status"][list][resource] = json!(quantity);
                }
            }
        }
        if dice.chance(4) {
            // A node that says nothing about a resource has none of it.
            if let Some(list) = draft.nodes[index]["status"]["allocatable"].as_object_mut() {
                list.remove(dice.pick(&["cpu", "memory", "ephemeral-storage", "pods"]));
            }
        }
    }
    if dice.chance(10) {
        for pod in &mut draft.judged {
            push(&mut pod["spec"]["tolerations"], json!({"operator": "Exists"}));
        }
    }
}

/// What the pods of a node use, roughly: sums of plain container requests. Equality is met often enough, because all
/// quantities come from short lists.
#[derive(Default)]
struct Used {
    millis: i64,
    mebibytes: i64,
}

impl Used {
    fn of(pods: &[&Value]) -> Self {
        let mut used = Self::default();
        for pod in pods {
            for part in ["containers", "initContainers"] {
                for container in pod["spec"][part].as_array().into_iter().flatten() {
                    if part == "containers" || container["restartPolicy"] == "Always" {
                        let requests = &container["resources"]["requests"];
                        used.millis += millis(requests["cpu"].as_str().unwrap_or("0"));
                        used.mebibytes += mebibytes(requests["memory"].as_str().unwrap_or("0"));
                    }
                }
            }
            let overhead = &pod["spec"]["overhead"];
            used.millis += millis(overhead["cpu"].as_str().unwrap_or("0"));
            used.mebibytes += mebibytes(overhead["memory"].as_str().unwrap_or("0"));
        }
        used
    }
}

fn millis(text: &str) -> i64 {
    if let Some(number) = text.strip_suffix('m') {
        return number.parse().unwrap_or(0);
    }
    match text {
        "0.5" => 500,
        _ => text.parse::<i64>().map_or(1, |cores| cores * 1000),
    }
}

fn mebibytes(text: &str) -> i64 {
    match (text.strip_suffix("Mi"), text.strip_suffix("Gi")) {
        (Some(number), _) => number.parse().unwrap_or(257),
        (_, Some(number)) => number.parse::<i64>().unwrap_or(0) * 1024,
        _ => i64::from(text == "1e9") * 954,
    }
}

fn room(used: &Used, pods: usize, tight: usize, dice: &mut Dice) -> Vec<(&'static str, String)> {
    let mut room = vec![];
    // Elsewhere there is plenty.
    if tight != 0 {
        room.push(("cpu", "64".to_owned()));
    }
    if tight != 1 {
        room.push(("memory", "256Gi".to_owned()));
    }
    if tight != 4 {
        room.push((DEVICE, "64".to_owned()));
    }
    if tight != 5 {
        room.push((HUGE, "1Gi".to_owned()));
    }
    match tight {
        0 => {
            let free = dice.pick(&[&0, &1, &250, &499, &500, &501, &1000, &1500, &-250]);
            room.push(("cpu", format!("{}m", (used.millis + free).max(0))));
        }
        1 => {
            let free = dice.pick(&[&0, &1, &128, &256, &257, &512, &1024, &-128]);
            room.push(("memory", format!("{}Mi", (used.mebibytes + free).max(0))));
        }
        2 => room.push(("ephemeral-storage", dice.pick(&["0", "1Gi", "2Gi", "3Gi", "6Gi"]).to_owned())),
        3 => room.push(("pods", (pods + dice.below(2)).to_string())),
        4 => {
            if dice.chance(70) {
                room.push((DEVICE, dice.pick(&["0", "1", "2", "3"]).to_owned()));
            }
        }
        _ => {
            if dice.chance(70) {
                room.push((HUGE, dice.pick(&["0", "2Mi", "4Mi", "8Mi"]).to_owned()));
            }
        }
    }
    room
}
