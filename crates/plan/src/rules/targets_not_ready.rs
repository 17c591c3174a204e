//! A target that is not Ready.
//!
//! ## What it checks
//! A target node's condition `Ready` is not True.
//!
//! ## Why it matters
//! Pods may be bound to it and never start. A console that reports it healthy shows the machine, not the node.
//!
//! ## How to fix
//! Mend the node, or leave it out of the targets.

use rehome_k8s::Kind;
use rehome_model::ObjectRef;
use rehome_model::finding::{Code, Severity};

use super::{Found, Rule};
use crate::draft::Draft;

pub(super) const RULE: Rule = Rule { code: Code(1016), name: "targets-not-ready", needs: &[Kind::Node], check };

fn check(draft: &Draft<'_>) -> Vec<Found> {
    let nodes = draft.facts.targets.iter().filter_map(|name| draft.facts.view.node(name));
    nodes
        .filter(|node| node.ready != Some(true))
        .map(|node| Found {
            severity: Severity::Blocking,
            subject: ObjectRef::node(node.name()),
            message: match node.ready {
                Some(_) => "it is a target, and it is not Ready".to_owned(),
                None => "it is a target, and whether it is Ready is not known".to_owned(),
            },
            remedies: vec![format!("kubectl describe node {}", node.name())],
        })
        .collect()
}
