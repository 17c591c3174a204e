//! No pod is left on a source node but those that stay: of DaemonSets, mirrors of static pods, finished ones.

use rehome_k8s::owner::{self, Owner};
use rehome_k8s::{Kind, View};

use super::{Compared, Found, offender};

pub(super) fn check(compared: &Compared<'_>) -> Found {
    let sources = &compared.plan.sources;
    let mut offenders = Vec::new();
    let mut stays = 0;
    for node in sources {
        for pod in compared.after.pods_on(node) {
            if pod.finished() || stays_on(compared.after, pod) {
                stays += 1;
            } else {
                offenders.push(offender(pod.meta.key().reference(Kind::Pod), format!("is still on {node}")));
            }
        }
    }
    let message = format!("{} nodes were to be emptied; {stays} pods stay there as planned", sources.len());
    Found { message, offenders }
}

fn stays_on(view: &View, pod: &rehome_k8s::pod::Pod) -> bool {
    match owner::of_pod(view, pod) {
        Owner::Node => true,
        Owner::Workload(owner) | Owner::Unseen(owner) => owner.kind == "DaemonSet",
        Owner::None => false,
    }
}
