//! The scheduler's model explains clusters that it has not seen: our own cases, and dumps of other people's clusters, which
//! are third-party data and lie outside the tree. What it does not explain of them is explained here, one by one.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use rehome_model::fidelity::{Fidelity, Outcome};
use rehome_run::read;

/// Files of one cluster, and what is expected of them beside: no violation, and no pod that would not be put where it is.
struct Dump {
    files: &'static [&'static str],
    /// Bound pods: all, explained, not judged.
    pods: (usize, usize, usize),
    /// How the words about each waiting pod compare.
    waiting: &'static [&'static str],
}

const NO_NODES: &str = "not comparable: nodes are not in the capture: the files hold no Node, which does not say that there \
                        is none";

const DUMPS: &[Dump] = &[
    // Nodes without pods.
    Dump { files: &["F01-nodes-mixed-sizes.json"], pods: (0, 0, 0), waiting: &[] },
    // A k3s node that is full: the words about both pods that wait for cpu are said again.
    Dump {
        files: &["F02-k3s-nodes.json", "F03-k3s-pods-all.json"],
        pods: (9, 9, 0),
        waiting: &["reproduced", "reproduced"],
    },
    // Without the nodes, a sentence about them can't be said again.
    Dump { files: &["F05-pods-pending-node-affinity.json"], pods: (0, 0, 0), waiting: &[NO_NODES] },
    // The same, and the nodes of two pods that run are missing.
    Dump { files: &["F06-pods-unhealthy-mix.json"], pods: (2, 0, 2), waiting: &[NO_NODES] },
    // Events of pods that are not in the file.
    Dump { files: &["F07-events-failed-mount.json"], pods: (0, 0, 0), waiting: &[] },
    // Claims and StatefulSets without pods.
    Dump { files: &["F08-statefulsets-and-pvcs.json"], pods: (0, 0, 0), waiting: &[] },
    // Static pods, DaemonSet pods and anti-affinity over three tainted masters and three workers.
    Dump { files: &["F09-ocp-nodes-gcp-3zones.json", "F10-ocp-pods.json"], pods: (19, 19, 0), waiting: &[] },
    // Budgets and volumes without pods.
    Dump { files: &["F11-ocp-pdb-pv-machines.json"], pods: (0, 0, 0), waiting: &[] },
    // A static etcd and two nodes.
    Dump { files: &["F12-ocp-etcd-pod-and-nodes.json"], pods: (1, 1, 0), waiting: &[] },
    // Pods that are not bound, of which nobody said anything.
    Dump { files: &["F13-popeye-lint-objects.yaml"], pods: (0, 0, 0), waiting: &[] },
    // Workloads that have no pods yet.
    Dump { files: &["F14-open-simulator-demo.yaml"], pods: (0, 0, 0), waiting: &[] },
];

fn of(folder: &Path) -> Fidelity {
    rehome_plan::fidelity::of(&read::path(folder).unwrap().view)
}

fn waiting(fidelity: &Fidelity) -> Vec<String> {
    let one = |outcome: &Outcome| match outcome {
        Outcome::Reproduced => "reproduced".to_owned(),
        Outcome::NotComparable { why } => format!("not comparable: {why}"),
        Outcome::Different { model } => format!("different: {model}"),
    };
    fidelity.waiting.iter().map(|waiting| one(&waiting.outcome)).collect()
}

#[test]
fn dumps_of_others_are_explained_one_by_one() {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../../shared/cases/files");
    let mut wrong = String::new();
    for dump in DUMPS.iter().filter(|dump| dump.files.iter().all(|file| folder.join(file).exists())) {
        let directory = tempfile::tempdir().unwrap();
        for file in dump.files {
            std::fs::copy(folder.join(file), directory.path().join(file)).unwrap();
        }
        let found = of(directory.path());
        let pods = (found.running, found.explained, found.unjudged);
        let clean = found.violations.is_empty() && found.exceptions.is_empty();
        if pods != dump.pods || waiting(&found) != dump.waiting || !clean {
            let _ = writeln!(wrong, "{:?}: {found:#?}", dump.files);
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
}

/// A case is made by hand: what could not be in a cluster would prove nothing there.
#[test]
fn no_case_holds_what_cannot_be() {
    let cases = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../cases");
    let mut checked = 0;
    for entry in std::fs::read_dir(cases).unwrap() {
        let cluster = entry.unwrap().path().join("cluster");
        if cluster.is_dir() {
            let fidelity = of(&cluster);
            assert_eq!(fidelity.violations, [], "{}", cluster.display());
            checked += 1;
        }
    }
    assert!(checked >= 6, "{checked}");
}
