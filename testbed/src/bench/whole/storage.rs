//! Volumes that a driver attaches over the network, each in one zone.

use serde_json::{Value, json};

use super::{Size, ZONES};

const DRIVER: &str = "disks.example";
/// As many as large providers allow on a machine of this size, and more than the six or so that come together here.
const MOST_ATTACHED: u32 = 64;

/// The driver and its class.
pub(super) fn classes() -> [Value; 2] {
    [
        json!({
            "apiVersion": "storage.k8s.io/v1", "kind": "CSIDriver", "metadata": {"name": DRIVER},
            "spec": {"attachRequired": true, "storageCapacity": false},
        }),
        json!({
            "apiVersion": "storage.k8s.io/v1", "kind": "StorageClass", "metadata": {"name": "disks"},
            "provisioner": DRIVER, "volumeBindingMode": "WaitForFirstConsumer", "reclaimPolicy": "Delete",
        }),
    ]
}

pub(super) fn csi_node(number: usize) -> Value {
    let name = Size::node_name(number);
    json!({
        "apiVersion": "storage.k8s.io/v1", "kind": "CSINode", "metadata": {"name": name},
        "spec": {"drivers": [{"name": DRIVER, "nodeID": name, "allocatable": {"count": MOST_ATTACHED}}]},
    })
}

/// A bound claim, its volume in a zone, and its attachment to a node.
pub(super) fn volume(namespace: &str, claim: &str, zone: usize, node: &str) -> [Value; 3] {
    let volume = format!("pvc-{namespace}-{claim}");
    [
        json!({
            "apiVersion": "v1", "kind": "PersistentVolumeClaim",
            "metadata": {"namespace": namespace, "name": claim, "uid": format!("uid-{volume}")},
            "spec": {
                "accessModes": ["ReadWriteOnce"], "storageClassName": "disks", "volumeName": volume,
                "resources": {"requests": {"storage": "10Gi"}},
            },
            "status": {"phase": "Bound", "capacity": {"storage": "10Gi"}},
        }),
        json!({
            "apiVersion": "v1", "kind": "PersistentVolume", "metadata": {"name": volume},
            "spec": {
                "accessModes": ["ReadWriteOnce"], "capacity": {"storage": "10Gi"}, "storageClassName": "disks",
                "claimRef": {"kind": "PersistentVolumeClaim", "namespace": namespace, "name": claim, "uid": format!("uid-{volume}")},
                "csi": {"driver": DRIVER, "volumeHandle": volume},
                "persistentVolumeReclaimPolicy": "Delete",
                "nodeAffinity": {"required": {"nodeSelectorTerms": [{"matchExpressions": [
                    {"key": "topology.kubernetes.io/zone", "operator": "In", "values": [ZONES[zone]]},
                ]}]}},
            },
            "status": {"phase": "Bound"},
        }),
        json!({
            "apiVersion": "storage.k8s.io/v1", "kind": "VolumeAttachment", "metadata": {"name": format!("csi-{volume}")},
            "spec": {"attacher": DRIVER, "nodeName": node, "source": {"persistentVolumeName": volume}},
            "status": {"attached": true},
        }),
    ]
}
