//! The taints that kept pods away while the cluster was moved are gone from all nodes but the sources.

use rehome_model::ObjectRef;
use rehome_model::verb::{FENCE_TAINT, HOLD_TAINT};

use super::{Compared, Found, offender};

pub(super) fn check(compared: &Compared<'_>) -> Found {
    let mut offenders = Vec::new();
    let mut nodes = 0;
    for node in compared.after.nodes().filter(|node| !compared.plan.sources.iter().any(|name| name == node.name())) {
        nodes += 1;
        for taint in node.taints.iter().filter(|taint| taint.key == FENCE_TAINT || taint.key == HOLD_TAINT) {
            offenders.push(offender(ObjectRef::node(node.name()), format!("still has the taint {}", taint.key)));
        }
    }
    Found { message: format!("{nodes} nodes besides the sources were looked at"), offenders }
}
