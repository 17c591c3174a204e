//! The cluster after the move against the cluster before it. One file per check; a check whose source is missing in one
//! of the two views says so and never passes by default.
//!
//! What only the workload itself knows (is the database consistent, is the secret store unsealed) is not seen here.

mod claims_bound;
mod fences_lifted;
mod load_balancers;
mod node_settings;
mod pending_as_before;
mod pods_on_targets;
mod sources_empty;
mod workloads_ready;

use rehome_k8s::{Kind, View};
use rehome_model::document::Header;
use rehome_model::plan::Plan;
use rehome_model::verification::{Check, CheckResult, Offender, Verification};
use rehome_model::{Digest, ObjectRef};

/// What a check looks at.
pub(crate) struct Compared<'a> {
    /// The cluster that the plan was made for.
    pub(crate) before: &'a View,
    /// The cluster as it is.
    pub(crate) after: &'a View,
    /// The plan.
    pub(crate) plan: &'a Plan,
}

/// Offenders, and the sentence that holds when there are none; or the kind that is missing.
pub(crate) struct Found {
    /// What was looked at, with the figures.
    pub(crate) message: String,
    /// What is wrong.
    pub(crate) offenders: Vec<Offender>,
}

/// A check: its name is its file's, `needs` are the kinds without which it cannot say anything.
struct Checker {
    name: &'static str,
    needs: &'static [Kind],
    check: fn(&Compared<'_>) -> Found,
}

/// All checks in the order in which they are shown.
const CHECKS: &[Checker] = &[
    Checker { name: "sources-empty", needs: &[Kind::Node, Kind::Pod], check: sources_empty::check },
    Checker { name: "workloads-ready", needs: &[Kind::Pod], check: workloads_ready::check },
    Checker { name: "pods-on-targets", needs: &[Kind::Pod], check: pods_on_targets::check },
    Checker { name: "pending-as-before", needs: &[Kind::Pod], check: pending_as_before::check },
    Checker { name: "claims-bound", needs: &[Kind::PersistentVolumeClaim], check: claims_bound::check },
    Checker { name: "fences-lifted", needs: &[Kind::Node], check: fences_lifted::check },
    Checker { name: "load-balancers", needs: &[Kind::Service], check: load_balancers::check },
    Checker { name: "node-settings", needs: &[Kind::Node], check: node_settings::check },
];

/// Compares two views of a cluster after a plan was carried out.
#[must_use]
pub fn verify(before: (&View, Digest), after: (&View, Digest), plan: (&Plan, Digest)) -> Verification {
    let compared = Compared { before: before.0, after: after.0, plan: plan.0 };
    Verification {
        header: Header::of::<Verification>(),
        before: before.1,
        after: after.1,
        plan: plan.1,
        checks: CHECKS.iter().map(|checker| run(checker, &compared)).collect(),
    }
}

fn run(checker: &Checker, compared: &Compared<'_>) -> Check {
    let name = checker.name.to_owned();
    for (when, view) in [("before", compared.before), ("after", compared.after)] {
        if let Some(gap) = checker.needs.iter().find_map(|kind| view.gap(*kind)) {
            let message = format!("{} of {when} the move are not known: {}", gap.source, gap.message);
            return Check { name, result: CheckResult::Unknown, message, offenders: Vec::new() };
        }
    }
    let Found { message, mut offenders } = (checker.check)(compared);
    offenders.sort_by(|a, b| a.object.cmp(&b.object));
    let result = if offenders.is_empty() { CheckResult::Passed } else { CheckResult::Failed };
    Check { name, result, message, offenders }
}

pub(crate) fn offender(object: ObjectRef, why: impl Into<String>) -> Offender {
    Offender { object, why: why.into() }
}

/// Workloads that own pods and are not owned by another workload of the view.
pub(crate) fn topmost(view: &View) -> impl Iterator<Item = &rehome_k8s::Record> {
    view.records()
        .filter(|record| record.kind().is_workload())
        .filter(|record| record.meta().controller.as_ref().is_none_or(|owner| view.by_uid(&owner.uid).is_none()))
}
