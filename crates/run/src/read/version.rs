//! Which versions of an API group rehome understands.
//!
//! The current version of each kind is in `rehome-k8s`; here are the older ones whose fields, as far as a move reads
//! them, are the same.

use rehome_k8s::Kind;

/// Older versions that are read like the current one. Source: the Kubernetes deprecation guide, "Deprecated API
/// Migration Guide" (each entry was replaced without a change to the fields that rehome reads).
const OLDER: &[(Kind, &str)] = &[
    (Kind::PodDisruptionBudget, "policy/v1beta1"),
    (Kind::CronJob, "batch/v1beta1"),
    (Kind::Deployment, "apps/v1beta2"),
    (Kind::StatefulSet, "apps/v1beta2"),
    (Kind::DaemonSet, "apps/v1beta2"),
    (Kind::ReplicaSet, "apps/v1beta2"),
    (Kind::HorizontalPodAutoscaler, "autoscaling/v1"),
    (Kind::HorizontalPodAutoscaler, "autoscaling/v2beta2"),
    (Kind::CSINode, "storage.k8s.io/v1beta1"),
    (Kind::StorageClass, "storage.k8s.io/v1beta1"),
    (Kind::VolumeAttachment, "storage.k8s.io/v1beta1"),
    (Kind::PriorityClass, "scheduling.k8s.io/v1beta1"),
    (Kind::EndpointSlice, "discovery.k8s.io/v1beta1"),
];

/// What an `apiVersion` and a `kind` are to rehome.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Reading {
    /// A kind that it reads, in a version that it knows.
    Known(Kind),
    /// A kind of another group, or one that no rule reads.
    Foreign,
    /// A kind that it reads, in a version of its group that it does not know.
    UnknownVersion(Kind),
}

/// Tells what an object is to rehome.
pub(crate) fn reading(kind: &str, api_version: &str) -> Reading {
    let Some(known) = Kind::by_name(kind) else { return Reading::Foreign };
    if api_version == known.api_version() || OLDER.contains(&(known, api_version)) {
        Reading::Known(known)
    } else if group(api_version) == group(known.api_version()) {
        Reading::UnknownVersion(known)
    } else {
        Reading::Foreign
    }
}

/// The group of `group/version`; empty for the core group.
fn group(api_version: &str) -> &str {
    api_version.split_once('/').map_or("", |(group, _)| group)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_service_of_another_group_is_no_service() {
        assert_eq!(reading("Service", "serving.knative.dev/v1"), Reading::Foreign);
        assert_eq!(reading("Service", "v1"), Reading::Known(Kind::Service));
        assert_eq!(reading("Service", "v2"), Reading::UnknownVersion(Kind::Service));
    }

    #[test]
    fn an_older_version_is_read_and_a_future_one_is_not() {
        assert_eq!(reading("PodDisruptionBudget", "policy/v1beta1"), Reading::Known(Kind::PodDisruptionBudget));
        assert_eq!(reading("Deployment", "apps/v9"), Reading::UnknownVersion(Kind::Deployment));
    }
}
