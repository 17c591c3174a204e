//! NodePorts: a host port is free when no pod of the node has it on the same address; 0.0.0.0 stands for all.

use rehome_k8s::node::Node;

use super::{Cycle, reject};
use crate::Rejection;

pub(super) fn filter(cycle: &Cycle<'_>, node: &Node) -> Result<(), Rejection> {
    let wanted = &cycle.pod.spec.host_ports;
    if wanted.is_empty() {
        return Ok(());
    }
    let clash = cycle
        .view
        .pods_on(node.name())
        .filter(|pod| !(pod.finished() || pod.meta.name == cycle.pod.name && pod.meta.namespace == cycle.pod.namespace))
        .flat_map(|pod| &pod.spec.host_ports)
        .any(|(address, protocol, port)| {
            wanted.iter().any(|(own_address, own_protocol, own_port)| {
                port == own_port
                    && protocol == own_protocol
                    && (address == own_address || address == "0.0.0.0" || own_address == "0.0.0.0")
            })
        });
    if clash { Err(reject("NodePorts", "node(s) didn't have free ports for the requested pod ports")) } else { Ok(()) }
}
