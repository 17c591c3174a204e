//! A target without the CSI driver of a volume.
//!
//! ## What it checks
//! A pod that leaves holds a volume of a CSI driver that is registered where the pod stands now, and a target's CSINode
//! does not list it: the node is young and its driver's agent has not registered yet, or the agent does not run there.
//!
//! ## Why it matters
//! Up to 1.36 the scheduler does not look: the pod is bound, and its mounts fail with "driver name not found in the list of
//! registered CSI drivers". From 1.37 on it stays Pending if the CSIDriver asks for that
//! (`preventPodSchedulingIfMissing`). And until the driver is there, the node's limit of attached volumes is not known.
//!
//! ## How to fix
//! Wait until the agent of the driver (a DaemonSet) is Ready on the target, and capture again; give the agent the
//! tolerations of the new pool's taints.

use std::collections::BTreeMap;

use rehome_k8s::storage::CsiNode;
use rehome_k8s::{Key, Kind, Record, View};
use rehome_model::ObjectRef;
use rehome_model::finding::{Code, Severity};

use super::volume_cannot_follow::bound;
use super::{Found, Rule};
use crate::draft::Draft;

pub(super) const RULE: Rule = Rule {
    code: Code(1019),
    name: "csi-driver-missing",
    needs: &[Kind::CSINode, Kind::PersistentVolume, Kind::PersistentVolumeClaim],
    check,
};

fn check(draft: &Draft<'_>) -> Vec<Found> {
    let facts = &draft.facts;
    let mut needed: BTreeMap<&str, usize> = BTreeMap::new();
    for pod in facts.units.iter().flat_map(|unit| unit.leaving()) {
        let claims = pod.claims().filter_map(|claim| bound(facts.view, &pod.meta.namespace, &claim));
        for volume in claims.filter(|volume| volume.handle.is_some()) {
            // A driver that registers nowhere is no sign of anything.
            if pod.node.as_deref().is_some_and(|node| registered(facts.view, node, &volume.driver)) {
                *needed.entry(volume.driver.as_str()).or_default() += 1;
            }
        }
    }
    let mut found = Vec::new();
    for (driver, volumes) in needed {
        let lacks = |target: &&String| !registered(facts.view, target, driver);
        let lacking: Vec<&String> = facts.targets.iter().filter(lacks).collect();
        let nowhere = lacking.len() == facts.targets.len();
        found.extend(lacking.into_iter().map(|target| Found {
            severity: if nowhere { Severity::Blocking } else { Severity::Warning },
            subject: ObjectRef::node(target),
            message: format!(
                "{driver} is not registered on it, and {volumes} of its volumes move{}",
                if nowhere { "; no target has it" } else { "" }
            ),
            remedies: vec![format!(
                "wait until the driver's agent is Ready there: kubectl get csinode {target} -o yaml"
            )],
        }));
    }
    found
}

fn registered(view: &View, node: &str, driver: &str) -> bool {
    let csi: Option<&CsiNode> = match view.get(Kind::CSINode, &Key::cluster(node)) {
        Some(Record::CSINode(csi)) => Some(csi),
        _ => None,
    };
    csi.is_some_and(|csi| csi.drivers.contains_key(driver))
}
