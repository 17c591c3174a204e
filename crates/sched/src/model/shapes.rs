//! The numbers of the classes, found by a fingerprint of what pods mostly differ in: to compare a whole spec with many
//! others takes longer than to find a node.

use std::collections::BTreeMap;
use std::sync::Arc;

use rehome_k8s::pod::Pod;
use rehome_k8s::selector::Selector;

use super::class::Shape;

/// Shapes and their numbers, in the order in which they were first seen.
#[derive(Clone, Debug, Default)]
pub(crate) struct Shapes {
    by_fingerprint: BTreeMap<u64, Vec<usize>>,
    shapes: Vec<Arc<Shape>>,
}

impl Shapes {
    /// The number of a pod's shape, if it was seen before.
    pub(crate) fn find(&self, pod: &Pod, siblings: Option<&Selector>) -> Option<usize> {
        let same = |number: &&usize| {
            let shape = &self.shapes[**number];
            (Arc::ptr_eq(&shape.spec, &pod.spec) || shape.spec == pod.spec)
                && shape.namespace == pod.meta.namespace
                && shape.labels == pod.meta.labels
                && shape.resized == pod.resized
                && shape.siblings.as_ref() == siblings
        };
        self.by_fingerprint.get(&fingerprint(pod))?.iter().find(same).copied()
    }

    /// Adds the shape of a pod.
    pub(crate) fn add(&mut self, pod: &Pod, siblings: Option<Selector>) -> &Arc<Shape> {
        let number = self.shapes.len();
        self.by_fingerprint.entry(fingerprint(pod)).or_default().push(number);
        self.shapes.push(Arc::new(Shape {
            namespace: pod.meta.namespace.clone(),
            labels: pod.meta.labels.clone(),
            spec: Arc::clone(&pod.spec),
            resized: pod.resized.clone(),
            siblings,
        }));
        &self.shapes[number]
    }
}

/// FNV-1a, 64 bits. Source: draft-eastlake-fnv, §5.
fn fingerprint(pod: &Pod) -> u64 {
    let mut sum = 0xcbf2_9ce4_8422_2325_u64;
    let mut add = |bytes: &[u8]| {
        for byte in bytes.iter().chain(&[0xff]) {
            sum = (sum ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3);
        }
    };
    add(pod.meta.namespace.as_bytes());
    for (key, value) in pod.meta.labels.iter().chain(&pod.spec.node_selector) {
        add(key.as_bytes());
        add(value.as_bytes());
    }
    for (name, amount) in &pod.spec.requests {
        add(name.as_bytes());
        add(&amount.to_le_bytes());
    }
    sum
}
