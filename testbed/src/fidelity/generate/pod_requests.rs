//! What pods request, in all the ways in which a pod can say it.

use serde_json::{Value, json};

use super::draft::push;
use crate::fidelity::dice::Dice;

/// An extended resource that some nodes have.
pub(super) const DEVICE: &str = "example.com/device";
/// Huge pages that some nodes have.
pub(super) const HUGE: &str = "hugepages-2Mi";

const CPU: [&str; 9] = ["0", "1m", "250m", "500m", "501m", "0.5", "1", "1500m", "2"];
const MEMORY: [&str; 9] = ["0", "1", "128Mi", "256Mi", "256.5Mi", "1Gi", "1e9", "512Mi", "2Gi"];
const STORAGE: [&str; 6] = ["0", "1Gi", "2Gi", "4Gi", "1", "2147483649"];

/// Requests of one container. Extended resources and huge pages need equal limits (`ValidateResourceRequirements`).
pub(super) fn container(dice: &mut Dice) -> Value {
    let (mut requests, mut limits) = (json!({}), json!({}));
    if dice.chance(75) {
        requests["cpu"] = json!(dice.pick(&CPU));
    }
    if dice.chance(75) {
        requests["memory"] = json!(dice.pick(&MEMORY));
    }
    if dice.chance(25) {
        requests["ephemeral-storage"] = json!(dice.pick(&STORAGE));
    }
    if dice.chance(20) {
        let count = dice.pick(&["0", "1", "2"]);
        (requests[DEVICE], limits[DEVICE]) = (json!(count), json!(count));
    }
    if dice.chance(10) {
        // Huge pages need a request of cpu or memory beside them.
        requests["cpu"] = json!("250m");
        (requests[HUGE], limits[HUGE]) = (json!("4Mi"), json!("4Mi"));
    }
    let mut resources = json!({"requests": requests});
    if limits != json!({}) {
        resources["limits"] = limits;
    }
    resources
}

/// Gives a pod containers, sidecars, init containers, pod-level resources or overhead.
pub(super) fn dress(pod: &mut Value, dice: &mut Dice) {
    let spec = &mut pod["spec"];
    if dice.chance(15) {
        pod_level(spec, dice);
        return;
    }
    spec["containers"][0]["resources"] = container(dice);
    if dice.chance(6) {
        // Less than the unit: kube-scheduler rounds the sum of a pod up, our records round each container. One
        // container with a fraction is the same both ways.
        spec["containers"][0]["resources"]["requests"]["cpu"] = json!("500u");
        spec["containers"][0]["resources"]["requests"]["memory"] = json!("1500m");
    }
    if dice.chance(25) {
        let second = json!({"name": "c1", "image": "registry.example/app:v1", "resources": container(dice)});
        push(&mut spec["containers"], second);
    }
    for index in 0..(if dice.chance(35) { 1 + dice.below(3) } else { 0 }) {
        let mut init =
            json!({"name": format!("i{index}"), "image": "registry.example/app:v1", "resources": container(dice)});
        if dice.chance(50) {
            init["restartPolicy"] = json!("Always");
        }
        push(&mut spec["initContainers"], init);
    }
    if dice.chance(12) {
        // As the admission of a RuntimeClass sets it.
        spec["runtimeClassName"] = json!("kata");
        spec["overhead"] = dice
            .pick(&[
                &json!({"cpu": "250m", "memory": "128Mi"}),
                &json!({"memory": "120Mi"}),
                &json!({"cpu": "1", "ephemeral-storage": "1Gi"}),
            ])
            .clone();
    }
}

/// Pod-level requests must not be less than what the containers ask together (`validatePodResources`), so these ask
/// little: at most three containers of 250m and 128Mi.
fn pod_level(spec: &mut Value, dice: &mut Dice) {
    let little = |dice: &mut Dice| {
        let mut requests = json!({});
        if dice.chance(50) {
            requests["cpu"] = json!(dice.pick(&["250m", "100m"]));
        }
        if dice.chance(50) {
            requests["memory"] = json!(dice.pick(&["128Mi", "64Mi"]));
        }
        if dice.chance(20) {
            requests["ephemeral-storage"] = json!(dice.pick(&STORAGE));
        }
        json!({"requests": requests})
    };
    spec["containers"][0]["resources"] = little(dice);
    if dice.chance(40) {
        let second = json!({"name": "c1", "image": "registry.example/app:v1", "resources": little(dice)});
        push(&mut spec["containers"], second);
    }
    if dice.chance(40) {
        let mut init = json!({"name": "i0", "image": "registry.example/app:v1", "resources": little(dice)});
        if dice.chance(60) {
            init["restartPolicy"] = json!("Always");
        }
        push(&mut spec["initContainers"], init);
    }
    let mut requests = json!({});
    match dice.below(3) {
        0 => requests["cpu"] = json!(dice.pick(&["1", "1500m", "2"])),
        1 => requests["memory"] = json!(dice.pick(&["512Mi", "1Gi", "2Gi"])),
        _ => {
            requests["cpu"] = json!(dice.pick(&["1", "1500m", "2"]));
            requests["memory"] = json!(dice.pick(&["512Mi", "1Gi", "2Gi"]));
        }
    }
    spec["resources"] = json!({"requests": requests});
    if dice.chance(20) {
        spec["overhead"] = json!({"cpu": "250m", "memory": "128Mi"});
        spec["runtimeClassName"] = json!("kata");
    }
}

/// Gives a bound pod the marks of a resize in place: what the kubelet allocated, what runs, and whether it waits.
pub(super) fn resize(pod: &mut Value, dice: &mut Dice) {
    let pairs = |dice: &mut Dice| {
        let mut list = json!({});
        if dice.chance(80) {
            list["cpu"] = json!(dice.pick(&["100m", "250m", "500m", "1", "2"]));
        }
        if dice.chance(80) {
            list["memory"] = json!(dice.pick(&["128Mi", "256Mi", "512Mi", "1Gi", "2Gi"]));
        }
        list
    };
    let mut statuses = |containers: &Value| {
        let mut list = json!([]);
        for container in containers.as_array().into_iter().flatten() {
            if dice.chance(80) {
                let mut status = json!({"name": container["name"], "ready": true, "restartCount": 0,
                    "image": "registry.example/app:v1", "imageID": "", "resources": {"requests": pairs(dice)}});
                if dice.chance(80) {
                    status["allocatedResources"] = pairs(dice);
                }
                push(&mut list, status);
            }
        }
        list
    };
    let (apps, inits) = (statuses(&pod["spec"]["containers"]), statuses(&pod["spec"]["initContainers"]));
    pod["status"]["containerStatuses"] = apps;
    pod["status"]["initContainerStatuses"] = inits;
    if pod["spec"]["resources"] != Value::Null && dice.chance(70) {
        pod["status"]["resources"] = json!({"requests": pairs(dice)});
        pod["status"]["allocatedResources"] = pairs(dice);
    }
    if dice.chance(50) {
        let reason = dice.pick(&["Infeasible", "Deferred"]);
        push(&mut pod["status"]["conditions"], json!({"type": "PodResizePending", "status": "True", "reason": reason}));
    }
}
