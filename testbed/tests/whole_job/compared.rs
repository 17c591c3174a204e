//! Both ways side by side, each on a control plane of its own, with the same workloads and the same delays.

use std::io::Write as _;

use crate::table::Figures;
use crate::{drained, moved};

#[test]
fn rehome_moves_each_pod_once_and_kubectl_drain_is_beside_it() {
    let (moved, drained) = std::thread::scope(|scope| {
        let moved = scope.spawn(moved::run);
        let drained = scope.spawn(drained::run);
        (moved.join().unwrap(), drained.join().unwrap())
    });
    let table = Figures::table(&[("rehome", &moved), ("kubectl drain", &drained)]);
    // Straight to the stream: the table is for the log of a run that passed, too.
    writeln!(std::io::stderr(), "\n{table}").unwrap();
}
