//! Which rules rest on what the model could not show.

use std::collections::BTreeSet;

use rehome_k8s::pod::Pod;
use rehome_k8s::selector::Selector;
use rehome_k8s::{Kind, View};
use rehome_model::fidelity::{Fidelity, Outcome, Weaker};

use super::DEFAULT_SCHEDULER;
use crate::rules;

/// Rules that say where pods fit, by the plugins that they rest on.
const RESTS: [(&str, &[&str]); 12] = [
    ("NodeResourcesFit", &["no-room-on-targets"]),
    ("NodePorts", &["no-room-on-targets"]),
    ("NodeVolumeLimits", &["no-room-on-targets"]),
    ("VolumeRestrictions", &["no-room-on-targets"]),
    ("PodTopologySpread", &["no-room-on-targets", "spread-with-fenced-domains"]),
    ("InterPodAffinity", &["no-room-on-targets", "pod-affinity-unmet"]),
    ("VolumeBinding", &["volume-cannot-follow"]),
    ("VolumeZone", &["volume-cannot-follow"]),
    ("NodeAffinity", &["no-matching-target"]),
    ("NodeDeclaredFeatures", &["no-matching-target"]),
    ("TaintToleration", &["no-matching-target"]),
    ("NodeUnschedulable", &["no-matching-target"]),
];

/// A kind that the model reads, whether a pod needs it, the plugin that is blind without it, and what is not known then.
struct Source {
    kind: Kind,
    needed: fn(&Pod) -> bool,
    plugin: &'static str,
    unknown: &'static str,
}

const SOURCES: [Source; 7] = [
    Source {
        kind: Kind::CSINode,
        needed: has_claims,
        plugin: "NodeVolumeLimits",
        unknown: "how many volumes a node takes is not known",
    },
    Source {
        kind: Kind::VolumeAttachment,
        needed: has_claims,
        plugin: "NodeVolumeLimits",
        unknown: "volumes that are attached without a pod are not counted",
    },
    Source {
        kind: Kind::PersistentVolumeClaim,
        needed: has_claims,
        plugin: "VolumeBinding",
        unknown: "where volumes are is not known",
    },
    Source {
        kind: Kind::PersistentVolume,
        needed: has_claims,
        plugin: "VolumeBinding",
        unknown: "where volumes are is not known",
    },
    Source {
        kind: Kind::StorageClass,
        needed: has_claims,
        plugin: "VolumeBinding",
        unknown: "where new volumes can be made is not known",
    },
    Source {
        kind: Kind::CSIStorageCapacity,
        needed: has_claims,
        plugin: "VolumeBinding",
        unknown: "how much room there is for new volumes is not known",
    },
    Source {
        kind: Kind::Namespace,
        needed: selects_namespaces,
        plugin: "InterPodAffinity",
        unknown: "namespace selectors match nothing",
    },
];

fn has_claims(pod: &Pod) -> bool {
    pod.claims().next().is_some()
}

fn selects_namespaces(pod: &Pod) -> bool {
    let affinity = &pod.spec.affinity;
    let required = affinity.pod.iter().chain(&affinity.pod_anti);
    let asks = |selector: &Selector| matches!(selector, Selector::All(requirements) if !requirements.is_empty());
    required.into_iter().any(|term| term.namespace_selector.as_ref().is_some_and(asks))
}

/// The rules that are weaker, each with why.
pub(super) fn of(view: &View, fidelity: &Fidelity) -> Vec<Weaker> {
    let mut weaker = BTreeSet::new();
    for violation in &fidelity.violations {
        let because = format!("{} of {} does not hold: {}", violation.plugin, violation.subject, violation.field);
        add(&mut weaker, &violation.plugin, &because);
    }
    for waiting in &fidelity.waiting {
        if matches!(waiting.outcome, Outcome::Different { .. }) {
            let because = format!("the model says otherwise than the scheduler of {}", waiting.pod);
            for plugin in ["NodeResourcesFit", "NodeAffinity"] {
                add(&mut weaker, plugin, &because);
            }
        }
    }
    for source in SOURCES.iter().filter(|source| view.gap(source.kind).is_some()) {
        let pods = view.pods().filter(|pod| !pod.finished() && (source.needed)(pod)).count();
        if pods > 0 {
            let because = format!("no {} in the capture: {} (pods: {pods})", source.kind.plural(), source.unknown);
            add(&mut weaker, source.plugin, &because);
        }
    }
    let others = view.pods().filter(|pod| !pod.spec.scheduler.is_empty() && pod.spec.scheduler != DEFAULT_SCHEDULER);
    let others = others.filter(|pod| !pod.finished()).count();
    if others > 0 {
        let because = format!("another scheduler places pods ({others}), by rules that are not modelled");
        add(&mut weaker, "NodeResourcesFit", &because);
    }
    weaker.into_iter().collect()
}

fn add(weaker: &mut BTreeSet<Weaker>, plugin: &str, because: &str) {
    let names = RESTS.iter().filter(|(of, _)| *of == plugin).flat_map(|(_, names)| *names);
    for rule in names.filter_map(|name| rules::ALL.iter().find(|rule| rule.name == *name)) {
        weaker.insert(Weaker { code: rule.code, rule: rule.name.to_owned(), because: because.to_owned() });
    }
}
