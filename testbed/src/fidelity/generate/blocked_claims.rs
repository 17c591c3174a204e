//! Claims that block a pod on all nodes: missing, deleted, lost, not bound though they should be.

use serde_json::json;

use super::draft::{Draft, name, namespace};
use super::volume::{bind, bound_pair, claim, class, mount, mount_ephemeral};
use crate::fidelity::dice::Dice;

/// Gives pods claims, most of them in trouble. Ephemeral volumes are taken where the trouble of an ordinary claim would
/// be seen by VolumeZone or VolumeRestrictions as well.
pub(super) fn dress(draft: &mut Draft, dice: &mut Dice) {
    draft.others.push(class("at-once", "prov.example.com", "Immediate"));
    draft.others.push(class("waiting", "prov.example.com", "WaitForFirstConsumer"));
    for index in draft.touched(dice) {
        let trouble = if dice.chance(25) { 99 } else { dice.below(14) };
        let number = draft.number();
        let space = namespace(&draft.judged[index]);
        let title = format!("blocked-{number:03}");
        match trouble {
            0 => mount(&mut draft.judged[index], &title),
            1 => {
                // The controller has not made it yet.
                mount_ephemeral(&mut draft.judged[index], "waiting", "1Gi");
            }
            2 => {
                let mut claim = mount_ephemeral(&mut draft.judged[index], "waiting", "1Gi");
                claim["metadata"]["ownerReferences"][0]["uid"] = json!("uid-of-an-earlier-pod");
                draft.others.push(claim);
            }
            3 | 4 => {
                let (mut claim, volume) = bound_pair(draft, &draft.judged[index].clone(), "waiting");
                claim["metadata"]["deletionTimestamp"] = json!("2026-01-01T00:00:00Z");
                claim["metadata"]["finalizers"] = json!(["kubernetes.io/pvc-protection"]);
                mount(&mut draft.judged[index], &name(&claim));
                draft.others.extend([claim, volume]);
            }
            5 | 6 => {
                let mut claim = if trouble == 5 {
                    mount_ephemeral(&mut draft.judged[index], "waiting", "1Gi")
                } else {
                    let claim = claim(&space, &title, "waiting", "1Gi");
                    mount(&mut draft.judged[index], &title);
                    claim
                };
                bind(&mut claim, "pv-that-was");
                claim["status"]["phase"] = json!("Lost");
                draft.others.push(claim);
            }
            7 => {
                let claim = mount_ephemeral(&mut draft.judged[index], "at-once", "1Gi");
                draft.others.push(claim);
            }
            8 => {
                // Named by a person, not yet bound by the controller.
                let (mut claim, volume) = bound_pair(draft, &draft.judged[index].clone(), "waiting");
                if let Some(annotations) = claim["metadata"]["annotations"].as_object_mut() {
                    annotations.clear();
                }
                claim["status"]["phase"] = json!("Pending");
                mount(&mut draft.judged[index], &name(&claim));
                draft.others.extend([claim, volume]);
            }
            9 => {
                draft.others.push(claim(&space, &title, "at-once", "1Gi"));
                mount(&mut draft.judged[index], &title);
            }
            10 => {
                // No class at all, or one that nobody made.
                let class = dice.pick(&["", "never-made"]);
                draft.others.push(claim(&space, &title, class, "1Gi"));
                mount(&mut draft.judged[index], &title);
            }
            11 => {
                // The volume is gone, the controller has not said so: VolumeZone cannot look it up.
                let (claim, _) = bound_pair(draft, &draft.judged[index].clone(), "waiting");
                mount(&mut draft.judged[index], &name(&claim));
                draft.others.push(claim);
            }
            12 => {
                let mut claim = mount_ephemeral(&mut draft.judged[index], "waiting", "1Gi");
                claim["metadata"]["deletionTimestamp"] = json!("2026-01-01T00:00:00Z");
                claim["metadata"]["finalizers"] = json!(["kubernetes.io/pvc-protection"]);
                draft.others.push(claim);
            }
            13 => {
                draft.others.push(claim(&space, &title, "waiting", "1Gi"));
                mount(&mut draft.judged[index], &title);
            }
            _ => {
                let (claim, volume) = bound_pair(draft, &draft.judged[index].clone(), "waiting");
                mount(&mut draft.judged[index], &name(&claim));
                draft.others.extend([claim, volume]);
            }
        }
    }
}
