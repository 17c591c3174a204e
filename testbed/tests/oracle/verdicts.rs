//! Which plugin rejects which node, first and alone.

use rehome_testbed::oracle::Version;
use serde_json::json;

use super::cluster::{NODES, ZONE, ask, firsts, pod, with};

const TAINTED: &str = "b TaintToleration: node(s) had untolerated taint(s)";
const CORDONED: &str = "e NodeUnschedulable: node(s) were unschedulable";

#[test]
fn cpu_is_insufficient_and_a_request_above_all_is_unresolvable() {
    for (_, verdict) in ask(&pod("two", "2"), &[]) {
        let said = firsts(&verdict);
        let expected =
            ["a NodeResourcesFit: Insufficient cpu", TAINTED, "c NodeResourcesFit: Insufficient cpu", "d", CORDONED];
        assert_eq!(said, expected);
        assert_eq!(verdict.node("a").unwrap().first.as_ref().unwrap().code, "Unschedulable");
        assert_eq!(verdict.node("c").unwrap().first.as_ref().unwrap().code, "UnschedulableAndUnresolvable");
        assert_eq!((verdict.message, verdict.preemption), (None, None));
    }
}

#[test]
fn a_message_counts_the_reasons() {
    for (_, verdict) in ask(&pod("huge", "64"), &[]) {
        let expected = "0/5 nodes are available: 1 node(s) had untolerated taint(s), 1 node(s) were unschedulable, \
                        3 Insufficient cpu.";
        assert_eq!(verdict.message.as_deref(), Some(expected));
        assert_eq!(verdict.preemption, None);
    }
}

#[test]
fn each_plugin_is_heard_alone() {
    for (_, verdict) in ask(&pod("huge", "64"), &[]) {
        let cordoned = &verdict.node("e").unwrap().alone;
        assert_eq!(
            cordoned.keys().map(String::as_str).collect::<Vec<_>>(),
            ["NodeResourcesFit", "NodeUnschedulable", "TaintToleration"]
        );
        assert_eq!(cordoned["NodeResourcesFit"], ["Insufficient cpu"]);
    }
}

#[test]
fn spread_counts_the_pods_of_a_zone() {
    let spread = json!({"topologySpreadConstraints": [{"maxSkew": 1, "topologyKey": ZONE,
        "whenUnsatisfiable": "DoNotSchedule", "labelSelector": {"matchLabels": {"app": "web"}}}]});
    for (_, verdict) in ask(&with(pod("web-1", "100m"), &spread), &[]) {
        let spread = "PodTopologySpread: node(s) didn't match pod topology spread constraints";
        assert_eq!(firsts(&verdict), [format!("a {spread}"), TAINTED.into(), "c".into(), "d".into(), CORDONED.into()]);
        let missing = "node(s) didn't match pod topology spread constraints (missing required label)";
        assert_eq!(verdict.node("e").unwrap().alone["PodTopologySpread"], [missing]);
    }
}

#[test]
fn a_named_node_leaves_out_the_others_as_the_scheduler_says_it() {
    let named = json!({"affinity": {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {
        "nodeSelectorTerms": [{"matchFields": [{"key": "metadata.name", "operator": "In", "values": ["c"]}]}]}}}});
    for (_, verdict) in ask(&with(pod("agent", "100m"), &named), &[]) {
        let out = "NodeAffinity: node(s) didn't satisfy plugin(s) [NodeAffinity]";
        let expected: Vec<String> = ["a", "b", "c", "d", "e"]
            .map(|node| if node == "c" { node.to_owned() } else { format!("{node} {out}") })
            .to_vec();
        assert_eq!(firsts(&verdict), expected);
        assert_eq!(verdict.blocked, None);
    }
}

#[test]
fn a_missing_claim_blocks_the_pod_outright() {
    let volumes = json!({"volumes": [{"name": "v", "persistentVolumeClaim": {"claimName": "gone"}}]});
    for (_, verdict) in ask(&with(pod("db", "100m"), &volumes), &[]) {
        let blocked = verdict.blocked.clone().unwrap();
        assert_eq!(
            (blocked.plugin.as_str(), blocked.code.as_str()),
            ("VolumeRestrictions", "UnschedulableAndUnresolvable")
        );
        assert_eq!(blocked.reasons, [r#"persistentvolumeclaim "gone" not found"#]);
        assert!(verdict.nodes.iter().all(|node| node.first.as_ref() == Some(&blocked)));
        let message = r#"0/5 nodes are available: persistentvolumeclaim "gone" not found."#;
        assert_eq!(verdict.message.as_deref(), Some(message));
    }
}

#[test]
fn a_bound_volume_holds_its_zone_and_needs_its_driver_only_in_the_newest() {
    let volumes = json!({"volumes": [{"name": "v", "persistentVolumeClaim": {"claimName": "data"}}]});
    let volume = json!({"apiVersion": "v1", "kind": "PersistentVolume", "metadata": {"name": "pv"},
        "spec": {"capacity": {"storage": "1Gi"}, "accessModes": ["ReadWriteOnce"],
            "claimRef": {"namespace": "default", "name": "data", "uid": "u"}, "csi": {"driver": "d", "volumeHandle": "h"},
            "nodeAffinity": {"required": {"nodeSelectorTerms": [
                {"matchExpressions": [{"key": ZONE, "operator": "In", "values": ["z2"]}]}]}}},
        "status": {"phase": "Bound"}});
    let claim = json!({"apiVersion": "v1", "kind": "PersistentVolumeClaim",
        "metadata": {"name": "data", "namespace": "default", "uid": "u",
            "annotations": {"pv.kubernetes.io/bind-completed": "yes"}},
        "spec": {"volumeName": "pv", "storageClassName": "", "accessModes": ["ReadWriteOnce"],
            "resources": {"requests": {"storage": "1Gi"}}},
        "status": {"phase": "Bound"}});
    let driver = json!({"apiVersion": "storage.k8s.io/v1", "kind": "CSIDriver", "metadata": {"name": "d"},
        "spec": {"preventPodSchedulingIfMissing": true}});
    let mut more = vec![volume, claim, driver];
    more.extend(NODES.map(|node| {
        let drivers = if node == "c" { json!([]) } else { json!([{"name": "d", "nodeID": node, "topologyKeys": null}]) };
        json!({"apiVersion": "storage.k8s.io/v1", "kind": "CSINode", "metadata": {"name": node}, "spec": {"drivers": drivers}})
    }));
    for (version, verdict) in ask(&with(pod("db", "100m"), &volumes), &more) {
        let said = firsts(&verdict);
        assert_eq!(said[0], "a VolumeBinding: node(s) didn't match PersistentVolume's node affinity");
        assert_eq!(said[3], "d");
        // VolumeLimitScaling, which is on from 1.37, rejects a node without the driver.
        match version {
            Version::Newest => assert_eq!(said[2], "c NodeVolumeLimits: d CSI driver is not installed on the node"),
            Version::Floor => assert_eq!(said[2], "c"),
        }
    }
}
