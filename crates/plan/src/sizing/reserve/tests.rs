//! The table against the figures that were read at its sources, and the runbook's table.

use super::*;

fn machine(cores: i64, gib: f64, max_pods: i64) -> Machine {
    #[expect(clippy::cast_possible_truncation, reason = "a test's figure")]
    let memory = (gib * GIB as f64) as i64;
    Machine { cpu: cores * 1000, memory, max_pods }
}

fn gib(bytes: i64) -> f64 {
    #[expect(clippy::cast_precision_loss, reason = "a test's figure")]
    let gib = bytes as f64 / GIB as f64;
    gib
}

#[test]
fn the_runbook_s_two_flavors_come_out() {
    // Capacity, allocatable, usable after DaemonSets of 340 MiB, fraction: the flavor runbook, section 1.
    let table = Reserves::load().unwrap();
    for (cores, capacity, allocatable, usable, percent) in [(2, 3.82, 2.77, 2.44, 63.7), (4, 15.62, 12.96, 12.62, 80.8)]
    {
        for provider in ["tiered", "infomaniak", "gke"] {
            let reserve = table.row(provider).unwrap().reserve(machine(cores, capacity, 110)).unwrap();
            let left = capacity - gib(reserve["memory"]);
            assert!((left - allocatable).abs() < 0.02, "{provider}: {left}");
            let after = left - 340.0 / 1024.0;
            assert!((after - usable).abs() < 0.02, "{provider}: {after}");
            assert!((after / capacity * 100.0 - percent).abs() < 0.2, "{provider}: {}", after / capacity);
        }
    }
}

#[test]
fn published_figures_come_out() {
    let table = Reserves::load().unwrap();
    let cpu = |provider: &str, cores| table.row(provider).unwrap().reserve(machine(cores, 16.0, 110)).unwrap()["cpu"];
    let memory = |provider: &str, gib, pods| {
        table.row(provider).unwrap().reserve(machine(4, gib, pods)).unwrap()["memory"] - (100 << 20)
    };
    // GKE shows 3920m allocatable for 4 cores.
    assert_eq!(cpu("gke", 4), 80);
    let aks = [(1, 60), (2, 100), (4, 140), (8, 180), (16, 260), (32, 420), (64, 740)];
    for (cores, expected) in aks {
        assert_eq!(cpu("aks", cores), expected, "{cores} cores");
    }
    assert_eq!(memory("aks", 8.0, 30), 650_000_000);
    assert_eq!(memory("aks", 2.0, 250), 512 << 20, "never more than a quarter");
    assert_eq!(memory("eks", 16.0, 58), (255 + 11 * 58) << 20);
    assert_eq!([cpu("openshift", 4), cpu("openshift", 64)], [500, 816]);
    // 128 GiB: 8.2, 129 GiB: 7.9; both are 8 once rounded. 256 GiB: 10.44.
    for (size, expected) in [(8.0, 1), (16.9, 1), (64.0, 4), (128.0, 8), (129.0, 8), (256.0, 10)] {
        assert_eq!(memory("openshift", size, 250), expected << 30, "{size} GiB");
    }
    assert_eq!([cpu("tke", 4), cpu("tke", 64), cpu("tke", 128)], [100, 1600, 2400]);
    assert_eq!([cpu("gdc", 4), memory("gdc", 10.0, 110) >> 20], [120, 842]);
    assert!((gib(memory("gke", 256.0, 110)) - (1.0 + 0.8 + 0.8 + 6.72 + 2.56)).abs() < 1e-6);
}

#[test]
fn every_row_has_a_source_and_a_date_and_leaves_something() {
    let table = Reserves::load().unwrap();
    for row in &table.rows {
        assert!(!row.source.is_empty() && row.date.len() == 10, "{}", row.provider);
        for (cores, size) in [(1, 2.0), (8, 32.0), (96, 384.0)] {
            let reserve = row.reserve(machine(cores, size, row.max_pods)).unwrap();
            assert!(gib(reserve["memory"]) < size && reserve["cpu"] < cores * 1000, "{} of {size} GiB", row.provider);
        }
    }
    assert!(table.row("nobody").unwrap_err().to_string().contains("gke"));
}

fn live(memory: &str, allocatable: &str) -> Node {
    let amounts = |memory: &str| {
        Resources::from([
            ("cpu".to_owned(), 4000),
            ("memory".to_owned(), quantity::amount("memory", memory).unwrap()),
            ("pods".to_owned(), 110),
        ])
    };
    Node { capacity: amounts(memory), allocatable: amounts(allocatable), ..Node::default() }
}

#[test]
fn the_formula_is_the_one_that_explains_the_live_nodes() {
    let table = Reserves::load().unwrap();
    let (row, because) = table.choose(None, &[&live("15994Mi", "13271Mi")]).unwrap();
    assert_eq!((row.provider.as_str(), because.contains("to within 0 MiB")), ("tiered", true), "{because}");
    // 255 + 11 × 110 + 100 MiB: EKS; nothing in the node says so but the amount.
    let (row, _) = table.choose(None, &[&live("15994Mi", "14429Mi")]).unwrap();
    assert_eq!(row.provider, "eks");
    let (row, because) = table.choose(None, &[&live("15994Mi", "9000Mi")]).unwrap();
    assert_eq!((row.provider.as_str(), because.contains("no formula explains")), ("tiered", true), "{because}");
    let gce = Node { provider_id: Some("gce://p/z/i".to_owned()), ..live("15994Mi", "9000Mi") };
    assert_eq!(table.choose(None, &[&gce]).unwrap().0.provider, "gke");
}

#[test]
fn a_live_node_of_the_flavor_overrules_the_formula_and_the_difference_is_said() {
    let table = Reserves::load().unwrap();
    let row = table.row("tiered").unwrap();
    let node = live("15994Mi", "13000Mi");
    let reserve = of(row, String::new(), Machine::of(&node).unwrap(), &[&node]).unwrap();
    assert_eq!((reserve.basis, reserve.used["memory"] >> 20), (Basis::Measured, 2994));
    assert!(reserve.because.contains("-270 MiB") || reserve.because.contains("-269 MiB"), "{}", reserve.because);
}
