//! What attaches volumes moves before the first volume: nothing can attach one while a CSI controller is down (flavor
//! runbook, §5.5).

use crate::draft::Decision;

/// Storage controllers among the units, if there is a volume that could wait for them.
pub(super) fn choose(decisions: &[Decision], moved: Option<usize>) -> Vec<usize> {
    let mounts = |decision: &Decision| decision.unit.lineages.iter().any(|lineage| lineage.claims().next().is_some());
    if !decisions.iter().any(mounts) {
        return Vec::new();
    }
    (0..decisions.len()).filter(|index| Some(*index) != moved && is_controller(&decisions[*index])).collect()
}

/// Whether a unit provisions or attaches volumes, told by its name: `csi-cinder-controllerplugin` (Cinder),
/// `ebs-csi-controller` (EBS), `csi-rbdplugin-provisioner` (Ceph), `csi-attacher` (Longhorn), as in their manifests.
pub(super) fn is_controller(decision: &Decision) -> bool {
    decision.unit.lineages.iter().any(|lineage| {
        let name = &lineage.workload.name;
        matches!(lineage.workload.kind.as_str(), "Deployment" | "StatefulSet")
            && (name.contains("csi")
                || lineage.workload.namespace.as_deref() == Some("kube-system")
                    && (name.contains("provisioner") || name.contains("attacher")))
    })
}
