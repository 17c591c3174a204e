//! NodeVolumeLimits: limits in CSINodes, shared handles, attachments whose pod is gone, nodes without a CSINode, drivers
//! that must be there.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use super::draft::{Draft, name, namespace, push};
use super::volume::{bound_pair, claim, class, mount, mount_ephemeral};
use crate::fidelity::dice::Dice;

/// Drivers. Only one asks to be there before pods come (`preventPodSchedulingIfMissing`): which of two missing ones is
/// named depends on the order of a Go map.
const DRIVERS: [&str; 2] = ["csi.example.com", "fast.example.com"];
/// The driver that AWS disks of the in-tree plugin are translated to.
/// Source: `k8s.io/csi-translation-lib/plugins/aws_ebs.go`.
const EBS: &str = "ebs.csi.aws.com";

/// Sets limits, and gives pods volumes.
pub(super) fn dress(draft: &mut Draft, dice: &mut Dice) {
    drivers(draft, dice);
    let migrated = dice.chance(0);
    let mut shared = vec![];
    for at in 0..draft.bound.len() {
        if dice.chance(draft.share / 2) {
            let pod = draft.bound[at].clone();
            let (claim, mut volume) = pair(draft, &pod, migrated, dice);
            if dice.chance(25) {
                // Two volumes with one handle count once on a node.
                volume["spec"]["csi"]["volumeHandle"] = json!("shared-handle");
                volume["spec"]["csi"]["driver"] = json!(DRIVERS[0]);
                if let Some(spec) = volume["spec"].as_object_mut() {
                    spec.remove("awsElasticBlockStore");
                }
            }
            mount(&mut draft.bound[at], &name(&claim));
            shared.push((namespace(&claim), name(&claim)));
            if dice.chance(70) {
                let node = pod["spec"]["nodeName"].clone();
                attach(draft, &volume, &node);
            }
            draft.others.push(claim);
            if dice.chance(95) {
                draft.others.push(volume);
            }
        }
    }
    for _ in 0..dice.below(5) {
        // Nobody uses it any more, but it is attached.
        let pod = json!({"metadata": {"namespace": "gone"}});
        let (_, mut volume) = pair(draft, &pod, migrated, dice);
        if let Some(spec) = volume["spec"].as_object_mut() {
            spec.remove("claimRef");
        }
        volume["status"]["phase"] = json!("Released");
        let node = json!(draft.any_node(dice));
        attach(draft, &volume, &node);
        draft.others.push(volume);
    }
    for index in draft.touched(dice) {
        for _ in 0..1 + dice.below(3) {
            wish(draft, index, &shared, migrated, dice);
        }
    }
}

fn drivers(draft: &mut Draft, dice: &mut Dice) {
    let must = dice.below(3);
    for (index, driver) in DRIVERS.into_iter().enumerate() {
        let mut object = json!({"apiVersion": "storage.k8s.io/v1", "kind": "CSIDriver", "metadata": {"name": driver},
            "spec": {"attachRequired": true}});
        if must == index {
            object["spec"]["preventPodSchedulingIfMissing"] = json!(true);
        }
        draft.others.push(object);
    }
    draft.others.push(class("attach-late", DRIVERS[0], "WaitForFirstConsumer"));
    for index in 0..draft.nodes.len() {
        if dice.chance(15) {
            continue;
        }
        let node = name(&draft.nodes[index]);
        let mut list = json!([]);
        for driver in DRIVERS {
            if dice.chance(75) {
                let mut entry = json!({"name": driver, "nodeID": node, "topologyKeys": []});
                if dice.chance(85) {
                    entry["allocatable"] = json!({"count": dice.below(4)});
                }
                push(&mut list, entry);
            }
        }
        let mut csi_node = json!({"apiVersion": "storage.k8s.io/v1", "kind": "CSINode",
            "metadata": {"name": node}, "spec": {"drivers": list}});
        if dice.chance(60) {
            csi_node["metadata"]["annotations"]["storage.alpha.kubernetes.io/migrated-plugins"] =
                json!("kubernetes.io/aws-ebs,kubernetes.io/gce-pd");
        }
        draft.others.push(csi_node);
    }
}

fn pair(draft: &mut Draft, pod: &Value, migrated: bool, dice: &mut Dice) -> (Value, Value) {
    let (claim, mut volume) = bound_pair(draft, pod, "attached");
    volume["spec"]["csi"]["driver"] = json!(dice.pick(&[DRIVERS[0], DRIVERS[0], DRIVERS[1]]));
    if migrated
        && dice.chance(40)
        && let Some(spec) = volume["spec"].as_object_mut()
    {
        spec.remove("csi");
        let id = dice.pick(&["vol-1", "aws://z1/vol-2", "vol-3", "aws:///vol-4"]);
        spec.insert("awsElasticBlockStore".to_owned(), json!({"volumeID": id, "fsType": "ext4"}));
    }
    (claim, volume)
}

fn attach(draft: &mut Draft, volume: &Value, node: &Value) {
    let driver = volume["spec"]["csi"]["driver"].as_str().unwrap_or(EBS).to_owned();
    let number = draft.number();
    draft.others.push(json!({"apiVersion": "storage.k8s.io/v1", "kind": "VolumeAttachment",
        "metadata": {"name": format!("attachment-{number:03}")},
        "spec": {"attacher": driver, "nodeName": node, "source": {"persistentVolumeName": volume["metadata"]["name"]}},
        "status": {"attached": true}}));
}

fn wish(draft: &mut Draft, index: usize, shared: &[(String, String)], migrated: bool, dice: &mut Dice) {
    let pod = draft.judged[index].clone();
    match dice.below(6) {
        0 => {
            // A claim that a bound pod uses as well.
            let here: BTreeSet<&String> =
                shared.iter().filter(|(space, _)| *space == namespace(&pod)).map(|(_, name)| name).collect();
            let here: Vec<&String> = here.into_iter().collect();
            if !here.is_empty() {
                mount(&mut draft.judged[index], here[dice.below(here.len())]);
            }
        }
        1 => {
            // To be provisioned: counted by the class' provisioner.
            let number = draft.number();
            let claim = claim(&namespace(&pod), &format!("late-{number:03}"), "attach-late", "1Gi");
            mount(&mut draft.judged[index], &name(&claim));
            draft.others.push(claim);
        }
        2 => {
            let claim = mount_ephemeral(&mut draft.judged[index], "attach-late", "1Gi");
            draft.others.push(claim);
        }
        3 if migrated => {
            let number = pod["spec"]["volumes"].as_array().map_or(0, Vec::len);
            let disk = json!({"name": format!("inline{number}"),
                "awsElasticBlockStore": {"volumeID": dice.pick(&["vol-1", "vol-9"]), "fsType": "ext4"}});
            push(&mut draft.judged[index]["spec"]["volumes"], disk);
        }
        _ => {
            let (claim, mut volume) = pair(draft, &pod, migrated, dice);
            if dice.chance(20) && volume["spec"]["csi"].is_object() {
                volume["spec"]["csi"]["volumeHandle"] = json!("shared-handle");
            }
            mount(&mut draft.judged[index], &name(&claim));
            draft.others.extend([claim, volume]);
        }
    }
}
