//! Topology spread constraints.

use crate::selector::Selector;

/// One topology spread constraint of a pod.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct SpreadConstraint {
    /// The label that makes a domain.
    pub topology_key: String,
    /// How far the fullest domain may be ahead of the emptiest.
    pub max_skew: i64,
    /// Whether it filters (`DoNotSchedule`) or only scores (`ScheduleAnyway`).
    pub hard: bool,
    /// Which pods of the namespace are counted.
    pub selector: Selector,
    /// `minDomains`, hard constraints only.
    pub min_domains: Option<i64>,
    /// `nodeAffinityPolicy`: whether nodes that the pod's affinity and selector exclude are left out. Default true.
    pub honor_node_affinity: bool,
    /// `nodeTaintsPolicy`: whether nodes whose taints the pod does not tolerate are left out. Default false: a fenced
    /// node stays as an empty domain and holds the minimum at zero.
    pub honor_node_taints: bool,
    /// `matchLabelKeys`: labels of the pod itself that are added to the selector.
    pub match_label_keys: Vec<String>,
}
