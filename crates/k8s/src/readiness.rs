//! Whether workloads are as they should be.

use rehome_model::ObjectRef;

use crate::meta::Key;
use crate::owner;
use crate::pod::Pod;
use crate::record::Kind;
use crate::view::View;
use crate::workload::Workload;

/// A pod that serves: bound, Ready, and not on its way out.
#[must_use]
pub fn serves(pod: &Pod) -> bool {
    pod.ready && pod.meta.deleting.is_none() && !pod.finished()
}

/// How many pods of a workload serve.
#[must_use]
pub fn serving(view: &View, workload: &ObjectRef) -> usize {
    owner::pods_of(view, workload).into_iter().filter(|pod| serves(pod)).count()
}

/// How many pods a workload asks for; `None` where the view does not hold it or its kind asks for no number.
#[must_use]
pub fn desired(view: &View, workload: &ObjectRef) -> Option<i64> {
    let kind = Kind::by_name(&workload.kind)?;
    if kind == Kind::Pod {
        return Some(1);
    }
    view.workload(kind, &Key::of(workload))?.replicas
}

/// Whether a Deployment's newest template is rolled out completely.
/// Source: `k8s.io/kubectl/pkg/polymorphichelpers/rollout_status.go`, `DeploymentStatusViewer`.
#[must_use]
pub fn rolled_out(deployment: &Workload) -> bool {
    let status = &deployment.status;
    let replicas = deployment.replicas.unwrap_or(1);
    status.observed_generation >= deployment.meta.generation
        && status.updated >= replicas
        && status.replicas <= status.updated
        && status.available >= status.updated
}
