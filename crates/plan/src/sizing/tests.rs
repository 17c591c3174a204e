//! The answer on small clusters: each rule binds once.

use rehome_model::flavor::{Flavor, Quantity};
use rehome_model::intent::{Loss, SizingWish};
use rehome_model::sizing::BindingRule;
use serde_json::json;

use super::*;
use crate::testing::Cluster;

/// The nodes of the test cluster have 8 GiB and say nothing of a capacity: one flavor of their size, without reserve.
fn flavor(cpu: i64, memory: &str) -> Flavor {
    let memory = Quantity::Text(memory.to_owned());
    Flavor {
        cpu: Quantity::Whole(cpu),
        capacity: Some(memory.clone()),
        memory,
        provider: Some("kubelet".to_owned()),
        ..Flavor::default()
    }
}

fn sized(cluster: &Cluster, wish: &SizingWish, flavors: &[Flavor]) -> Sizing {
    let request = SizingRequest { from: None, to: None, wish, flavors, currency: None, peaks: None };
    size(&cluster.view(), Digest::of_bytes(b"snapshot"), &request).unwrap()
}

fn wish(floor: u32, survives: Loss) -> SizingWish {
    SizingWish { floor, survives, ..SizingWish::default() }
}

/// Pods of 2 GiB each, on nodes of the old pool.
fn of_two_gib(pods: usize) -> Cluster {
    let mut cluster = Cluster::new();
    let nodes: Vec<&str> = ["old-1", "old-2"].into_iter().cycle().take(pods).collect();
    cluster.deployment("web", &nodes);
    cluster.pod_spec_of(
        "web",
        &json!({"containers": [{"name": "main", "image": "example.org/app",
        "resources": {"requests": {"cpu": "100m", "memory": "2Gi"}}}]}),
    );
    cluster
}

fn answer(sizing: &Sizing) -> (u32, BindingRule, &str) {
    let answer = sizing.flavors[0].answer.as_ref().unwrap();
    (answer.nodes, answer.binds, &answer.because)
}

#[test]
fn the_division_binds_where_pieces_fit_and_nothing_need_be_survived() {
    // 6 pods of 2 GiB; a node of 8 GiB less 100 MiB takes 3.
    let sizing = sized(&of_two_gib(6), &wish(1, Loss::Nothing), &[flavor(4, "8Gi")]);
    assert_eq!(answer(&sizing).0, 2);
    assert_eq!(answer(&sizing).1, BindingRule::Demand);
    assert!(answer(&sizing).2.contains("12.0 GiB ÷ 7.9 GiB of memory"), "{}", answer(&sizing).2);
    // 8 pods: 16 GiB ÷ 7.9 are 3 nodes, too, and each takes 3.
    let sizing = sized(&of_two_gib(8), &wish(1, Loss::Nothing), &[flavor(4, "8Gi")]);
    assert_eq!(answer(&sizing).0, 3);
    assert_eq!(sizing.flavors[0].lower_bound.nodes, 3);
}

#[test]
fn pieces_bind_where_the_division_is_too_hopeful() {
    // 4 pods of 2 GiB on nodes of 3 GiB: 8 ÷ 2.9 are 3 nodes, but each takes one pod only.
    let sizing = sized(&of_two_gib(4), &wish(1, Loss::Nothing), &[flavor(4, "3Gi")]);
    let (nodes, binds, because) = answer(&sizing);
    assert_eq!((nodes, binds), (4, BindingRule::Placement));
    assert!(because.contains("4, not 3: with 3 there is no place for 2.0 GiB"), "{because}");
    assert!(because.contains("Insufficient memory"), "{because}");
}

#[test]
fn the_loss_of_a_node_binds_and_the_pods_that_would_wait_are_named() {
    let sizing = sized(&of_two_gib(6), &wish(1, Loss::Node), &[flavor(4, "8Gi")]);
    let (nodes, binds, because) = answer(&sizing);
    assert_eq!((nodes, binds), (3, BindingRule::NodeLoss));
    assert!(because.contains("3, not 2: with 2 the loss of cpu4-mem8gi-"), "{because}");
    assert!(because.contains("6.0 GiB and 0.3 cores Pending: shop/web-1-"), "{because}");
    let worst = sizing.flavors[0].answer.as_ref().unwrap().worst_loss.as_ref().unwrap();
    assert_eq!(worst.pods, 2);
}

#[test]
fn the_floor_binds_and_what_would_do_without_it_is_said() {
    let sizing = sized(&of_two_gib(2), &SizingWish::default(), &[flavor(4, "8Gi")]);
    let (nodes, binds, because) = answer(&sizing);
    assert_eq!((nodes, binds), (3, BindingRule::Floor));
    assert!(because.contains("the floor is 3; 2 would hold everything, also after the loss of any one"), "{because}");
    assert_eq!(sizing.flavors[0].lower_bound.by, "floor");
}

#[test]
fn a_target_of_one_node_is_possible_and_is_warned_of_until_it_is_accepted() {
    let mut one = wish(1, Loss::Nothing);
    let mut cluster = of_two_gib(3);
    // A spread over hostnames shrinks to the one node there is.
    cluster.pod_spec_of(
        "web",
        &json!({"topologySpreadConstraints": [{"maxSkew": 1, "topologyKey": "kubernetes.io/hostname",
        "whenUnsatisfiable": "DoNotSchedule", "labelSelector": {"matchLabels": {"app": "web"}}}]}),
    );
    let sizing = sized(&cluster, &one, &[flavor(4, "8Gi")]);
    assert_eq!(answer(&sizing).0, 1);
    assert!(sizing.notes[0].contains("survives no loss"), "{:?}", sizing.notes);
    one.accepted_because = Some("a test cluster".to_owned());
    let sizing = sized(&cluster, &one, &[flavor(4, "8Gi")]);
    assert!(sizing.notes[0].contains("was accepted: a test cluster"), "{:?}", sizing.notes);
}

#[test]
fn anti_affinity_asks_for_a_node_for_each_pod_and_one_more() {
    let mut cluster = of_two_gib(2);
    cluster.pod_spec_of(
        "web",
        &json!({"affinity": {"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [
        {"topologyKey": "kubernetes.io/hostname", "labelSelector": {"matchLabels": {"app": "web"}}}]}}}),
    );
    let sizing = sized(&cluster, &wish(1, Loss::Node), &[flavor(4, "16Gi")]);
    assert_eq!((answer(&sizing).0, answer(&sizing).1), (3, BindingRule::NodeLoss));
    assert!(answer(&sizing).2.contains("anti-affinity"), "{}", answer(&sizing).2);
}

#[test]
fn what_fits_nowhere_is_named_and_does_not_keep_the_rest_from_an_answer() {
    let mut cluster = of_two_gib(2);
    cluster.workload("StatefulSet", "huge", &["old-1"]);
    cluster.pod_spec_of(
        "huge",
        &json!({"containers": [{"name": "main", "image": "example.org/app",
        "resources": {"requests": {"memory": "24Gi"}}}]}),
    );
    cluster
        .workload("StatefulSet", "picky", &["old-1"])
        .pod_spec_of("picky", &json!({"nodeSelector": {"pool": "old"}}));
    let sizing = sized(&cluster, &SizingWish::default(), &[flavor(4, "8Gi")]);
    assert_eq!(answer(&sizing).0, 3);
    let nowhere = &sizing.flavors[0].nowhere;
    assert_eq!(nowhere.iter().map(|one| one.pod.name.as_str()).collect::<Vec<_>>(), ["huge-0", "picky-0"]);
    assert_eq!(nowhere[0].reasons, ["Insufficient memory"]);
    assert!(nowhere[1].reasons[0].contains("node affinity/selector"), "{:?}", nowhere[1].reasons);
    let labelled = Flavor { labels: [("pool".to_owned(), "old".to_owned())].into(), ..flavor(4, "8Gi") };
    let sizing = sized(&cluster, &SizingWish::default(), &[labelled]);
    assert_eq!(sizing.flavors[0].nowhere.len(), 1, "a label that is given is there");
}

#[test]
fn of_several_flavors_the_cheapest_is_best_and_without_prices_the_least_memory() {
    let flavors = |prices: [Option<f64>; 2]| {
        [
            Flavor { name: "small".to_owned(), price: prices[0], ..flavor(4, "8Gi") },
            Flavor { name: "large".to_owned(), price: prices[1], ..flavor(8, "32Gi") },
        ]
    };
    let best = |prices| sized(&of_two_gib(12), &SizingWish::default(), &flavors(prices)).best.unwrap();
    // 12 pods: 5 small ones (4 hold them, and one may go), or 3 large ones.
    assert_eq!(best([Some(10.0), Some(15.0)]).flavor, "large");
    assert_eq!(best([Some(10.0), Some(20.0)]).flavor, "small");
    assert_eq!(best([Some(10.0), None]).flavor, "small");
    assert!(best([None, None]).because.contains("5 of them are the least memory to buy: 40.0 GiB"));
}

#[test]
fn a_zone_takes_its_volumes_with_it_and_the_others_must_hold_the_rest() {
    let mut cluster = of_two_gib(4);
    cluster.claim("data", "ReadWriteOnce", "*").workload("StatefulSet", "db", &["old-1"]).mount("db", "data");
    cluster.patch(
        "PersistentVolume",
        "pv-data",
        &json!({"spec": {"nodeAffinity": {"required": {"nodeSelectorTerms": [
        {"matchExpressions": [{"key": "topology.kubernetes.io/zone", "operator": "In", "values": ["b"]}]}]}}}}),
    );
    let zoned = Flavor { zones: vec!["a".to_owned(), "b".to_owned()], ..flavor(4, "8Gi") };
    let sizing = sized(&cluster, &wish(1, Loss::Node), std::slice::from_ref(&zoned));
    // The volume is in b: two nodes there, so that one may go.
    assert_eq!((answer(&sizing).0, answer(&sizing).1), (4, BindingRule::NodeLoss));
    assert!(answer(&sizing).2.contains("shop/db-0"), "{}", answer(&sizing).2);
    let sizing = sized(&cluster, &wish(1, Loss::Zone), &[zoned]);
    assert_eq!(answer(&sizing).0, 4);
    assert_eq!(sizing.flavors[0].bound_to_zone.len(), 1);
    assert!(sizing.notes.iter().any(|note| note.contains("volumes in one zone")), "{:?}", sizing.notes);
}

#[test]
fn an_attach_limit_binds() {
    let mut cluster = Cluster::new();
    for index in 0..4 {
        let (app, claim) = (format!("db{index}"), format!("data{index}"));
        cluster.claim(&claim, "ReadWriteOnce", "*").workload("StatefulSet", &app, &["old-1"]).mount(&app, &claim);
    }
    cluster.add(json!({"apiVersion": "storage.k8s.io/v1", "kind": "CSINode", "metadata": {"name": "old-1"},
        "spec": {"drivers": [{"name": "csi.example.org", "nodeID": "old-1", "topologyKeys": [], "allocatable": {"count": 25}}]}}));
    let limited = Flavor { attach_limit: Some(2), ..flavor(4, "8Gi") };
    let sizing = sized(&cluster, &wish(1, Loss::Nothing), &[flavor(4, "8Gi"), limited]);
    assert_eq!(answer(&sizing).0, 1);
    let tight = sizing.flavors[1].answer.as_ref().unwrap();
    assert_eq!((tight.nodes, tight.binds), (2, BindingRule::Placement));
    assert!(tight.because.contains("exceed max volume count"), "{}", tight.because);
}

#[test]
fn the_same_input_gives_the_same_bytes() {
    let bytes = || serde_json::to_string(&sized(&of_two_gib(9), &SizingWish::default(), &[flavor(4, "8Gi")])).unwrap();
    assert_eq!(bytes(), bytes());
}

#[test]
fn peaks_size_a_pod_where_they_are_above_its_request_and_both_are_kept() {
    let cluster = of_two_gib(3);
    let workload = rehome_model::ObjectRef::namespaced("Deployment", "shop", "web");
    let pods = PodPeaks::from([(workload, Resources::from([("memory".to_owned(), 3 << 30), ("cpu".to_owned(), 900)]))]);
    let peaks = Peaks {
        simultaneous: Resources::from([("memory".to_owned(), 10 << 30)]),
        sum_of_peaks: Resources::from([("memory".to_owned(), 40 << 30)]),
        ..Peaks::default()
    };
    let measured = MeasuredPeaks { peaks, pods };
    let flavors = [flavor(4, "8Gi")];
    let wish = wish(1, Loss::Nothing);
    let request =
        SizingRequest { from: None, to: None, wish: &wish, flavors: &flavors, currency: None, peaks: Some(&measured) };
    let sizing = size(&cluster.view(), Digest::of_bytes(b"snapshot"), &request).unwrap();
    assert_eq!([sizing.demand.requests["memory"] >> 30, sizing.demand.sized_by["memory"] >> 30], [6, 9]);
    assert_eq!(sizing.demand.requests["cpu"], sizing.demand.sized_by["cpu"], "cpu above a request is throttled");
    assert_eq!(sizing.demand.workloads[0].peaks.as_ref().unwrap()["cpu"], 2700);
    assert_eq!(answer(&sizing).0, 2);
    assert!(sizing.notes.iter().any(|note| note.contains("only the first fits")), "{:?}", sizing.notes);
}
