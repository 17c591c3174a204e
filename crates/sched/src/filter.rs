//! The filters of the default profile, in its order.
//!
//! Source: `k8s.io/kubernetes/pkg/scheduler/apis/config/v1/default_plugins.go`.

mod inter_pod_affinity;
mod node_affinity;
mod node_name;
mod node_ports;
mod node_resources_fit;
mod node_unschedulable;
mod node_volume_limits;
mod pod_topology_spread;
mod taint_toleration;
mod volume_binding;
mod volume_restrictions;
mod volume_zone;

use rehome_k8s::View;
use rehome_k8s::node::Node;
use rehome_k8s::pod::Pod;

use crate::{Candidate, Rejection};

/// One scheduling cycle: what the filters compute once for a pod before they look at nodes.
pub(crate) struct Cycle<'a> {
    view: &'a View,
    pod: &'a Candidate<'a>,
    spread: pod_topology_spread::State,
    affinity: inter_pod_affinity::State,
    volumes: node_volume_limits::Volumes,
    held_by_another: bool,
    blocked: Option<Rejection>,
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
            volumes: node_volume_limits::wanted(view, pod),
            held_by_another: volume_restrictions::held_by_another(view, pod),
            blocked: volume_binding::blocked(view, pod),
        }
    }

    /// Why the pod fits nowhere, whatever the nodes: what the scheduler finds before it looks at them.
    pub(crate) fn blocked(&self) -> Option<&Rejection> {
        self.blocked.as_ref()
    }

    /// All filters.
    pub(crate) fn verdict(&self, node: &Node) -> Result<(), Rejection> {
        self.not_blocked()?;
        for filter in BEFORE_RESOURCES {
            filter(self, node)?;
        }
        node_ports::filter(self, node)?;
        node_resources_fit::filter(self, node)?;
        volume_restrictions::filter(self, node)?;
        node_volume_limits::filter(self, node)?;
        for filter in VOLUMES {
            filter(self, node)?;
        }
        pod_topology_spread::filter(self, node)?;
        inter_pod_affinity::filter(self, node)
    }

    /// Only those that do not depend on other pods.
    pub(crate) fn verdict_on_empty(&self, node: &Node) -> Result<(), Rejection> {
        self.not_blocked()?;
        for filter in BEFORE_RESOURCES {
            filter(self, node)?;
        }
        node_resources_fit::filter_on_empty(self, node)?;
        for filter in VOLUMES {
            filter(self, node)?;
        }
        Ok(())
    }

    fn not_blocked(&self) -> Result<(), Rejection> {
        self.blocked.clone().map_or(Ok(()), Err)
    }
}

/// Whether a pod of the view is the one that is to be placed: it does not count against itself.
fn is_candidate(pod: &Pod, candidate: &Candidate<'_>) -> bool {
    pod.meta.name == candidate.name && pod.meta.namespace == candidate.namespace
}

fn reject(plugin: &'static str, reason: impl Into<String>) -> Rejection {
    Rejection { plugin, reasons: vec![reason.into()] }
}
