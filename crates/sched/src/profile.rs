//! Which kube-scheduler is modelled: a minor of Kubernetes with its default profile, and the feature gates that decide.
//!
//! Sources, per row: `k8s.io/kubernetes/pkg/features/kube_features.go` (gates and their defaults by minor) and
//! `pkg/scheduler/apis/config/v1/default_plugins.go` (order and weights), read at v1.34.4, v1.35.4, v1.36.3 and v1.37.2.

use rehome_k8s::View;

/// A minor of Kubernetes whose scheduler is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Default)]
pub enum Minor {
    /// 1.34: the floor.
    V1_34,
    /// 1.35.
    V1_35,
    /// 1.36.
    V1_36,
    /// 1.37: the newest.
    #[default]
    V1_37,
}

/// The default profile of a minor.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct Profile {
    /// The minor.
    pub minor: Minor,
}

impl Minor {
    /// All, oldest first.
    pub const ALL: [Self; 4] = [Self::V1_34, Self::V1_35, Self::V1_36, Self::V1_37];

    /// The minor of a version such as `v1.35.2+k3s1`, or the nearest known one; the newest where nothing can be read.
    #[must_use]
    pub fn of_version(version: &str) -> Self {
        let mut parts = version.trim_start_matches('v').split('.');
        let number = |part: Option<&str>| part.and_then(|part| part.parse::<u32>().ok());
        match (number(parts.next()), number(parts.next())) {
            (Some(1), Some(minor)) if minor <= 34 => Self::V1_34,
            (Some(1), Some(35)) => Self::V1_35,
            (Some(1), Some(36)) => Self::V1_36,
            _ => Self::V1_37,
        }
    }

    /// `1.37`.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::V1_34 => "1.34",
            Self::V1_35 => "1.35",
            Self::V1_36 => "1.36",
            Self::V1_37 => "1.37",
        }
    }
}

impl Profile {
    /// The default profile of a minor.
    #[must_use]
    pub const fn of(minor: Minor) -> Self {
        Self { minor }
    }

    /// The default profile of the minor that a view's API server says it is.
    #[must_use]
    pub fn of_cluster(view: &View) -> Self {
        Self::of(view.cluster.server_version.as_deref().map_or(Minor::default(), Minor::of_version))
    }

    /// NodeName is asked before NodeUnschedulable.
    pub(crate) fn name_before_unschedulable(self) -> bool {
        self.minor >= Minor::V1_37
    }

    /// BalancedAllocation scores how a pod *changes* the balance of a node, not the balance itself.
    pub(crate) fn scores_change_of_balance(self) -> bool {
        self.minor >= Minor::V1_36
    }

    /// ImageLocality also counts volumes that are images.
    pub(crate) fn counts_image_volumes(self) -> bool {
        self.minor >= Minor::V1_36
    }

    /// `NodeDeclaredFeatures`: on by default since 1.36.
    pub(crate) fn looks_at_declared_features(self) -> bool {
        self.minor >= Minor::V1_36
    }

    /// `VolumeLimitScaling`: on by default since 1.37. A node without a CSI driver that insists on being there is refused.
    pub(crate) fn misses_csi_drivers(self) -> bool {
        self.minor >= Minor::V1_37
    }

    /// `StorageCapacityScoring`: on by default since 1.37.
    pub(crate) fn scores_storage_capacity(self) -> bool {
        self.minor >= Minor::V1_37
    }

    /// The pod's own terms of pod affinity are looked up as if no namespace had labels, beside the namespaces that the
    /// selector matches: until 1.36 the selector is not cleared once it was looked up, because the term is passed by
    /// value. Source: `interpodaffinity/plugin.go`, `mergeAffinityTermNamespacesIfNotEmpty`.
    pub(crate) fn takes_unlabelled_namespaces(self) -> bool {
        self.minor < Minor::V1_37
    }

    /// In preemption, a pod that violates one budget does not use up its others. Source: `podIsViolating` of
    /// `framework/preemption/util.go` beside `filterPodsWithPDBViolation` of 1.36.
    pub(crate) fn stops_at_a_violated_budget(self) -> bool {
        self.minor >= Minor::V1_37
    }

    /// Resizes count as the largest of three sums over the pod, not container by container.
    pub(crate) fn resizes_by_pod(self) -> bool {
        self.minor >= Minor::V1_37
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_of_distributions_are_read_and_unknown_ones_are_the_newest() {
        let cases = [
            ("v1.34.1", Minor::V1_34),
            ("v1.29.0", Minor::V1_34),
            ("1.35.2+k3s1", Minor::V1_35),
            ("v1.36.0-eks-1", Minor::V1_36),
            ("v1.40.0", Minor::V1_37),
            ("", Minor::V1_37),
        ];
        for (version, minor) in cases {
            assert_eq!(Minor::of_version(version), minor, "{version}");
        }
    }
}
