//! NodePorts: a host port is free when no pod of the node has it on the same address; 0.0.0.0 stands for all.

use rehome_k8s::mutant::{Mutant, on};

use super::{Filter, curable, one};

/// Source: `k8s.io/kube-scheduler/framework`, `DefaultBindAllHostIP`.
const ALL: &str = "0.0.0.0";

pub(super) const FILTER: Filter = Filter {
    plugin: "NodePorts",
    active: |cycle| !cycle.class.ports.is_empty(),
    passes: |cycle, node| {
        let held = cycle.model.nodes.ports(node);
        let clash = |(protocol, number, address): &(String, i32, String)| {
            held.keys().any(|(held_protocol, held_number, held_address)| {
                number == held_number
                    && (protocol == held_protocol || on(Mutant::ProtocolIgnored))
                    && (address == held_address
                        || ((address == ALL || held_address == ALL) && !on(Mutant::WildcardAddressIgnored)))
            })
        };
        !cycle.class.ports.iter().any(clash)
    },
    reasons: |_, _| one("node(s) didn't have free ports for the requested pod ports"),
    curable,
};
