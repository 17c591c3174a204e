//! ImageLocality: images on nodes, in all ways to name one.

use serde_json::{Value, json};

use super::draft::{Draft, push};
use crate::fidelity::dice::Dice;

const IMAGES: [&str; 5] = [
    "registry.example/app:v1",
    "registry.example/big:v2",
    "docker.io/library/nginx:latest",
    "registry.example:5000/team/app:v3",
    "registry.example/app@sha256:0000000000000000000000000000000000000000000000000000000000000001",
];
/// As a pod may name them; without tag or digest it is `latest`.
const NAMES: [&str; 8] = [
    IMAGES[0],
    IMAGES[1],
    IMAGES[2],
    IMAGES[3],
    IMAGES[4],
    "docker.io/library/nginx",
    "registry.example:5000/team/app",
    "nginx",
];

/// Puts images on nodes and names them in pods.
pub(super) fn dress(draft: &mut Draft, dice: &mut Dice) {
    // An image has one size: of two, kube-scheduler takes that of the node that it saw first.
    let sizes = IMAGES.map(|_| *dice.pick(&[&10, &24, &100, &500, &999, &1500, &4000]) * 1024 * 1024_i64);
    for node in &mut draft.nodes {
        for (image, size) in IMAGES.into_iter().zip(sizes) {
            if dice.chance(45) {
                let mut names = json!([image]);
                if dice.chance(30) {
                    push(&mut names, json!(format!("{image}-alias")));
                }
                push(&mut node["status"]["images"], json!({"names": names, "sizeBytes": size}));
            }
        }
    }
    for index in draft.touched(dice) {
        let spec = &mut draft.judged[index]["spec"];
        spec["containers"][0]["image"] = json!(dice.pick(&NAMES));
        for number in 1..1 + dice.below(3) {
            let more: Value = json!({"name": format!("c{number}x"), "image": dice.pick(&NAMES)});
            push(&mut spec["containers"], more);
        }
        if dice.chance(25) {
            push(&mut spec["initContainers"], json!({"name": "image-init", "image": dice.pick(&NAMES)}));
        }
    }
}
