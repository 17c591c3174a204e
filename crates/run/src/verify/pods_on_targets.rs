//! The pods of every workload that was moved are on target nodes, or where they were when that was no source.

use std::collections::BTreeSet;

use rehome_k8s::{Kind, owner};
use rehome_model::ObjectRef;

use super::{Compared, Found, offender};

pub(super) fn check(compared: &Compared<'_>) -> Found {
    let moved: BTreeSet<&ObjectRef> = compared.plan.moves.iter().flat_map(|planned| &planned.workloads).collect();
    let mut offenders = Vec::new();
    let mut pods = 0;
    for workload in moved {
        let elsewhere: BTreeSet<&str> = owner::pods_of(compared.before, workload)
            .into_iter()
            .filter_map(|pod| pod.node.as_deref())
            .filter(|node| !compared.plan.sources.iter().any(|source| source == node))
            .collect();
        for pod in owner::pods_of(compared.after, workload) {
            let Some(node) = pod.node.as_deref() else { continue };
            pods += 1;
            if !compared.plan.targets.iter().any(|target| target == node) && !elsewhere.contains(node) {
                offenders
                    .push(offender(pod.meta.key().reference(Kind::Pod), format!("is on {node}, which is no target")));
            }
        }
    }
    Found { message: format!("{pods} pods of moved workloads were looked at"), offenders }
}
