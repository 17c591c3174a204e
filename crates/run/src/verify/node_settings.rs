//! Nodes other than the sources have the labels, taints and cordons that they had. Our own taints have a check of
//! their own.

use rehome_k8s::node::Node;
use rehome_k8s::toleration::Taint;
use rehome_model::ObjectRef;
use rehome_model::verb::{FENCE_TAINT, HOLD_TAINT};

use super::{Compared, Found, offender};

pub(super) fn check(compared: &Compared<'_>) -> Found {
    let mut offenders = Vec::new();
    let mut nodes = 0;
    for before in compared.before.nodes().filter(|node| !compared.plan.sources.iter().any(|name| name == node.name())) {
        nodes += 1;
        let reference = ObjectRef::node(before.name());
        let Some(after) = compared.after.node(before.name()) else {
            offenders.push(offender(reference, "does not exist any more"));
            continue;
        };
        offenders.extend(differences(before, after).into_iter().map(|why| offender(reference.clone(), why)));
    }
    Found { message: format!("{nodes} nodes besides the sources were compared"), offenders }
}

fn differences(before: &Node, after: &Node) -> Vec<String> {
    let mut found = Vec::new();
    if before.unschedulable != after.unschedulable {
        let word = |cordoned| if cordoned { "cordoned" } else { "not cordoned" };
        found.push(format!("is {}, was {}", word(after.unschedulable), word(before.unschedulable)));
    }
    for taint in settings(before).filter(|taint| !after.taints.contains(taint)) {
        found.push(format!("has lost the taint {}", taint.key));
    }
    for taint in settings(after).filter(|taint| !before.taints.contains(taint)) {
        found.push(format!("has a new taint {}", taint.key));
    }
    for (key, value) in &before.meta.labels {
        match after.meta.labels.get(key) {
            Some(now) if now == value => {}
            Some(now) => found.push(format!("label {key} is {now:?}, was {value:?}")),
            None => found.push(format!("has lost the label {key}")),
        }
    }
    found
}

/// Taints that somebody has set: those of Kubernetes itself come and go with the health of a node.
fn settings(node: &Node) -> impl Iterator<Item = &Taint> {
    node.taints.iter().filter(|taint| {
        taint.key != FENCE_TAINT && taint.key != HOLD_TAINT && !taint.key.starts_with("node.kubernetes.io/")
    })
}
