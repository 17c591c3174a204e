//! A node agent that would not come back.
//!
//! ## What it checks
//! A DaemonSet has pods on nodes that get the fence, and does not tolerate its taint.
//!
//! ## Why it matters
//! Its pods stay while they run. But one that is lost (a crash of the node, a rollout of the DaemonSet) is not created
//! again on a fenced node: a CSI or CNI agent that is missing there keeps volumes attached and pods from stopping.
//!
//! ## How to fix
//! Give the DaemonSet a toleration for every NoSchedule taint, as node agents should have.

use std::collections::BTreeMap;

use rehome_k8s::Kind;
use rehome_k8s::toleration::{Effect, Taint};
use rehome_model::ObjectRef;
use rehome_model::finding::{Code, Severity};
use rehome_model::verb::FENCE_TAINT;

use super::{Found, Rule};
use crate::draft::Draft;

pub(super) const RULE: Rule =
    Rule { code: Code(1006), name: "daemonset-not-tolerating-fence", needs: &[Kind::DaemonSet], check };

fn check(draft: &Draft<'_>) -> Vec<Found> {
    let facts = &draft.facts;
    let fence = Taint { key: FENCE_TAINT.to_owned(), value: String::new(), effect: Effect::NoSchedule };
    let mut pods: BTreeMap<ObjectRef, usize> = BTreeMap::new();
    for pod in facts.sources.iter().chain(&facts.bystanders).flat_map(|node| facts.view.pods_on(node)) {
        let owner = pod.meta.controller.as_ref().filter(|owner| owner.kind == "DaemonSet");
        let Some(owner) = owner else { continue };
        if !pod.spec.tolerations.iter().any(|toleration| toleration.tolerates(&fence)) {
            let subject = ObjectRef::namespaced("DaemonSet", pod.meta.namespace.clone(), owner.name.clone());
            *pods.entry(subject).or_default() += 1;
        }
    }
    pods.into_iter()
        .map(|(subject, pods)| Found {
            severity: Severity::Warning,
            message: format!("{pods} of its pods stand on fenced nodes; one that is lost is not created again there"),
            remedies: vec![format!(
                "kubectl patch -n {} daemonset/{} --type=json -p '[{{\"op\":\"add\",\"path\":\"/spec/template/spec/tolerations/-\",\"value\":{{\"operator\":\"Exists\",\"effect\":\"NoSchedule\"}}}}]' (where it is declared)",
                subject.namespace.as_deref().unwrap_or_default(),
                subject.name
            )],
            subject,
        })
        .collect()
}
