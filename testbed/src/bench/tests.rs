//! The generators make as many objects as they say, and the same ones each time; the same seed places the same.

use serde_json::Value;

use super::openb::Trace;
use super::shapes::Shape;
use super::whole::{self, Size};
use super::{objects, p3_drainable, p7_same_bytes};

fn of_kind<'v>(objects: &'v [Value], kind: &str) -> Vec<&'v Value> {
    objects.iter().filter(|object| object["kind"] == kind).collect()
}

/// Namespaces and names, which must be different.
fn names(objects: &[&Value]) -> usize {
    let name = |object: &&Value| (object["metadata"]["namespace"].to_string(), object["metadata"]["name"].to_string());
    objects.iter().map(name).collect::<std::collections::BTreeSet<_>>().len()
}

#[test]
fn the_trace_has_its_nodes_and_pods() {
    let trace = Trace::read().unwrap();
    assert_eq!((trace.nodes.len(), trace.pods.len()), (1_523, 8_152));
    assert_eq!(names(&trace.nodes.iter().collect::<Vec<_>>()), 1_523);
    assert_eq!(names(&trace.pods.iter().collect::<Vec<_>>()), 8_152);
    let asks = |pod: &&Value| !pod["spec"]["containers"][0]["resources"]["requests"]["nvidia.com/gpu"].is_null();
    let has = |node: &&Value| !node["status"]["allocatable"]["nvidia.com/gpu"].is_null();
    assert!(trace.pods.iter().any(|pod| asks(&pod)) && trace.pods.iter().any(|pod| !asks(&pod)));
    assert!(trace.nodes.iter().any(|node| has(&node)) && trace.nodes.iter().any(|node| !has(&node)));
    let again = Trace::read().unwrap();
    assert_eq!((trace.nodes, trace.pods), (again.nodes, again.pods));
}

#[test]
fn what_the_trace_says_can_be_read() {
    let trace = Trace::read().unwrap();
    for node in &trace.nodes {
        objects::record(node).unwrap();
    }
    assert_eq!(objects::pods(&trace.pods).unwrap().len(), 8_152);
}

#[test]
fn shapes_keep_their_proportions() {
    let sizes = |shape: Shape, nodes: usize| {
        let cluster = shape.cluster(nodes);
        (of_kind(&cluster.objects, "Node").len(), cluster.before.len(), cluster.pods.len())
    };
    // Nodes, pods that are there, pods that come, as scheduler_perf has them; and a fiftieth of that.
    let full = [
        (Shape::Basic, (5_000, 1_000, 10_000)),
        (Shape::Spread, (5_000, 5_000, 5_000)),
        (Shape::DefaultSpread, (5_000, 5_000, 10_000)),
        (Shape::AntiAffinity, (5_000, 1_000, 2_000)),
    ];
    for (shape, expected) in full {
        assert_eq!(sizes(shape, shape.nodes()), expected, "{}", shape.name());
        let fiftieth = (expected.0 / 50, expected.1 / 50, expected.2 / 50);
        assert_eq!(sizes(shape, shape.nodes() / 50), fiftieth, "{}", shape.name());
    }
    // Each of its hundred namespaces has as many pods as the others.
    assert_eq!(sizes(Shape::NamespaceSelector, 6_000), (6_000, 4_000, 2_000));
    assert_eq!(sizes(Shape::NamespaceSelector, 300), (300, 200, 100));
}

#[test]
fn a_shape_is_the_same_each_time_and_can_be_read() {
    for shape in Shape::ALL {
        let nodes = shape.nodes() / 50;
        let (first, again) = (shape.cluster(nodes), shape.cluster(nodes));
        let pods = first.before.iter().chain(&first.pods).collect::<Vec<_>>();
        assert_eq!(names(&pods), pods.len(), "{}", shape.name());
        objects::view(&first.objects).unwrap();
        objects::pods(&first.before).unwrap();
        objects::pods(&first.pods).unwrap();
        assert_eq!((first.objects, first.before, first.pods), (again.objects, again.before, again.pods));
    }
}

#[test]
fn the_whole_cluster_has_its_shares_of_everything_and_is_the_same_each_time() {
    let size = Size { nodes: 30, occupied: 30 };
    let all = whole::objects(size);
    let counts = ["Node", "Pod", "Deployment", "StatefulSet", "DaemonSet", "PersistentVolume", "PodDisruptionBudget"]
        .map(|kind| of_kind(&all, kind).len());
    // 30 of 1,000 nodes have 30 of 1,000 Deployments with 26 pods each, and 15 of 500 StatefulSets with 6.
    assert_eq!(counts, [30, 30 * 26 + 15 * 6 + 30, 30, 15, 1, 15 * 6, 15]);
    let pods = of_kind(&all, "Pod");
    assert_eq!(names(&pods), pods.len());
    let on_new = |occupied: usize| {
        let all = whole::objects(Size { nodes: 30, occupied });
        let new = |pod: &&&Value| pod["spec"]["nodeName"].as_str().unwrap() >= "node-0015";
        of_kind(&all, "Pod").iter().filter(new).count()
    };
    // Where half of the nodes are occupied, the others have the DaemonSet's pods alone.
    assert_eq!(on_new(15), 15);
    assert!(on_new(30) > 400);
    assert_eq!(all, whole::objects(size));
}

#[test]
fn every_node_of_the_whole_cluster_can_be_drained_and_asking_changes_nothing() {
    let view = objects::view(&whole::objects(Size { nodes: 30, occupied: 30 })).unwrap();
    let mut model = rehome_sched::Model::new(&view, rehome_sched::Profile::default());
    let pods_on = |model: &rehome_sched::Model| {
        let of = |node: &std::sync::Arc<rehome_k8s::node::Node>| {
            let pods: Vec<String> = model.pods_on(node.name()).map(|pod| pod.meta.key().to_string()).collect();
            (node.name().to_owned(), model.used(node.name()), pods)
        };
        model.nodes().map(of).collect::<Vec<_>>()
    };
    let before = pods_on(&model);
    assert_eq!(p3_drainable::sweep(&mut model), 30);
    assert_eq!(pods_on(&model), before);
    assert_eq!(p3_drainable::sweep(&mut model), 30);
}

#[test]
fn the_same_seed_gives_the_same_bytes_a_hundred_times_and_another_gives_others() {
    assert_eq!(p7_same_bytes::equal(Shape::Spread, 120, p7_same_bytes::TIMES).unwrap(), (100, true));
    assert_eq!(p7_same_bytes::equal(Shape::DefaultSpread, 120, 10).unwrap(), (10, true));
}
