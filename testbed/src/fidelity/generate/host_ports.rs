//! NodePorts: addresses, protocols, host networking, sidecars.

use serde_json::{Value, json};

use super::draft::{Draft, push};
use crate::fidelity::dice::Dice;

/// Gives bound pods and pods to judge host ports from a short list.
pub(super) fn dress(draft: &mut Draft, dice: &mut Dice) {
    let share = draft.share;
    for pod in &mut draft.bound {
        if dice.chance(share / 2) {
            ports(pod, dice);
        }
    }
    for index in draft.touched(dice) {
        ports(&mut draft.judged[index], dice);
    }
}

fn ports(pod: &mut Value, dice: &mut Dice) {
    let spec = &mut pod["spec"];
    if dice.chance(15) {
        // With host networking the API server sets hostPort to containerPort.
        let port = *dice.pick(&[&80, &8080]);
        spec["hostNetwork"] = json!(true);
        spec["containers"][0]["ports"] = json!([{"containerPort": port, "hostPort": port, "protocol": "TCP"}]);
        return;
    }
    let first = port(dice);
    let mut second = port(dice);
    if second["hostPort"] == first["hostPort"] {
        second["hostPort"] = json!(9090);
    }
    spec["containers"][0]["ports"] = if dice.chance(30) { json!([first, second]) } else { json!([first]) };
    if dice.chance(25) {
        let mut init = json!({"name": "port-init", "image": "registry.example/app:v1",
            "ports": [{"containerPort": 7000, "hostPort": 7000, "protocol": "TCP"}]});
        if dice.chance(50) {
            init["restartPolicy"] = json!("Always");
        }
        push(&mut spec["initContainers"], init);
    }
}

fn port(dice: &mut Dice) -> Value {
    let mut port = json!({"containerPort": 80, "protocol": dice.pick(&["TCP", "TCP", "UDP", "SCTP"]),
        "hostPort": dice.pick(&[&80, &443, &8080])});
    let address = dice.pick(&["", "0.0.0.0", "127.0.0.1", "10.0.0.1", "::"]);
    if !address.is_empty() {
        port["hostIP"] = json!(address);
    }
    port
}
