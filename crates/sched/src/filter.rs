//! The filters of the default profile, in its order.
//!
//! Source: `k8s.io/kubernetes/pkg/scheduler/apis/config/v1/default_plugins.go`.

mod inter_pod_affinity;
mod node_affinity;
mod node_name;
mod node_ports;
mod node_resources_fit;
mod node_unschedulable;
mod pod_topology_spread;
mod taint_toleration;
mod volume_binding;
mod volume_zone;

use rehome_k8s::View;
use rehome_k8s::node::Node;

use crate::{Candidate, Rejection};

/// One scheduling cycle: what the filters compute once for a pod before they look at nodes.
pub(crate) struct Cycle<'a> {
    view: &'a View,
    pod: &'a Candidate<'a>,
    spread: pod_topology_spread::State,
    affinity: inter_pod_affinity::State,
}

type Filter = fn(&Cycle<'_>, &Node) -> Result<(), Rejection>;

const BEFORE_RESOURCES: [Filter; 4] =
    [node_unschedulable::filter, node_name::filter, taint_toleration::filter, node_affinity::filter];
const VOLUMES: [Filter; 2] = [volume_binding::filter, volume_zone::filter];

impl<'a> Cycle<'a> {
    pub(crate) fn new(view: &'a View, pod: &'a Candidate<'a>) -> Self {
        Self {
            view,
            pod,
            spread: pod_topology_spread::State::new(view, pod),
            affinity: inter_pod_affinity::State::new(view, pod),
        }
    }

    /// All filters.
    pub(crate) fn verdict(&self, node: &Node) -> Result<(), Rejection> {
        for filter in BEFORE_RESOURCES {
            filter(self, node)?;
        }
        node_ports::filter(self, node)?;
        node_resources_fit::filter(self, node)?;
        for filter in VOLUMES {
            filter(self, node)?;
        }
        pod_topology_spread::filter(self, node)?;
        inter_pod_affinity::filter(self, node)
    }

    /// Only those that do not depend on other pods.
    pub(crate) fn verdict_on_empty(&self, node: &Node) -> Result<(), Rejection> {
        for filter in BEFORE_RESOURCES {
            filter(self, node)?;
        }
        node_resources_fit::filter_on_empty(self, node)?;
        for filter in VOLUMES {
            filter(self, node)?;
        }
        Ok(())
    }
}

fn reject(plugin: &'static str, reason: impl Into<String>) -> Rejection {
    Rejection { plugin, reasons: vec![reason.into()] }
}
