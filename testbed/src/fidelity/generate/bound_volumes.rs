//! VolumeBinding on bound claims: the volume's node affinity, and claims whose volume is gone.

use serde_json::{Value, json};

use super::draft::{Draft, name};
use super::volume::{any_affinity, bind, bound_pair, hold, mount, mount_ephemeral, volume};
use crate::fidelity::dice::Dice;

/// Gives pods volumes that live somewhere.
pub(super) fn dress(draft: &mut Draft, dice: &mut Dice) {
    for index in draft.touched(dice) {
        for _ in 0..1 + dice.below(2) {
            if dice.chance(25) {
                ephemeral(draft, index, dice);
                continue;
            }
            let (claim, mut volume) = bound_pair(draft, &draft.judged[index].clone(), "bound");
            place(draft, &mut volume, dice);
            mount(&mut draft.judged[index], &name(&claim));
            draft.others.extend([claim, volume]);
        }
    }
}

fn place(draft: &Draft, volume: &mut Value, dice: &mut Dice) {
    if dice.chance(90) {
        volume["spec"]["nodeAffinity"] = any_affinity(draft, dice);
    }
    if dice.chance(25)
        && let Some(spec) = volume["spec"].as_object_mut()
    {
        spec.remove("csi");
        if dice.chance(50) && spec.contains_key("nodeAffinity") {
            spec.insert("local".to_owned(), json!({"path": "/data"}));
        } else {
            spec.insert("nfs".to_owned(), json!({"server": "nfs.example", "path": "/data"}));
        }
    }
}

/// An ephemeral volume's claim is not looked at by VolumeZone, so that VolumeBinding decides alone when the volume is
/// gone and the controller has not yet said Lost.
fn ephemeral(draft: &mut Draft, index: usize, dice: &mut Dice) {
    let number = draft.number();
    let mut claim = mount_ephemeral(&mut draft.judged[index], "bound", "1Gi");
    let mut volume = volume(&format!("pv-{number:03}"), "bound", "1Gi");
    bind(&mut claim, &name(&volume));
    hold(&mut volume, &claim);
    place(draft, &mut volume, dice);
    if dice.chance(60) {
        draft.others.push(volume);
    }
    draft.others.push(claim);
}
