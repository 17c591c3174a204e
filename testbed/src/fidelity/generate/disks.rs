//! VolumeRestrictions: claims for one pod only, and disks that only one pod of a node may use.

use serde_json::{Value, json};

use super::draft::{Draft, name, namespace, push};
use super::volume::{bound_pair, mount};
use crate::fidelity::dice::Dice;

/// Gives pods ReadWriteOncePod claims and inline disks that others use too.
pub(super) fn dress(draft: &mut Draft, dice: &mut Dice) {
    let claims = dice.chance(45);
    for pod in &mut draft.bound {
        if !claims && dice.chance(55) {
            disk(pod, dice);
        }
    }
    for index in draft.touched(dice) {
        if claims {
            one_pod_claim(draft, index, dice);
        } else {
            disk(&mut draft.judged[index], dice);
            if dice.chance(25) {
                disk(&mut draft.judged[index], dice);
            }
        }
    }
}

fn one_pod_claim(draft: &mut Draft, index: usize, dice: &mut Dice) {
    let (mut claim, mut volume) = bound_pair(draft, &draft.judged[index].clone(), "bound");
    let mode = dice.pick(&["ReadWriteOncePod", "ReadWriteOncePod", "ReadWriteOnce", "ReadWriteMany"]);
    claim["spec"]["accessModes"] = json!([mode]);
    volume["spec"]["accessModes"] = json!([mode]);
    mount(&mut draft.judged[index], &name(&claim));
    // Another pod of the namespace has it, or one of the same name in another namespace, which is no conflict.
    let wanted = namespace(&claim);
    let same = dice.chance(65);
    let users: Vec<usize> =
        (0..draft.bound.len()).filter(|at| (namespace(&draft.bound[*at]) == wanted) == same).collect();
    if !users.is_empty() && dice.chance(75) {
        let user = users[dice.below(users.len())];
        mount(&mut draft.bound[user], &name(&claim));
        if !same {
            let (mut other, mut pv) = bound_pair(draft, &draft.bound[user].clone(), "bound");
            other["metadata"]["name"] = json!(name(&claim));
            other["metadata"]["uid"] = json!(format!("uid-other-{}", name(&claim)));
            pv["spec"]["claimRef"]["name"] = json!(name(&claim));
            pv["spec"]["claimRef"]["uid"] = other["metadata"]["uid"].clone();
            if !draft.others.iter().any(|o| name(o) == name(&other) && namespace(o) == namespace(&other)) {
                draft.others.extend([other, pv]);
            }
        }
    }
    draft.others.extend([claim, volume]);
}

fn disk(pod: &mut Value, dice: &mut Dice) {
    let number = pod["spec"]["volumes"].as_array().map_or(0, Vec::len);
    let (disk, read_only) = (dice.pick(&["one", "two"]), dice.chance(50));
    let mut volume = match dice.below(4) {
        0 => json!({"gcePersistentDisk": {"pdName": disk, "readOnly": read_only}}),
        1 => json!({"awsElasticBlockStore": {"volumeID": format!("vol-{disk}"), "readOnly": read_only}}),
        2 => json!({"iscsi": {"targetPortal": dice.pick(&["10.0.0.1", "10.0.0.2"]), "lun": dice.pick(&[&0, &1]),
            "iqn": format!("iqn.2026-01.example:{disk}"), "readOnly": read_only}}),
        _ => json!({"rbd": {"monitors": dice.pick(&[&["m1", "m2"], &["m2", "m3"], &["m3", "m4"]]), "image": disk,
            "pool": dice.pick(&["rbd", "rbd", "fast"]), "user": "admin", "keyring": "/etc/ceph/keyring",
            "readOnly": read_only}}),
    };
    volume["name"] = json!(format!("d{number}"));
    push(&mut pod["spec"]["volumes"], volume);
}
