//! Volumes that a node still holds, and for whom.

use rehome_k8s::{Record, View, attachment, ingest};
use rehome_model::Uid;
use serde_json::{Value, json};

fn view(objects: &[Value]) -> View {
    let mut view = View::default();
    for object in objects {
        let record: Record = ingest::object(&object.to_string()).unwrap().unwrap();
        view.insert(record);
    }
    view
}

fn claim(name: &str) -> Value {
    json!({"apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": {"namespace": "shop", "name": name},
        "spec": {"volumeName": format!("pv-{name}")}})
}

fn pod(name: &str, claim: &str, phase: &str) -> Value {
    json!({"apiVersion": "v1", "kind": "Pod", "metadata": {"namespace": "shop", "name": name, "uid": format!("u-{name}")},
        "spec": {"nodeName": "old-1", "containers": [{"name": "main"}],
            "volumes": [{"name": "data", "persistentVolumeClaim": {"claimName": claim}}]},
        "status": {"phase": phase}})
}

fn attachment(claim: &str) -> Value {
    json!({"apiVersion": "storage.k8s.io/v1", "kind": "VolumeAttachment", "metadata": {"name": format!("csi-{claim}")},
        "spec": {"attacher": "csi.example.test", "nodeName": "old-1",
            "source": {"persistentVolumeName": format!("pv-{claim}")}}})
}

fn left<'v>(view: &'v View, volumes: Option<&[String]>, leaving: &[Uid]) -> Option<&'v str> {
    attachment::left_behind(view, "old-1", volumes, leaving).map(|found| found.meta.name.as_str())
}

#[test]
fn an_attachment_is_left_behind_when_nobody_on_the_node_mounts_it() {
    let objects = [claim("a"), claim("b"), attachment("a"), attachment("b"), pod("db", "a", "Running")];
    let view = view(&objects);
    assert_eq!(left(&view, None, &[]), Some("csi-b"));
    assert_eq!(left(&view, Some(&["pv-a".to_owned()]), &[]), None, "the pod mounts it");
    assert_eq!(left(&view, Some(&["pv-a".to_owned()]), &[Uid::from("u-db")]), Some("csi-a"), "the pod is leaving");
    assert_eq!(attachment::left_behind(&view, "old-2", None, &[]).map(|found| &found.meta.name), None);
}

#[test]
fn another_pod_on_the_node_keeps_a_volume_there_and_a_finished_one_does_not() {
    let both = view(&[claim("a"), attachment("a"), pod("db", "a", "Running"), pod("agent", "a", "Running")]);
    assert_eq!(left(&both, None, &[Uid::from("u-db")]), None);
    let finished = view(&[claim("a"), attachment("a"), pod("backup", "a", "Succeeded")]);
    assert_eq!(left(&finished, None, &[]), Some("csi-a"));
}
