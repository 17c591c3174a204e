//! Files from other people's clusters: each loads, or is refused with a reason. They are third-party data and lie
//! outside the tree.

use std::path::PathBuf;

use rehome_k8s::Kind;
use rehome_run::read;

/// What is expected of a file: how many objects it gives, or words of the reason.
enum Expected {
    Objects(usize),
    Refused(&'static str),
}

use Expected::{Objects, Refused};

const FILES: &[(&str, Expected)] = &[
    ("F01-nodes-mixed-sizes.json", Objects(7)),
    ("F02-k3s-nodes.json", Objects(1)),
    ("F03-k3s-pods-all.json", Objects(13)),
    // Four dumps under one object, of which one is an error message.
    ("F04-k3s-misc-and-collect-errors.json", Refused("found an object with list, pod-disruption-budgets-errors")),
    ("F05-pods-pending-node-affinity.json", Objects(1)),
    ("F06-pods-unhealthy-mix.json", Objects(4)),
    ("F07-events-failed-mount.json", Objects(76)),
    ("F08-statefulsets-and-pvcs.json", Objects(4)),
    ("F09-ocp-nodes-gcp-3zones.json", Objects(6)),
    ("F10-ocp-pods.json", Objects(19)),
    // 11 objects of OpenShift's own kinds are left out, and said.
    ("F11-ocp-pdb-pv-machines.json", Objects(3)),
    ("F12-ocp-etcd-pod-and-nodes.json", Objects(3)),
    // 42 objects, of which two have the name of another.
    ("F13-popeye-lint-objects.yaml", Objects(40)),
    ("F14-open-simulator-demo.yaml", Objects(26)),
    ("F15-openb-nodes-1523.csv", Refused("found text")),
    ("F16-openb-pods-multigpu20.csv", Refused("found text")),
    ("F17-openb-pods-default-every4th.csv", Refused("found text")),
    // Custom resources, Secrets and ConfigMaps only: nothing that a rule reads.
    ("F18-cnpg-clusters.yaml", Objects(0)),
    ("F19-infomaniak-kaas.tf", Refused("expected YAML")),
    ("F20-infomaniak-pool-plan-cases.txt", Refused("expected YAML")),
    ("F21-talos-controlplane.redacted.yaml", Refused("found an object with cluster, debug, machine")),
    ("F22-talos-worker-annotated.redacted.yaml", Refused("found an object with cluster, debug, machine")),
    ("F23-talos-volume-documents.yaml", Refused("VolumeConfig without metadata.name")),
    ("F24-gardener-machine-deployment.yaml", Objects(0)),
    ("F25-multi-pool-shapes.tf", Refused("expected YAML")),
];

fn folder() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../../shared/cases/files")
}

#[test]
fn each_file_loads_or_is_refused_with_a_reason() {
    let mut wrong = Vec::new();
    for (name, expected) in FILES.iter().filter(|(name, _)| folder().join(name).exists()) {
        match (read::path(&folder().join(name)), expected) {
            (Ok(loaded), Objects(count)) if loaded.snapshot.objects.len() == *count => {}
            (Err(error), Refused(words)) if error.fault.to_string().contains(words) => {}
            (Ok(loaded), _) => wrong.push(format!("{name}: loaded {} objects", loaded.snapshot.objects.len())),
            (Err(error), _) => wrong.push(format!("{name}: {error}: {}", error.fault)),
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn two_dumps_of_one_cluster_load_together() {
    if !folder().exists() {
        return;
    }
    let directory = tempfile::tempdir().unwrap();
    for name in ["F09-ocp-nodes-gcp-3zones.json", "F10-ocp-pods.json"] {
        std::fs::copy(folder().join(name), directory.path().join(name)).unwrap();
    }
    let loaded = read::path(directory.path()).unwrap();
    assert_eq!((loaded.view.nodes().count(), loaded.view.pods().count()), (6, 19));
    assert!(loaded.view.gap(Kind::PodDisruptionBudget).is_some(), "budgets are not in the files");
    assert!(loaded.view.gap(Kind::Node).is_none());
}
