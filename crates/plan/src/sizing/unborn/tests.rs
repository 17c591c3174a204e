//! What a new node is made of, and how each part is known.

use serde_json::json;

use super::*;
use crate::testing::Cluster;

/// A live node of 16 GiB in zone `az-1` with the labels of a CSI driver.
fn live(cluster: &mut Cluster, name: &str, flavor: &str) {
    cluster.add(json!({
        "apiVersion": "v1", "kind": "Node",
        "metadata": {"name": name, "labels": {
            "kubernetes.io/hostname": name, "kubernetes.io/arch": "amd64", "pool": "workers",
            "node.kubernetes.io/instance-type": flavor, "topology.kubernetes.io/zone": "az-1",
            "topology.cinder.csi.openstack.org/zone": "az-1"}},
        "spec": {"taints": [{"key": "dedicated", "value": "x", "effect": "NoSchedule"},
                            {"key": "node.kubernetes.io/not-ready", "effect": "NoSchedule"}]},
        "status": {"capacity": {"cpu": "4", "memory": "15994Mi", "pods": "110", "nvidia.com/gpu": "1", "ephemeral-storage": "50Gi"},
                   "allocatable": {"cpu": "3920m", "memory": "13271Mi", "pods": "110", "nvidia.com/gpu": "1", "ephemeral-storage": "45Gi"}},
    }));
    cluster.add(
        json!({"apiVersion": "storage.k8s.io/v1", "kind": "CSINode", "metadata": {"name": name}, "spec": {"drivers": [
        {"name": "cinder.csi.openstack.org", "nodeID": name, "topologyKeys": [], "allocatable": {"count": 25}}]}}),
    );
}

fn made(cluster: &Cluster, flavor: &Flavor) -> Unborn {
    let view = cluster.view();
    let nodes: Vec<&Node> = view.nodes().map(AsRef::as_ref).filter(|node| node.name().starts_with("live")).collect();
    Unborn::new(&view, &nodes, flavor, &Reserves::load().unwrap()).unwrap()
}

fn flavor(name: &str, cpu: i64, memory: &str) -> Flavor {
    let (cpu, memory) = (Quantity::Whole(cpu), Quantity::Text(memory.to_owned()));
    Flavor { name: name.to_owned(), cpu, memory, ..Flavor::default() }
}

fn basis(unborn: &Unborn, field: &str) -> Basis {
    unborn
        .fields
        .iter()
        .find(|found| found.field == field)
        .unwrap_or_else(|| panic!("no {field}: {:?}", unborn.fields))
        .basis
}

#[test]
fn a_live_node_of_the_flavor_is_the_measure() {
    let mut cluster = Cluster::new();
    live(&mut cluster, "live-1", "a4-ram16");
    let unborn = made(&cluster, &flavor("a4-ram16", 4, "16Gi"));
    for field in [
        "capacity.memory",
        "allocatable.memory",
        "allocatable[nvidia.com/gpu]",
        "labels[pool]",
        "taints",
        "attach limit of cinder.csi.openstack.org",
        "allocatable.ephemeral-storage",
    ] {
        assert_eq!(basis(&unborn, field), Basis::Measured, "{field}");
    }
    let node = unborn.node(2);
    assert_eq!((node.name(), node.allocatable["memory"] >> 20, node.allocatable["cpu"]), ("a4-ram16-2", 13271, 3920));
    assert_eq!(node.meta.labels["kubernetes.io/hostname"], "a4-ram16-2");
    assert_eq!(node.taints.iter().map(|taint| taint.key.as_str()).collect::<Vec<_>>(), ["dedicated"]);
    assert_eq!(unborn.csi_node(2).drivers["cinder.csi.openstack.org"], Some(25));
}

#[test]
fn another_flavor_is_computed_and_no_pool_is_guessed() {
    let mut cluster = Cluster::new();
    live(&mut cluster, "live-1", "a4-ram16");
    let unborn = made(&cluster, &flavor("a8-ram32", 8, "32Gi"));
    assert_eq!(basis(&unborn, "allocatable.memory"), Basis::Formula);
    assert_eq!(basis(&unborn, "capacity.memory"), Basis::Assumed);
    assert_eq!(basis(&unborn, "labels[kubernetes.io/arch]"), Basis::Assumed);
    assert!(unborn.reserve.because.contains("explains what the live nodes withhold"), "{}", unborn.reserve.because);
    let node = unborn.node(1);
    assert!(!node.meta.labels.contains_key("pool") && node.taints.is_empty());
    // 32 GiB less a 64th and 134 MiB, less 1 + 0.8 + 0.8 + 6 % of the rest, less 100 MiB.
    assert!((node.allocatable["memory"] >> 20) - 28_500 < 200, "{}", node.allocatable["memory"] >> 20);
    assert!(!node.allocatable.contains_key("nvidia.com/gpu"));
}

#[test]
fn zones_are_filled_in_turn_and_a_driver_s_own_zone_label_follows() {
    let mut cluster = Cluster::new();
    live(&mut cluster, "live-1", "a4-ram16");
    let zoned = Flavor { zones: vec!["az-1".to_owned(), "az-2".to_owned()], ..flavor("x", 8, "32Gi") };
    let unborn = made(&cluster, &zoned);
    let zones: Vec<String> = (1..=3)
        .map(|number| unborn.node(number))
        .map(|node| {
            format!("{} {}", node.meta.labels[ZONE_LABEL], node.meta.labels["topology.cinder.csi.openstack.org/zone"])
        })
        .collect();
    assert_eq!(zones, ["az-1 az-1", "az-2 az-2", "az-1 az-1"]);
    assert_eq!(basis(&unborn, "labels[topology.kubernetes.io/zone]"), Basis::Given);
}

#[test]
fn what_is_given_wins_and_what_is_no_size_is_refused_by_name() {
    let mut cluster = Cluster::new();
    live(&mut cluster, "live-1", "a4-ram16");
    let given = Flavor {
        max_pods: Some(50),
        attach_limit: Some(7),
        disk: Some(Quantity::Text("100Gi".to_owned())),
        capacity: Some(Quantity::Text("15Gi".to_owned())),
        taints: vec!["team=a:NoSchedule".to_owned()],
        resources: [("example.org/fpga".to_owned(), Quantity::Whole(2))].into(),
        ..flavor("a4-ram16", 4, "16Gi")
    };
    let unborn = made(&cluster, &given);
    let node = unborn.node(1);
    assert_eq!(
        [node.allocatable["pods"], node.allocatable["example.org/fpga"], node.capacity["memory"] >> 30],
        [50, 2, 15]
    );
    assert_eq!((unborn.csi_node(1).drivers["cinder.csi.openstack.org"], node.taints[0].value.as_str()), (Some(7), "a"));
    assert_eq!(node.allocatable["ephemeral-storage"] >> 30, 90);

    let view = cluster.view();
    let refused =
        |flavor: &Flavor| Unborn::new(&view, &[], flavor, &Reserves::load().unwrap()).unwrap_err().to_string();
    assert!(refused(&flavor("x", 0, "1Gi")).contains("expected cpu above zero, found 0"));
    assert!(refused(&flavor("x", 1, "much")).contains("memory: "));
    assert!(
        refused(&Flavor { taints: vec!["a".to_owned()], ..flavor("x", 1, "1Gi") }).contains("key=value:NoSchedule")
    );
    assert!(refused(&Flavor { provider: Some("who".to_owned()), ..flavor("x", 1, "1Gi") }).contains("\"who\""));
}
