//! Clusters as Kubernetes JSON, from a seed: small, and on the edges of one or two of the scheduler's rules.
//!
//! A cluster concentrates on a theme, so that one plugin is often the *sole* decider; every sixth mixes several. All
//! objects are such as the API server accepts (defaults and merged selectors included), since kube-scheduler sees no
//! others. Where kube-scheduler itself depends on the order of a Go map, the generator leaves one choice only; the
//! themes say where.

mod attach_limits;
mod blocked_claims;
mod bound_volumes;
mod capacity;
mod declared_features;
mod default_spread;
mod disks;
mod draft;
mod host_ports;
mod images;
mod node_affinity;
mod pod_affinity;
mod pod_requests;
mod preemption;
mod provisioning;
mod resources;
mod selector;
mod spread;
mod taints;
mod volume;
mod zone_labels;

use serde_json::Value;

use super::dice::Dice;
use draft::Draft;

/// A generated cluster.
#[derive(Clone, Debug, PartialEq)]
pub struct Cluster {
    /// The seed that made it.
    pub seed: u64,
    /// What it is about.
    pub themes: Vec<&'static str>,
    /// All its objects; the pods to judge are among them, unbound.
    pub objects: Vec<Value>,
    /// The pods to judge, as `namespace/name`.
    pub pods: Vec<String>,
}

/// What a cluster can be about, and how it is put into one.
struct Theme {
    name: &'static str,
    /// How often it is taken, against the others.
    weight: usize,
    dress: fn(&mut Draft, &mut Dice),
}

/// All themes. Those whose rules have several reasons, or rarely decide alone, weigh more.
const THEMES: [Theme; 18] = [
    Theme { name: "resources", weight: 11, dress: resources::dress },
    Theme { name: "taints", weight: 5, dress: taints::dress },
    Theme { name: "node-affinity", weight: 9, dress: node_affinity::dress },
    Theme { name: "host-ports", weight: 4, dress: host_ports::dress },
    Theme { name: "disks", weight: 6, dress: disks::dress },
    Theme { name: "attach-limits", weight: 7, dress: attach_limits::dress },
    Theme { name: "bound-volumes", weight: 5, dress: bound_volumes::dress },
    Theme { name: "zone-labels", weight: 4, dress: zone_labels::dress },
    Theme { name: "provisioning", weight: 7, dress: provisioning::dress },
    Theme { name: "capacity", weight: 6, dress: capacity::dress },
    Theme { name: "blocked-claims", weight: 8, dress: blocked_claims::dress },
    Theme { name: "spread-hard", weight: 9, dress: spread::hard },
    Theme { name: "spread-soft", weight: 6, dress: spread::soft },
    Theme { name: "default-spread", weight: 5, dress: default_spread::dress },
    Theme { name: "pod-affinity", weight: 10, dress: pod_affinity::dress },
    Theme { name: "images", weight: 4, dress: images::dress },
    Theme { name: "declared-features", weight: 4, dress: declared_features::dress },
    Theme { name: "preemption", weight: 12, dress: preemption::dress },
];

/// The cluster of this seed.
#[must_use]
pub fn cluster(seed: u64) -> Cluster {
    let mut dice = Dice::new(seed);
    let kind = dice.below(6);
    let (count, share) = match kind {
        0..=2 => (1, 85),
        3 | 4 => (2, 60),
        _ => (5, 30),
    };
    let mut themes: Vec<&Theme> = Vec::new();
    while themes.len() < count {
        let theme = draw(&mut dice);
        if themes.iter().all(|taken| taken.name != theme.name) {
            themes.push(theme);
        }
    }
    let mut draft = Draft::new(&mut dice, share);
    // Preemption makes all pods and nodes smaller or larger, those too that others added.
    themes.sort_by_key(|theme| theme.name == "preemption");
    for theme in &themes {
        (theme.dress)(&mut draft, &mut dice);
    }
    draft.finish(seed, themes.iter().map(|theme| theme.name).collect())
}

fn draw(dice: &mut Dice) -> &'static Theme {
    let mut at = dice.below(THEMES.iter().map(|theme| theme.weight).sum());
    for theme in &THEMES {
        match at.checked_sub(theme.weight) {
            Some(rest) => at = rest,
            None => return theme,
        }
    }
    &THEMES[0]
}

#[cfg(test)]
mod tests;
