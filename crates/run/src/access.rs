//! What must be allowed: to capture, to carry out a plan, to put back what was changed. From the same list come the
//! roles that a person is shown ([`crate::rbac`]) and what is asked of the server before the first write.

use std::collections::BTreeSet;

use rehome_k8s::Kind;
use rehome_kube::Connection;
use rehome_kube::access::{self, AccessUnknown, Denied, Permission, needs};
use rehome_model::ObjectRef;
use rehome_model::plan::Plan;
use rehome_model::verb::Verb;

/// What `capture` needs, and every command that looks at a live cluster.
#[must_use]
pub fn to_capture() -> BTreeSet<Permission> {
    needs::to_capture()
}

/// What any plan can need.
#[must_use]
pub fn to_run() -> BTreeSet<Permission> {
    let changed = [Kind::Node, Kind::Deployment].map(needs::to_change);
    [needs::to_follow(), needs::to_keep_journal(), needs::to_evict(), needs::to_delete()]
        .into_iter()
        .chain(changed)
        .flatten()
        .collect()
}

/// What the steps of this plan need, in the namespaces of its workloads.
#[must_use]
pub fn to_carry_out(plan: &Plan) -> BTreeSet<Permission> {
    let mut needed = needs::to_follow();
    for step in plan.steps() {
        match &step.verb {
            Verb::Change(change) => needed.extend(of_change(&change.target)),
            Verb::Restart(restart) => {
                needed.extend(within(needs::to_change(Kind::Deployment), &restart.lineage.workload));
            }
            Verb::Evict(evict) => {
                let each = evict.lineages.iter().map(|lineage| within(needs::to_evict(), &lineage.workload));
                needed.extend(each.flatten());
            }
            Verb::Delete(delete) => needed.extend(within(needs::to_delete(), &delete.lineage.workload)),
            Verb::Wait(_) | Verb::ProveEmpty(_) => {}
        }
    }
    needed
}

/// What putting back the fields that this plan changes needs: no pod is touched.
#[must_use]
pub fn to_put_back(plan: &Plan) -> BTreeSet<Permission> {
    let changes = plan.steps().filter_map(|step| match &step.verb {
        Verb::Change(change) => Some(of_change(&change.target)),
        _ => None,
    });
    needs::to_follow().into_iter().chain(changes.flatten()).collect()
}

fn of_change(target: &ObjectRef) -> BTreeSet<Permission> {
    Kind::by_name(&target.kind).map_or_else(BTreeSet::new, |kind| within(needs::to_change(kind), target))
}

fn within(permissions: BTreeSet<Permission>, object: &ObjectRef) -> BTreeSet<Permission> {
    match &object.namespace {
        Some(namespace) => permissions.into_iter().map(|permission| permission.in_namespace(namespace)).collect(),
        None => permissions,
    }
}

/// Those that the credentials do not have.
///
/// # Errors
/// The server could not be asked.
pub fn denied(connection: &Connection, needed: BTreeSet<Permission>) -> Result<Vec<Denied>, AccessUnknown> {
    access::denied(connection, needed)
}
