//! Whether the credentials may do all that a plan will ask, asked before the first write.

use rehome_engine::preflight;
use rehome_kube::Connection;
use rehome_kube::access::{self, AccessUnknown, Denied, Permission};
use rehome_model::plan::Plan;

/// What the plan needs and the credentials may not do.
///
/// # Errors
/// The server could not be asked.
pub fn denied(connection: &Connection, plan: &Plan) -> Result<Vec<Denied>, AccessUnknown> {
    let needed: Vec<Permission> = preflight::permissions(plan)
        .into_iter()
        .map(|needed| Permission {
            verb: needed.verb.to_owned(),
            group: needed.group.to_owned(),
            resource: needed.resource.to_owned(),
            subresource: (!needed.subresource.is_empty()).then(|| needed.subresource.to_owned()),
            namespace: (!needed.namespace.is_empty()).then_some(needed.namespace),
        })
        .collect();
    access::denied(connection, &needed)
}
