//! VolumeZone: zone and region labels on volumes, old and new keys, sets of zones.

use serde_json::json;

use super::draft::{Draft, ZONE, ZONES, name};
use super::volume::{bound_pair, mount};
use crate::fidelity::dice::Dice;

const REGION: &str = "topology.kubernetes.io/region";
const BETA_ZONE: &str = "failure-domain.beta.kubernetes.io/zone";
const BETA_REGION: &str = "failure-domain.beta.kubernetes.io/region";

/// Labels nodes and volumes.
pub(super) fn dress(draft: &mut Draft, dice: &mut Dice) {
    for node in &mut draft.nodes {
        let labels = &mut node["metadata"]["labels"];
        if dice.chance(40) {
            labels[REGION] = json!(dice.pick(&["eu", "us"]));
        }
        if dice.chance(25) {
            labels[BETA_ZONE] = labels[ZONE].clone();
            if labels[BETA_ZONE].is_null() || dice.chance(20) {
                labels[BETA_ZONE] = json!(dice.pick(&ZONES));
            }
        }
        if dice.chance(10)
            && let Some(labels) = labels.as_object_mut()
        {
            // No zone at all: every volume may go there.
            for key in [ZONE, BETA_ZONE, REGION] {
                labels.remove(key);
            }
        }
    }
    for index in draft.touched(dice) {
        for _ in 0..1 + dice.below(2) {
            let (claim, mut volume) = bound_pair(draft, &draft.judged[index].clone(), "zonal");
            for (key, values) in [
                (ZONE, ["z1", "z2", "z3", "z1__z2", "z2__z3"]),
                (BETA_ZONE, ["z1", "z2", "z1__z3", "z3", "z9"]),
                (REGION, ["eu", "us", "eu__us", "eu", "eu"]),
                (BETA_REGION, ["eu", "us", "eu__us", "eu", "us"]),
            ] {
                if dice.chance(if key == ZONE { 70 } else { 15 }) {
                    volume["metadata"]["labels"][key] = json!(dice.pick(&values));
                }
            }
            mount(&mut draft.judged[index], &name(&claim));
            draft.others.extend([claim, volume]);
        }
    }
}
