//! VolumeBinding on claims that wait for their first consumer: topologies, chosen nodes, and volumes made by hand.

use serde_json::{Value, json};

use super::draft::{Draft, RACK, ZONE, ZONES, name, namespace};
use super::volume::{any_affinity, claim, class, mount, mount_ephemeral, volume};
use crate::fidelity::dice::Dice;

/// The provisioner of classes that provision nothing.
/// Source: `k8s.io/component-helpers/storage/volume/pv_helpers.go`, `NotSupportedProvisioner`.
const NO_PROVISIONER: &str = "kubernetes.io/no-provisioner";
/// Source: as above, `AnnSelectedNode`.
const SELECTED_NODE: &str = "volume.kubernetes.io/selected-node";

/// Makes classes, free volumes and waiting claims.
pub(super) fn dress(draft: &mut Draft, dice: &mut Dice) {
    let mut zonal = class("zonal-late", "prov.example.com", "WaitForFirstConsumer");
    zonal["allowedTopologies"] = match dice.below(4) {
        0 => json!([{"matchLabelExpressions": [{"key": ZONE, "values": ["z1"]}]}]),
        1 => {
            json!([{"matchLabelExpressions": [{"key": ZONE, "values": ["z1", "z2"]}, {"key": RACK, "values": ["r1"]}]}])
        }
        2 => json!([{"matchLabelExpressions": [{"key": ZONE, "values": ["z2"]}]},
            {"matchLabelExpressions": [{"key": RACK, "values": ["r2"]}]}]),
        _ => json!([{"matchLabelExpressions": [{"key": ZONE, "values": [dice.pick(&ZONES), "z9"]}]}]),
    };
    draft.others.extend([
        zonal,
        class("free-late", "prov.example.com", "WaitForFirstConsumer"),
        class("by-hand", NO_PROVISIONER, "WaitForFirstConsumer"),
    ]);
    let by_hand = dice.chance(60);
    if by_hand {
        for _ in 0..2 + dice.below(7) {
            let volume = free_volume(draft, dice);
            draft.others.push(volume);
        }
    }
    for index in draft.touched(dice) {
        for _ in 0..1 + dice.below(3) {
            if by_hand && dice.chance(70) {
                hand_claim(draft, index, dice);
            } else {
                late_claim(draft, index, dice);
            }
        }
    }
}

/// A volume that waits for a claim. All sizes differ: which of two equal ones is taken depends on the order of a Go map.
fn free_volume(draft: &mut Draft, dice: &mut Dice) -> Value {
    let number = draft.number();
    let size = dice.pick(&[&1, &2, &4, &8]) * 1024 + number;
    let class = dice.pick(&["by-hand", "by-hand", "by-hand", "free-late"]);
    let mut volume = volume(&format!("pv-{number:03}"), class, &format!("{size}Mi"));
    if dice.chance(80) {
        volume["spec"]["nodeAffinity"] = any_affinity(draft, dice);
    }
    if dice.chance(20) {
        volume["spec"]["accessModes"] = json!(["ReadWriteOnce", "ReadWriteMany"]);
    }
    if dice.chance(15) {
        volume["spec"]["volumeMode"] = json!("Block");
    }
    if dice.chance(30) {
        volume["metadata"]["labels"] = json!({"disk": dice.pick(&["ssd", "hdd"])});
    }
    match dice.below(12) {
        0 => volume["status"]["phase"] = json!("Released"),
        1 => {
            volume["metadata"]["deletionTimestamp"] = json!("2026-01-01T00:00:00Z");
            volume["metadata"]["finalizers"] = json!(["kubernetes.io/pv-protection"]);
        }
        // Somebody reserved it for another claim, or for the claim of this name in `red`.
        2 => {
            volume["spec"]["claimRef"] = json!({"apiVersion": "v1", "kind": "PersistentVolumeClaim",
            "namespace": "red", "name": format!("hand-{:03}", number + dice.below(6))})
        }
        _ => {}
    }
    volume
}

fn hand_claim(draft: &mut Draft, index: usize, dice: &mut Dice) {
    let number = draft.number();
    let class = dice.pick(&["by-hand", "by-hand", "by-hand", "free-late"]);
    let size = dice.pick(&["1Gi", "2Gi", "3Gi", "4Gi", "8Gi", "1030Mi"]);
    let mut claim = claim(&namespace(&draft.judged[index]), &format!("hand-{number:03}"), class, size);
    if dice.chance(15) {
        claim["spec"]["accessModes"] = json!(["ReadWriteMany"]);
    }
    if dice.chance(10) {
        claim["spec"]["volumeMode"] = json!("Block");
    }
    if dice.chance(20) {
        claim["spec"]["selector"] = match dice.below(2) {
            0 => json!({"matchLabels": {"disk": "ssd"}}),
            _ => json!({"matchExpressions": [{"key": "disk", "operator": "NotIn", "values": ["ssd"]}]}),
        };
    }
    mount(&mut draft.judged[index], &name(&claim));
    draft.others.push(claim);
}

fn late_claim(draft: &mut Draft, index: usize, dice: &mut Dice) {
    let class = dice.pick(&["zonal-late", "zonal-late", "free-late"]);
    if dice.chance(20) {
        let claim = mount_ephemeral(&mut draft.judged[index], class, "1Gi");
        draft.others.push(claim);
        return;
    }
    let number = draft.number();
    let mut claim = claim(&namespace(&draft.judged[index]), &format!("late-{number:03}"), class, "1Gi");
    if dice.chance(25) {
        claim["metadata"]["annotations"][SELECTED_NODE] = json!(draft.any_node(dice));
    }
    mount(&mut draft.judged[index], &name(&claim));
    draft.others.push(claim);
}
