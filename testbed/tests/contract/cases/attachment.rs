//! A volume that one node can use is detached from the node that its pod has left before it is attached elsewhere.

use rehome_k8s::{Kind, Record, View};
use rehome_model::ObjectRef;
use rehome_model::verb::{Change, Field};
use serde_json::json;

use crate::objects::{created, pods, settled, workload};
use crate::world::{ContractWorld, wait};

const KINDS: [Kind; 2] = [Kind::VolumeAttachment, Kind::Pod];

/// The nodes to which a volume is attached, and whether the attacher has said so.
fn attached(view: &View, volume: &str) -> Vec<(String, bool)> {
    let found = view.of_kind(Kind::VolumeAttachment).filter_map(|record| match record {
        Record::VolumeAttachment(found) if found.volume.as_deref() == Some(volume) => {
            Some((found.node.clone(), found.attached))
        }
        _ => None,
    });
    found.collect()
}

pub(crate) fn script(world: &mut dyn ContractWorld) {
    world.attaching_node("a", "4");
    world.attaching_node("b", "4");
    let namespace = world.namespace().to_owned();
    let volume = format!("{namespace}-data");
    let size = json!({"storage": "1Gi"});
    created(
        world,
        &json!({"apiVersion": "v1", "kind": "PersistentVolume", "metadata": {"name": volume}, "spec": {
            "capacity": size, "accessModes": ["ReadWriteOnce"], "persistentVolumeReclaimPolicy": "Retain",
            "csi": {"driver": "csi.example.test", "volumeHandle": volume},
            "claimRef": {"apiVersion": "v1", "kind": "PersistentVolumeClaim", "namespace": namespace, "name": "data"}}}),
    );
    created(
        world,
        &json!({"apiVersion": "v1", "kind": "PersistentVolumeClaim",
            "metadata": {"name": "data"},
            "spec": {"storageClassName": "", "volumeName": volume, "accessModes": ["ReadWriteOnce"],
                "resources": {"requests": size}}}),
    );
    // A pod that the scheduler sees before the volume is not tried again for some time.
    wait(world, "the claim to be bound", &[Kind::PersistentVolumeClaim], |view| {
        let mut claims = view.of_kind(Kind::PersistentVolumeClaim);
        claims.any(|record| matches!(record, Record::PersistentVolumeClaim(claim) if claim.bound))
    });
    let mut set = workload("ReplicaSet", "db", 1, &json!({}));
    set["spec"]["template"]["spec"]["volumes"] =
        json!([{"name": "data", "persistentVolumeClaim": {"claimName": "data"}}]);
    created(world, &set);
    let view = wait(world, "the attachment", &KINDS, |view| !attached(view, &volume).is_empty());
    let first = pods(&view, "db")[0].node.clone().unwrap();
    assert_eq!(attached(&view, &volume).len(), 1);
    assert_eq!(attached(&view, &volume)[0].0, first);
    world.play_attacher();
    let pod = settled(world, "db", 1)[0].clone();

    let fence = Field::NoScheduleTaint { key: "example.test/leave".to_owned() };
    let change = Change { target: ObjectRef::node(&first), field: fence, from: None, to: Some("now".to_owned()) };
    assert_eq!(world.set_field(&change).code, 200);
    assert_eq!(world.evict(&pod.meta.name, &pod.meta.uid.0).code, 201);
    let view = wait(world, "the attachment to be on the other node", &KINDS, |view| {
        let there = attached(view, &volume);
        assert!(there.len() < 2, "never on two nodes: {there:?}");
        there.iter().any(|(node, _)| *node != first)
    });
    let second = pods(&view, "db")[0].node.clone().unwrap();
    assert_eq!(attached(&view, &volume)[0].0, second);
    assert!(view.by_uid(&pod.meta.uid).is_none(), "it was detached only when the pod was gone");
}
