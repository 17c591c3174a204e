//! Pod templates, and the pod that a controller makes from one.

use std::collections::BTreeMap;
use std::sync::Arc;

use rehome_model::{Timestamp, Uid};

use crate::meta::{Meta, OwnerRef};
use crate::pod::{Pod, PodSpec, Volume};
use crate::record::Kind;
use crate::workload::Workload;

/// A pod template. The pod that comes back is made from it, not from the pod that left.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Template {
    /// `metadata.labels`.
    pub labels: BTreeMap<String, String>,
    /// `metadata.annotations`.
    pub annotations: BTreeMap<String, String>,
    /// The spec.
    pub spec: Arc<PodSpec>,
}

/// The pod that the controller of a workload creates from its template: Pending, not bound.
///
/// A StatefulSet's claims from its claim templates are added as volumes, as its controller does
/// (`k8s.io/kubernetes/pkg/controller/statefulset/stateful_set_utils.go`, `updateStorage`).
#[must_use]
pub fn pod(kind: Kind, workload: &Workload, name: &str, uid: Uid, created: Timestamp) -> Pod {
    let template = &workload.template;
    let mut spec = Arc::clone(&template.spec);
    if !workload.claim_templates.is_empty() {
        let spec = Arc::make_mut(&mut spec);
        for claim in &workload.claim_templates {
            let claim = Volume::Claim { name: format!("{claim}-{name}") };
            if !spec.volumes.contains(&claim) {
                spec.volumes.push(claim);
            }
        }
    }
    if spec.affinity.has_label_keys() {
        for term in Arc::make_mut(&mut spec).affinity.pod_terms_mut() {
            term.merge_label_keys(&template.labels);
        }
    }
    let mut labels = template.labels.clone();
    if kind == Kind::StatefulSet {
        // Source: `k8s.io/api/apps/v1`, `StatefulSetPodNameLabel`.
        labels.insert("statefulset.kubernetes.io/pod-name".to_owned(), name.to_owned());
    }
    Pod {
        meta: Meta {
            namespace: workload.meta.namespace.clone(),
            name: name.to_owned(),
            uid,
            labels,
            annotations: template.annotations.clone(),
            controller: Some(OwnerRef {
                api_version: kind.api_version().to_owned(),
                kind: kind.name().to_owned(),
                name: workload.meta.name.clone(),
                uid: workload.meta.uid.clone(),
            }),
            created: Some(created),
            ..Meta::default()
        },
        spec,
        ..Pod::default()
    }
}
