//! Pods by namespace and label: what a selector asks for, without a look at all pods of the namespace.

use std::collections::{BTreeMap, BTreeSet};

use crate::meta::Meta;
use crate::selector::{Operator, Requirement, Selector};

/// The names of pods that carry a value.
type Names = BTreeSet<String>;

/// Names of pods by namespace, label and value.
#[derive(Clone, Debug, Default)]
pub(super) struct PodLabels(BTreeMap<String, BTreeMap<String, BTreeMap<String, Names>>>);

impl PodLabels {
    /// Adds a pod.
    pub(super) fn insert(&mut self, meta: &Meta) {
        if meta.labels.is_empty() {
            return;
        }
        let namespace = self.0.entry(meta.namespace.clone()).or_default();
        for (key, value) in &meta.labels {
            let values = namespace.entry(key.clone()).or_default();
            values.entry(value.clone()).or_default().insert(meta.name.clone());
        }
    }

    /// Takes a pod out, by the labels with which it was added.
    pub(super) fn remove(&mut self, meta: &Meta) {
        let Some(namespace) = self.0.get_mut(&meta.namespace) else { return };
        for (key, value) in &meta.labels {
            let Some(values) = namespace.get_mut(key) else { continue };
            if let Some(names) = values.get_mut(value) {
                names.remove(&meta.name);
                if names.is_empty() {
                    values.remove(value);
                }
            }
            if values.is_empty() {
                namespace.remove(key);
            }
        }
        if namespace.is_empty() {
            self.0.remove(&meta.namespace);
        }
    }

    /// The names among which all pods are that a selector can match: those of its narrowest requirement of one value.
    /// `None` where it has no such requirement.
    pub(super) fn candidates(&self, namespace: &str, selector: &Selector) -> Option<&Names> {
        static NONE: Names = Names::new();
        let Selector::All(requirements) = selector else { return Some(&NONE) };
        let of = |requirement: &Requirement| match (requirement.operator, requirement.values.as_slice()) {
            (Operator::In, [value]) => {
                let found = self.0.get(namespace).and_then(|labels| labels.get(&requirement.key)?.get(value));
                Some(found.unwrap_or(&NONE))
            }
            _ => None,
        };
        requirements.iter().filter_map(of).min_by_key(|names| names.len())
    }
}
