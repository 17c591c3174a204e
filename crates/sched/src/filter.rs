//! The filters of the default profile, one file for each.
//!
//! Source: `k8s.io/kubernetes/pkg/scheduler/apis/config/v1/default_plugins.go`.

pub(crate) mod inter_pod_affinity;
pub(crate) mod node_affinity;
mod node_declared_features;
mod node_name;
mod node_ports;
pub(crate) mod node_resources_fit;
mod node_unschedulable;
mod node_volume_limits;
pub(crate) mod pod_topology_spread;
mod taint_toleration;
pub(crate) mod volume_binding;
mod volume_restrictions;
mod volume_zone;
pub(crate) mod volumes;

use crate::Rejection;
use crate::cycle::Cycle;
use crate::profile::Profile;

/// A filter.
pub(crate) struct Filter {
    /// The plugin.
    pub(crate) plugin: &'static str,
    /// Whether it can reject anything in this cycle.
    pub(crate) active: fn(&Cycle<'_>) -> bool,
    /// Whether it lets the pod on the node.
    pub(crate) passes: fn(&Cycle<'_>, usize) -> bool,
    /// Why it does not, in the scheduler's words.
    pub(crate) reasons: fn(&Cycle<'_>, usize) -> Vec<String>,
    /// Whether pushing out other pods could change its mind.
    pub(crate) curable: fn(&Cycle<'_>, usize) -> bool,
}

/// All filters in the order of the default profile up to 1.36.
static FILTERS: [Filter; 13] = [
    node_unschedulable::FILTER,
    node_name::FILTER,
    taint_toleration::FILTER,
    node_affinity::FILTER,
    node_ports::FILTER,
    node_resources_fit::FILTER,
    volume_restrictions::FILTER,
    node_volume_limits::FILTER,
    volume_binding::FILTER,
    volume_zone::FILTER,
    pod_topology_spread::FILTER,
    inter_pod_affinity::FILTER,
    node_declared_features::FILTER,
];

/// The filters in the order of a profile.
pub(crate) fn in_order(profile: Profile) -> impl Iterator<Item = &'static Filter> {
    let (first, rest) = FILTERS.split_at(2);
    let swapped = profile.name_before_unschedulable();
    let first = if swapped { [&first[1], &first[0]] } else { [&first[0], &first[1]] };
    first.into_iter().chain(rest)
}

/// What is against a node whatever pods it has.
pub(crate) fn on_empty(cycle: &Cycle<'_>, node: usize) -> Option<Rejection> {
    let of_the_node = |filter: &&Filter| !DEPEND_ON_PODS.contains(&filter.plugin);
    in_order(cycle.model.profile).filter(of_the_node).find_map(|filter| {
        if filter.plugin == node_resources_fit::FILTER.plugin {
            let reasons = node_resources_fit::too_large(cycle, node);
            return (!reasons.is_empty()).then_some(Rejection { plugin: filter.plugin, reasons });
        }
        (!(filter.passes)(cycle, node)).then(|| cycle.rejection(filter, node))
    })
}

/// Whether a filter looks at nothing but a node with what its pods have in all, so that its answer can be kept until the
/// node changes. All that such filters read of a pod is part of [`Footprint`](crate::model::kept::Footprint).
pub(crate) fn looks_at_one_node(filter: &Filter) -> bool {
    LOOK_AT_ONE_NODE.contains(&filter.plugin)
}

const LOOK_AT_ONE_NODE: [&str; 5] = [
    node_resources_fit::FILTER.plugin,
    node_unschedulable::FILTER.plugin,
    taint_toleration::FILTER.plugin,
    node_affinity::FILTER.plugin,
    node_declared_features::FILTER.plugin,
];

/// Filters that other pods can make reject.
const DEPEND_ON_PODS: [&str; 5] = [
    node_ports::FILTER.plugin,
    volume_restrictions::FILTER.plugin,
    node_volume_limits::FILTER.plugin,
    pod_topology_spread::FILTER.plugin,
    inter_pod_affinity::FILTER.plugin,
];

/// What plugins find before they look at nodes, each by itself, in order. Source: their `PreFilter`.
pub(crate) fn blocks(cycle: &Cycle<'_>) -> Vec<Rejection> {
    let all = [
        node_affinity::block(cycle),
        volume_restrictions::block(cycle),
        volume_binding::block(cycle),
        volume_zone::block(cycle),
    ];
    all.into_iter().flatten().collect()
}

/// A plugin's only reason.
fn one(reason: &str) -> Vec<String> {
    vec![reason.to_owned()]
}

/// No pod in the way: nothing to push out.
fn incurable(_: &Cycle<'_>, _: usize) -> bool {
    false
}

/// Other pods may be in the way.
fn curable(_: &Cycle<'_>, _: usize) -> bool {
    true
}
