//! VolumeBinding with published capacity: CSIStorageCapacity, and its score from 1.37 on.

use serde_json::{Value, json};

use super::draft::{Draft, HOSTNAME, ZONE, ZONES, name, namespace};
use super::volume::{claim, class, mount, mount_ephemeral};
use crate::fidelity::dice::Dice;

/// Makes drivers that publish capacity, or not, and claims near to what is there.
pub(super) fn dress(draft: &mut Draft, dice: &mut Dice) {
    for (driver, publishes) in [("room.example.com", true), ("quiet.example.com", false)] {
        draft.others.push(json!({"apiVersion": "storage.k8s.io/v1", "kind": "CSIDriver", "metadata": {"name": driver},
            "spec": {"storageCapacity": publishes}}));
    }
    draft.others.extend([
        class("room-a", "room.example.com", "WaitForFirstConsumer"),
        class("room-b", "room.example.com", "WaitForFirstConsumer"),
        class("quiet", "quiet.example.com", "WaitForFirstConsumer"),
        class("undriven", "unknown.example.com", "WaitForFirstConsumer"),
    ]);
    // A node reaches at most one segment of a class: which of two that suffice is scored depends on a Go map.
    segments(draft, "room-a", HOSTNAME, dice);
    segments(draft, "room-b", ZONE, dice);
    for index in draft.touched(dice) {
        for _ in 0..1 + dice.below(2) {
            let class = dice.pick(&["room-a", "room-a", "room-a", "room-b", "room-b", "quiet", "undriven"]);
            let size = dice.pick(&["1Gi", "5Gi", "10Gi", "20Gi", "10737418241", "0"]);
            if dice.chance(20) {
                let claim = mount_ephemeral(&mut draft.judged[index], class, size);
                draft.others.push(claim);
            } else {
                let number = draft.number();
                let claim = claim(&namespace(&draft.judged[index]), &format!("room-{number:03}"), class, size);
                mount(&mut draft.judged[index], &name(&claim));
                draft.others.push(claim);
            }
        }
    }
}

fn segments(draft: &mut Draft, class: &str, key: &str, dice: &mut Dice) {
    let mut values: Vec<String> = if key == ZONE {
        ZONES.iter().map(|zone| (*zone).to_owned()).collect()
    } else {
        draft.nodes.iter().map(name).collect()
    };
    values.retain(|_| dice.chance(85));
    for value in values {
        let number = draft.number();
        let mut segment: Value = json!({"apiVersion": "storage.k8s.io/v1", "kind": "CSIStorageCapacity",
            "metadata": {"namespace": "bare", "name": format!("capacity-{number:03}")}, "storageClassName": class,
            "nodeTopology": {"matchLabels": {key: value}},
            "capacity": dice.pick(&["0", "5Gi", "10Gi", "20Gi", "100Gi", "10737418240"])});
        match dice.below(8) {
            0 => segment["maximumVolumeSize"] = json!(dice.pick(&["1Gi", "10Gi"])),
            1 => {
                if let Some(segment) = segment.as_object_mut() {
                    // Nothing is known about its size: it never suffices.
                    segment.remove("capacity");
                }
            }
            2 => {
                if let Some(segment) = segment.as_object_mut() {
                    // No node can reach it.
                    segment.remove("nodeTopology");
                }
            }
            _ => {}
        }
        draft.others.push(segment);
    }
}
