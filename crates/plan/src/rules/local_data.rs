//! Data on the node's own disk.
//!
//! ## What it checks
//! A pod that has to leave has an emptyDir that is not in memory, or a hostPath.
//!
//! ## Why it matters
//! An emptyDir is deleted with its pod; what lies under a hostPath stays behind on the old node.
//!
//! ## How to fix
//! Make sure that nothing in there is needed, or copy it first.

use rehome_k8s::Kind;
use rehome_k8s::pod::Volume;
use rehome_model::finding::{Code, Severity};

use super::{Found, Rule};
use crate::draft::Draft;

pub(super) const RULE: Rule = Rule { code: Code(1012), name: "local-data", needs: &[Kind::Pod], check };

fn check(draft: &Draft<'_>) -> Vec<Found> {
    let mut found = Vec::new();
    for lineage in draft.facts.units.iter().flat_map(|unit| &unit.lineages) {
        let Some(pod) = lineage.leaving.first() else { continue };
        let paths: Vec<&str> = pod
            .spec
            .volumes
            .iter()
            .filter_map(|volume| if let Volume::HostPath { path } = volume { Some(path.as_str()) } else { None })
            .collect();
        let empty_dir = pod.spec.volumes.contains(&Volume::EmptyDir { memory: false });
        if !paths.is_empty() {
            found.push(Found {
                severity: Severity::Warning,
                subject: lineage.workload.clone(),
                message: format!("what lies under {} stays behind on the old node", paths.join(", ")),
                remedies: vec!["copy it first if it is needed".to_owned()],
            });
        } else if empty_dir {
            found.push(Found {
                severity: Severity::Note,
                subject: lineage.workload.clone(),
                message: format!("the emptyDir volumes of its {} pods are deleted with them", lineage.leaving.len()),
                remedies: Vec::new(),
            });
        }
    }
    found
}
