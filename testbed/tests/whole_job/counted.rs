//! A larger cluster than the scenario's, for what can be counted: how many requests a moved pod costs. The whole of it,
//! with memory, is `cargo xtask scale`.

use std::io::Write as _;

use rehome_testbed::scale::{Size, cluster, moved, table};

/// Small enough for a minute, and large enough that the lists with which a run begins do not hide what a pod costs.
const SIZE: Size = Size { nodes: 20, pods: 240, parallel: 20, drained: 0 };

#[test]
fn a_moved_pod_costs_three_requests_at_most() {
    let plane = cluster::start(SIZE, &|_| ()).unwrap();
    let moved = moved::run(&plane, SIZE, &|_| ()).unwrap();
    // Straight to the stream: the table is for the log of a run that passed, too.
    writeln!(std::io::stderr(), "\n{}", table::text(SIZE, &moved, None)).unwrap();
    assert_eq!(moved.pods, cluster::pods(SIZE), "each pod has a receipt");
    let per_pod = table::per_pod(&moved.requests, moved.pods);
    assert!(per_pod <= table::REQUESTS, "{per_pod} requests a moved pod: {:?}", moved.requests);
    // A log that holds nothing would pass.
    let evictions = moved.requests.by_kind.get("create pods/eviction").copied().unwrap_or(0);
    assert!(evictions >= moved.pods / 2, "{evictions} evictions are in the log");
    assert!(moved.requests.watches > 0, "watches are told apart from other requests");
}
